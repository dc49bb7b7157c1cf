"""Call a PropCite server from Python, sync or async; needs the extra `client`, and loads no model.

    from propcite.client import Client

    with Client("http://localhost:8600", collection="harbour") as client:
        answer = client.ask("What did the barrier cost?")
        print(answer.text, [citation.quote for citation in answer.citations])

| module | content |
|---|---|
| `sync`, `asynchronous` | `Client` and `AsyncClient`: the same methods, named like the operations of `/openapi.json` |
| `calls` | what each method sends, and how its response becomes values of the library |
| `notes`, `reviews` | `client.notes` and `client.reviews`: notes of a collection, drafts under review |
| `streams` | answers while they are written, as events |
| `sending`, `errors` | retries, and the one error |
"""

from importlib.util import find_spec

from propcite.retrieval.extras import install_command

if find_spec("httpx") is None:
    raise ImportError(f"propcite.client needs httpx: {install_command('client')}")

from propcite.app.client.asynchronous import AsyncClient
from propcite.app.client.errors import ServerError
from propcite.app.client.streams import AnswerStream, AsyncAnswerStream
from propcite.app.client.sync import Client

__all__ = ["AnswerStream", "AsyncAnswerStream", "AsyncClient", "Client", "ServerError"]
