"""The HTTP server: cite, ask, search and documents as a web service, and an OpenAI-compatible endpoint that cites.

| module | content |
|---|---|
| `application` | the FastAPI application: routes, middleware, error handlers |
| `service` | what all requests share: models, open collections, worker threads |
| `routes`, `schemas` | the endpoints, and the shapes of their requests and responses |
| `proxy` | chat completions of a model server, with citations |
| `access` | keys, scopes and collections |
| `limits` | limits on body size, host, origin and request rate |
| `citing_queue`, `writing`, `streaming` | citing in batches, answers in slots, both in fair turns (`app/turns`) |
| `errors`, `problems` | errors, and every error as JSON |
| `metrics` | Prometheus metrics |
"""
