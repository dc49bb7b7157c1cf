"""The citing endpoint: a chat completion of any OpenAI-compatible server, passed on and cited on its way.

| module | what |
|---|---|
| `asked` | a request as it came, and its one field that is ours |
| `sources` | what its answer is cited from, and the passages that the model is shown |
| `upstream` | the model's server: one pool of connections, its troubles as statuses |
| `places` | how many answers are written at once, and who waits |
| `citing` | texts cited, whole or while they come |
| `chunks` | the events of a stream, read and written |
| `whole`, `passing` | a completion, or its stream, with its citations |
| `own` | the same form where no model's server is set: this server's own generator answers |
"""
