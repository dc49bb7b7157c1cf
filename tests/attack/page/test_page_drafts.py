"""On the page, who may only read stops, replaces and removes no draft of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import pytest

from propcite.app.errors import AppError
from propcite.app.library.store import ReviewInfo, ReviewState, Rights, Scope
from propcite.app.parts import Parts
from propcite.ui import session
from propcite.ui.people.visitor import Visitor
from propcite.ui.reviewing import drafts


@pytest.mark.parametrize(
    ("name", "roles", "may"),
    [
        ("ada", {"harbour": Scope.READ}, True),
        ("eve", {"harbour": Scope.READ}, False),
        ("eve", {"harbour": Scope.WRITE}, True),
        ("eve", {"other": Scope.ADMIN}, False),
        ("ada", {"other": Scope.ADMIN}, False),  # the collection is not shared with her any more
        ("", {}, False),
    ],
)
def test_a_draft_is_changed_by_its_sender_and_writers(
    open_parts: Callable[..., Parts], monkeypatch: pytest.MonkeyPatch, name: str, roles: Mapping[str, Scope], may: bool
) -> None:
    visitor = Visitor(name, Rights(None, roles), open_parts())
    monkeypatch.setattr(session, "visitor", lambda: visitor)
    draft = ReviewInfo("1", "harbour", "a.md", "ada", ReviewState.CITING, "", 0, 9, "", datetime.now(UTC), 0, 0)
    assert drafts.may_change(draft) is may
    if may:
        drafts.require_change(draft)
    else:
        with pytest.raises(AppError, match="you need the role write"):
            drafts.require_change(draft)
