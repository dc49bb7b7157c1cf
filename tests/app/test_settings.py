"""Settings: arguments > PROPCITE_ environment > secrets > propcite.toml > defaults; one line for each that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from propcite.app.errors import AppError
from propcite.app.settings import Settings, load_settings


def refused(**arguments: object) -> str:
    with pytest.raises(AppError) as caught:
        load_settings(**arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_arguments_beat_the_environment_which_beats_the_file_which_beats_the_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    default = Settings.model_fields["num_passages"].default
    assert load_settings().num_passages == default
    Path("propcite.toml").write_text("num_passages = 11\nbatch_size = 5")
    assert load_settings().num_passages == 11
    monkeypatch.setenv("PROPCITE_NUM_PASSAGES", "12")
    assert load_settings().num_passages == 12
    assert load_settings(num_passages=13).num_passages == 13
    assert load_settings(num_passages=None).num_passages == 12
    assert load_settings().batch_size == 5


def test_a_secret_is_read_from_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As systemd and containers hand it over; the environment beats it, and it beats propcite.toml."""
    Path("propcite.toml").write_text('llm_key = "from the file"\ncollection = "papers"')
    secrets = tmp_path / "secrets"
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(secrets))
    assert load_settings().llm_key == "from the file"
    secrets.mkdir()
    (secrets / "propcite_llm_key").write_text("a secret\n")
    (secrets / "another_password").write_text("not ours")
    assert load_settings().llm_key == "a secret"
    assert load_settings().collection == "papers"
    monkeypatch.setenv("PROPCITE_LLM_KEY", "from the environment")
    assert load_settings().llm_key == "from the environment"
    (secrets / "propcite_max_tokens").write_text("many")
    assert "max_tokens" in refused()


def test_every_setting_can_be_given_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, field in Settings.model_fields.items():
        if field.default:
            monkeypatch.setenv(f"PROPCITE_{name.upper()}", str(field.default))
    assert load_settings() == Settings()


def test_an_empty_environment_variable_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_DATA_DIR", "")
    monkeypatch.setenv("PROPCITE_BATCH_SIZE", "")
    settings = load_settings()
    assert settings.batch_size == Settings.model_fields["batch_size"].default
    assert settings.data_dir.name == "propcite"


def test_without_a_database_the_data_directory_holds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(data_dir="/some/where").database_url == "sqlite:////some/where/propcite.sqlite"
    monkeypatch.setenv("PROPCITE_DATABASE", "postgresql://me@host/library")
    assert load_settings().database_url == "postgresql://me@host/library"


def test_a_folder_in_the_home_directory_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("propcite.toml").write_text('data_dir = "~/papers"')
    monkeypatch.delenv("PROPCITE_DATA_DIR")
    assert load_settings().data_dir == tmp_path / "papers"
    assert load_settings(data_dir="~no-such-user/x").data_dir == Path("~no-such-user/x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_size", "many"),
        ("batch_size", "-1"),
        ("judge", "oracle"),
        ("supported_from", "1.5"),
        ("num_passages", "-1"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"PROPCITE_{name.upper()}", value)
    message = refused()
    assert f"PROPCITE_{name.upper()}" in message
    assert repr(value) in message


def test_a_setting_that_does_not_exist_is_told_with_those_that_do() -> None:
    Path("propcite.toml").write_text('colection = "x"')
    message = refused()
    assert "'colection'" in message
    assert " collection," in message


@pytest.mark.parametrize("content", [b"num_passages = [", b"\xff\xfe", b"= 3", b"\0"])
def test_a_broken_file_is_named(content: bytes) -> None:
    Path("propcite.toml").write_bytes(content)
    assert refused().startswith("propcite.toml cannot be read: ")
