"""Chat Completions, as OpenAI's API and most model servers have them."""
