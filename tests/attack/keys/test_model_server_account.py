"""A caller chooses nothing of the account that this server's own key opens at the model server."""

from __future__ import annotations

from pathlib import Path

from proxied import post, proxied

CHOSEN = {"OpenAI-Organization": "org-other", "OpenAI-Project": "proj_other", "Authorization": "Bearer theirs"}
ASKED = {"model": "any", "messages": [{"role": "user", "content": "Hello"}], "propcite": {"cite": False}}


def test_organizations_and_projects_are_the_servers_own(loaded: dict[str, object], tmp_path: Path) -> None:
    with proxied(loaded, tmp_path, llm_key="sk-own") as (address, llm):
        assert post(address, "/chat/completions", ASKED, headers=CHOSEN).status_code == 200
        sent = llm.requests[-1].headers
        assert sent["authorization"] == "Bearer sk-own"
        assert not {"openai-organization", "openai-project"} & {name.lower() for name in sent}


def test_without_a_key_of_its_own_the_callers_account_is_used(loaded: dict[str, object], tmp_path: Path) -> None:
    with proxied(loaded, tmp_path) as (address, llm):
        assert post(address, "/chat/completions", ASKED, headers=CHOSEN).status_code == 200
        sent = {name.lower(): value for name, value in llm.requests[-1].headers.items()}
        assert sent["authorization"] == "Bearer theirs"
        assert sent["openai-organization"] == "org-other"
