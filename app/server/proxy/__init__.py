"""Answers of a model server, passed on and cited on their way: one citing core, and three APIs that use it.

| module | content |
|---|---|
| `citing_proxy`, `outcome` | handles a request from its arrival to the response |
| `proxy_request`, `api_request` | a request, its extension field `propcite`, and what each API says of its own |
| `client` | what a client needs without asking: offsets, forms of citations |
| `sources` | what the answer is cited from, and the passages that the model is shown |
| `upstream` | the model server: its connections, and its errors as statuses |
| `citing` | cites texts, whole or while they come |
| `events`, `relay`, `streamed_text`, `sentence_gate` | what all streams share |
| `whole_text`, `source_list` | sentences of a whole text, sources as text |
| `chat`, `responses`, `messages` | the APIs; the latter two are translated from chat completions where need be |
| `local_generator` | answers as chat completions if no model server is set |
"""
