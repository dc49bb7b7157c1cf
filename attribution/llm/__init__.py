"""Call a language model behind an OpenAI-compatible server and read its replies."""
