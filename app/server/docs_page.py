"""The page /docs, which shows the routes: Swagger UI as the package fastapi-offline ships it, from no other server."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

# Swagger UI sets styles in attributes, and its pictures are in its style sheet.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = "/docs/files"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="{root}/docs/files/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="routes"></div>
<script src="{root}/docs/files/swagger-ui-bundle.js"></script>
<script src="{root}/docs/start.js"></script>
</body>
</html>
"""
# Without a validator: it would send the description to another server.
START = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#routes", deepLinking: true, validatorUrl: null});\n'


def add_docs(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    def docs(request: Request) -> Response:
        page = PAGE.format(title=app.title, root=request.scope.get("root_path", ""))
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})

    @app.get("/docs/start.js", include_in_schema=False)
    def start() -> Response:
        return Response(START, media_type="text/javascript")

    app.mount(FILES, StaticFiles(packages=[("fastapi_offline", "static")]))
