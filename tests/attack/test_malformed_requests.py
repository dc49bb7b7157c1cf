"""Malformed requests: refused in one line with a status of 4xx, never an internal error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from attacking import EXAMPLES, small_library
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from serving import running_server

PER_ROUTE = max(8, EXAMPLES // 6)  # of valid and of invalid requests each
DEEP = "[" * 100_000
POSTS = (
    *("cite", "repair", "ask", "search", "collections", "chat/completions", "responses", "messages"),
    "answers/a1/feedback",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(small_library(tmp_path_factory.mktemp("data"))) as at:
        httpx.post(f"{at}/v1/ask", json={"question": "How many gates has it?"}, timeout=120)  # loads what reads it
        yield at


@pytest.mark.parametrize("first", [2**31, 2**63, 10**40, -1])
def test_a_number_that_no_database_counts_to_is_refused(address: str, first: int) -> None:
    refused = httpx.get(f"{address}/v1/answers", params={"first": first}, timeout=60)
    assert refused.status_code == 422
    assert "first" in refused.text


@pytest.mark.parametrize("route", POSTS)
@pytest.mark.parametrize("body", [DEEP, '{"answer":' * 50_000, f'{{"answer": {DEEP[:900]}{"]" * 900}}}'])
def test_a_deep_body_is_refused(address: str, route: str, body: str) -> None:
    response = httpx.post(
        f"{address}/v1/{route}", content=body, headers={"Content-Type": "application/json"}, timeout=60
    )
    assert 400 <= response.status_code < 500, response.text


@pytest.mark.parametrize("where", ["date>=2024-99-99", 'kind="pdf', "(" * 1000])
def test_a_malformed_filter_is_refused(address: str, where: str) -> None:
    response = httpx.post(f"{address}/v1/search", json={"query": "gates", "where": [where]}, timeout=60)
    assert 400 <= response.status_code < 500
    assert "--where" in response.json()["detail"]


def test_no_generated_request_causes_an_internal_error(address: str) -> None:
    config = schemathesis.Config.from_dict({"base-url": address})
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json", config=config)
    counts: dict[int, int] = {}
    for operation in (result.ok() for result in schema.get_all_operations()):
        for mode in GenerationMode:
            if mode is GenerationMode.POSITIVE or operation.body or list(operation.iter_parameters()):
                _attack(operation, mode, counts)
    print(f"\nrequests by status: {dict(sorted(counts.items()))}")  # noqa: T201 - make attack shows it


def _attack(operation: Any, mode: GenerationMode, counts: dict[int, int]) -> None:
    @settings(max_examples=PER_ROUTE, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def attempt(case: Any) -> None:
        response = case.call()
        counts[response.status_code] = counts.get(response.status_code, 0) + 1
        assert response.status_code < 500, (case.method, case.path, case.body, response.text)

    attempt()
