"""PropCite's HTTP server as an application of Ray Serve: `propcite.app.cluster.serving:app`.

Each machine has one server at most, so that its models are loaded once there, as by `propcite serve`.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from propcite.app.cluster.sameness import Member, check_same, check_shared, check_version, member_of
from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings

if TYPE_CHECKING:
    from ray.serve import Application

PAUSE_S = 0.2
RETRY_S = 1.0  # after which a refused request may be sent again, as with `propcite serve` at its limit of connections
TRIES = 3  # to start a server


class Options(BaseModel):
    """The arguments of the application: the number of servers, each on a machine of its own, and how they are opened.

    `settings` override those of each machine.  A machine that differs from `member` serves nothing.
    """

    model_config = ConfigDict(extra="forbid")

    replicas: int = Field(1, ge=1)
    requires_keys: bool = True
    on_loopback: bool = False
    settings: dict[str, Any] = {}
    member: Member | None = None


class Server:
    """One server: the same routes, keys and limits as `propcite serve` has."""

    def __init__(self, options: Options) -> None:
        from propcite.app.server.logs import prepare_telemetry, set_up_logs

        self._options = options
        self._parts = Parts(load_settings(**options.settings))
        if options.member:
            check_version(version("propcite"), options.member)  # before anything is loaded
            check_same(member_of(self._parts), options.member)
        set_up_logs(self._parts.settings.log_format)
        prepare_telemetry()

    def __serve_build_asgi_app__(self) -> FastAPI:
        from propcite.app.server.application import create_app

        options = self._options
        app = create_app(self._parts, on_loopback=options.on_loopback, requires_keys=options.requires_keys)
        self._service = app.state.service
        return app

    async def check_health(self) -> None:
        """Wait until the models are loaded and the database answered; a server gets no request before."""
        while not self._service.is_loaded:
            if self._service.load_error:
                raise AppError(self._service.load_error)
            await asyncio.sleep(PAUSE_S)


def app(args: dict[str, Any]) -> Application:
    """Build the application that Ray Serve deploys; `args` are the fields of `Options`."""
    from ray import serve

    try:
        options = Options.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name, known = ".".join(map(str, first["loc"])), ", ".join(Options.model_fields)
        raise AppError(f"args of propcite: {name}: {first['msg']}; they are {known}") from None
    settings = load_settings(**options.settings)
    if options.replicas > 1:
        check_shared(settings)
    ingress: Any = serve.deployment(serve.ingress()(Server), name=Server.__name__)
    built: Application = ingress.options(**deployment(settings, options.replicas)).bind(options)
    return built


def deployment(settings: Settings, replicas: int) -> dict[str, Any]:
    """Return how Ray Serve runs the servers.

    A server that ends gives its answers the time that they may take.  It reserves no processor: a bulk command, which
    reserves them all, would keep it from starting again.
    """
    longest = max(settings.serve_stream_seconds, settings.serve_seconds) + settings.serve_wait_seconds
    return {
        "num_replicas": replicas,
        "max_replicas_per_node": 1,
        "max_ongoing_requests": settings.serve_connections,
        "max_queued_requests": settings.serve_connections,
        "backpressure_config": {"status_code": 503, "retry_after_s": RETRY_S},
        "graceful_shutdown_timeout_s": longest,
        "max_constructor_retry_count": TRIES,
        "ray_actor_options": {"num_cpus": 0, "num_gpus": 1 if settings.device.startswith("cuda") else 0},
    }
