"""`propcite settings`: list and set; no key is ever shown."""

from __future__ import annotations

import io
import sys
import tomllib
from pathlib import Path

import pytest
from commanded import Propcite

from propcite.app.settings import Settings

FILE = Path("propcite.toml")
SECRET = "sk-very-secret"


def test_all_settings_are_listed_without_their_keys(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    FILE.write_text(f'temperature = 0.3\nllm_key = "{SECRET}"\n')
    monkeypatch.setenv("PROPCITE_MAX_TOKENS", "20")
    said = propcite("settings", "--json")
    assert said.code == 0
    rows = {row["name"]: row for row in said.json}
    assert list(rows) == list(Settings.model_fields)
    assert (rows["temperature"]["value"], rows["temperature"]["from"]) == ("0.3", "propcite.toml")
    assert (rows["max_tokens"]["value"], rows["max_tokens"]["from"]) == ("20", "environment")
    assert (rows["llm_key"]["value"], rows["llm_key"]["set"], rows["llm_key"]["hidden"]) == (None, True, True)
    assert rows["judge"]["explanation"] == "what says whether evidence supports a claim"
    table = propcite("settings")
    assert "supported_from" in table.out
    assert SECRET not in said.out + said.err + table.out + table.err


def test_a_setting_is_written_and_taken_away_again(propcite: Propcite) -> None:
    FILE.write_text("# ours\nseed = 3  # three\n")
    said = propcite("settings", "set", "temperature", "0.4")
    assert said.code == 0
    assert "temperature = 0.4" in said.err
    assert "propcite serve" in said.err
    assert FILE.read_text() == "# ours\nseed = 3  # three\ntemperature = 0.4\n"
    assert propcite("settings", "set", "seed", "", "--json").json["from"] == "default"
    assert tomllib.loads(FILE.read_text()) == {"temperature": 0.4}


def test_what_cannot_be_set_is_said_in_one_line(propcite: Propcite) -> None:
    for words, why in (
        (("temprature", "1"), "did you mean temperature?"),
        (("temperature", "hot"), "the setting temperature (PROPCITE_TEMPERATURE) cannot be 'hot'"),
        (("extra_body", '{"a": null}'), "TOML cannot hold"),
    ):
        said = propcite("settings", "set", *words)
        assert said.code == 2
        assert why in said.err
        assert said.err.count("\n") == 1
    assert not FILE.exists()


def test_a_wrong_value_in_the_file_is_corrected(propcite: Propcite) -> None:
    FILE.write_text('temperature = "hot"\n')
    assert propcite("settings").code == 2
    assert propcite("settings", "set", "temperature", "0.4").code == 0
    assert FILE.read_text() == "temperature = 0.4\n"


def test_a_key_comes_by_standard_input_and_is_not_shown(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SECRET}\n"))
    said = propcite("settings", "set", "llm_key", "-")
    assert said.code == 0
    assert SECRET not in said.out + said.err
    assert tomllib.loads(FILE.read_text()) == {"llm_key": SECRET}
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "standard input is empty" in propcite("settings", "set", "llm_key", "-").err


def test_the_environment_that_comes_before_is_named(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_NUM_PASSAGES", "4")
    said = propcite("settings", "set", "num_passages", "5")
    assert "PROPCITE_NUM_PASSAGES in the environment comes before" in said.err
    assert tomllib.loads(FILE.read_text()) == {"num_passages": 5}
