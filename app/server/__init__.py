"""The HTTP server: cite, ask, search and documents as a web service, and an OpenAI-compatible endpoint that cites.

| module | what |
|---|---|
| `application` | the routes, limits and errors put together |
| `service` | what all requests share: models loaded once, collections opened once |
| `work`, `batching`, `streaming` | threads that compute, with a bounded line before them |
| `access` | who may do what |
| `uploads` | documents read in the background |
| `problems` | every error as JSON |
"""
