"""Chat completions of any OpenAI-compatible model server, passed on and cited on their way.

| module | content |
|---|---|
| `chat_proxy` | handles a request from its arrival to the response |
| `chat_request` | a request, and its extension field `propcite` |
| `sources` | what the answer is cited from, and the passages that the model is shown |
| `upstream` | the model server: its connections, and its errors as statuses |
| `citing` | cites texts, and whole completions |
| `chunks` | parses and writes the events of a stream |
| `stream_relay`, `streamed_choice` | pass a stream on and cite it while it comes |
| `local_generator` | answers in the same format if no model server is set |
"""
