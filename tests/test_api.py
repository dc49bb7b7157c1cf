"""The public interface: every name is there, documented with an example that runs, and on the page."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import sys

import pytest
from paths import ROOT

import propcite

NO_EXAMPLE = {"Event", "__version__", "PropCiteError"}  # a union, a text, and what others raise


def make_api() -> object:
    spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_docstrings_say() -> None:
    api = make_api()
    assert api.PAGE.read_text("utf-8") == api.page(), "run: python docs/make_api.py"


def test_the_page_has_every_public_name_once() -> None:
    names = [name for section in make_api().SECTIONS.values() for name in section]
    assert sorted(names) == sorted(propcite.__all__)


@pytest.mark.parametrize("name", sorted(set(propcite.__all__) - NO_EXAMPLE))
def test_every_public_name_has_an_example_that_runs(name: str) -> None:
    value = getattr(propcite, name)
    assert inspect.getdoc(value)
    module = sys.modules[value.__module__]
    found = doctest.DocTestFinder(recurse=True).find(value, name, module=module, globs=vars(module).copy())
    assert any(test.examples for test in found if test.name == name), f"{name} has no example"
    for test in found:
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test)
        assert result.failed == 0


def test_internals_are_not_public() -> None:
    assert set(propcite.__all__) == {name for name in dir(propcite) if not name.startswith("_")} | {"__version__"}
    with pytest.raises(AttributeError, match="no attribute 'AnswerCiter'"):
        _ = propcite.AnswerCiter
