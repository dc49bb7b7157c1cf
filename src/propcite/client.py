"""Call a PropCite server from Python: `Client`, and `AsyncClient` for asyncio; needs the extra `client`."""

from propcite.app.client import AnswerStream, AsyncAnswerStream, AsyncClient, Client, ServerError

__all__ = ["AnswerStream", "AsyncAnswerStream", "AsyncClient", "Client", "ServerError"]
