"""The HTTP server: cite, ask, search and documents as a web service, and an OpenAI-compatible endpoint that cites.

| module | content |
|---|---|
| `application` | the FastAPI application: routes, middleware, error handlers |
| `service` | what all requests share: models, open collections, worker threads |
| `routes`, `schemas` | the endpoints, and the shapes of their requests and responses |
| `proxy` | chat completions of a model server, with citations |
| `access` | keys, scopes and collections |
| `limits` | limits on body size, host, origin and request rate |
| `concurrency`, `citing_queue`, `streaming` | bounded queues before threads that compute |
| `errors`, `problems` | errors, and every error as JSON |
| `metrics` | Prometheus metrics |
"""
