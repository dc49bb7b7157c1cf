"""Settings as they are and as they are changed: origins, hidden values, typed values, and propcite.toml kept whole."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from filelock import FileLock

from propcite.app.configuring import toml_file
from propcite.app.configuring.changing import OTHER_SERVER, check_parts, take, value_of, without_hidden
from propcite.app.configuring.groups import GROUPS
from propcite.app.configuring.origins import Origin, Setting, settings_now
from propcite.app.configuring.toml_file import edited, lines_to_copy, may_write, write_changes
from propcite.app.errors import AppError
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings

FILE = Path("propcite.toml")
SECRET = "sk-very-secret"
WRITTEN = """# Ours, of May.
temperature = 0.3   # not too dry
encoder = 'minilm'

# for the server
[extra_body]
top_k = 3  # few
"""


def now(name: str, **arguments: object) -> Setting:
    return settings_now(load_settings(**arguments), [name])[0]


def test_each_value_says_where_it_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    FILE.write_text('temperature = 0.3\nmax_tokens = 10\njudge = "none"\n')
    monkeypatch.setenv("PROPCITE_MAX_TOKENS", "20")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "propcite_llm_key").write_text(SECRET)
    origins = {one.name: one.origin for one in settings_now(load_settings(num_passages=4))}
    assert origins["temperature"] is origins["judge"] is Origin.FILE
    assert origins["max_tokens"] is Origin.ENVIRONMENT
    assert origins["llm_key"] is Origin.SECRET
    assert origins["num_passages"] is Origin.ARGUMENT
    assert origins["encoder"] is Origin.DEFAULT
    assert "PROPCITE_MAX_TOKENS" in now("max_tokens").fixed
    assert "propcite_llm_key" in now("llm_key").fixed
    assert not now("temperature").fixed


def test_every_setting_is_explained_and_every_group_names_settings() -> None:
    settings = settings_now(load_settings())
    assert [one.name for one in settings] == list(Settings.model_fields)
    assert [one.name for one in settings if not one.explanation] == []
    named = [name for group in GROUPS for name in group.settings]
    assert len(named) == len(set(named))
    assert set(named) <= set(Settings.model_fields)


def test_what_is_hidden_is_only_said_to_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [now(name).shown for name in ("llm_key", "database", "link_secret")] == ["not set"] * 3
    monkeypatch.setenv("PROPCITE_DATABASE", f"postgresql://me:{SECRET}@host/library")
    FILE.write_text(f'llm_key = "{SECRET}"\nllm_url = "https://me:{SECRET}@models.example/v1"\n')
    for name in ("llm_key", "database", "llm_url"):
        assert now(name).shown == "set"
        assert SECRET not in repr(now(name))
    assert SECRET not in repr(settings_now(load_settings()))
    assert without_hidden(f"the key {SECRET} is wrong", load_settings()) == "the key … is wrong"


@pytest.mark.parametrize(
    "fields",
    [{"api_key": SECRET}, {"headers": {"Authorization": f"Bearer {SECRET}"}}, {"list": [{"accessToken": [SECRET]}]}],
)
def test_a_key_inside_a_table_is_hidden_like_any_other(fields: dict[str, object]) -> None:
    write_changes({"extra_body": fields})
    assert FILE.stat().st_mode & 0o777 == 0o600
    assert now("extra_body").shown == "set"
    assert SECRET not in repr(settings_now(load_settings()))
    assert SECRET not in lines_to_copy({"extra_body": fields})
    assert SECRET not in without_hidden(f"it refuses Bearer {SECRET} and {SECRET}", load_settings())
    assert take({"extra_body": '{"top_k": 3}'}).changes == {"extra_body": {"top_k": 3}}


def test_a_table_with_a_key_that_is_no_json_is_not_quoted() -> None:
    [line] = take({"extra_body": f"{{api_key: '{SECRET}'}}"}).wrong.values()
    assert SECRET not in line


def test_a_saved_key_does_not_go_where_its_default_is_typed() -> None:
    FILE.write_text(f'llm_key = "{SECRET}"\n')
    typed = take({"llm_key": " none ", "seed": "3"})
    assert typed.changes == {"seed": 3}
    assert "Remove" in typed.wrong["llm_key"]
    assert typed.settings.llm_key == SECRET
    FILE.unlink()
    assert take({"llm_key": "none"}).changes == take({"llm_key": "none"}).wrong == {}


def test_one_process_at_a_time_changes_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    add = "from propcite.app.configuring.toml_file import write_changes as w\nfor n in range(20): "
    writers = [f"{add}w({{'extra_body': {{'top_k': n}}, '{name}': n}})" for name in ("seed", "max_tokens")]
    both = [subprocess.Popen([sys.executable, "-c", writer]) for writer in writers]
    assert [process.wait(120) for process in both] == [0, 0]
    assert tomllib.loads(FILE.read_text()) == {"extra_body": {"top_k": 19}, "seed": 19, "max_tokens": 19}
    monkeypatch.setattr(toml_file, "PATIENCE_S", 0.1)
    with FileLock(".propcite.toml.lock"), pytest.raises(AppError, match="being changed by another process: try again"):
        write_changes({"seed": 1})
    assert load_settings().seed == 19


def test_a_wrong_value_of_a_hidden_setting_is_not_quoted() -> None:
    FILE.write_text("llm_key = 123456789")
    with pytest.raises(AppError, match="llm_key") as caught:
        load_settings()
    assert "123456789" not in str(caught.value)


def test_a_change_keeps_all_else_in_the_file() -> None:
    FILE.write_text(WRITTEN)
    FILE.chmod(0o640)
    place = write_changes({"temperature": 0.5, "num_passages": 9, "extra_body": {"top_k": 4}, "encoder": None})
    assert place == FILE.resolve()
    text = FILE.read_text()
    assert "# Ours, of May.\ntemperature = 0.5   # not too dry\n" in text
    assert "# for the server\n[extra_body]\n" in text
    expected = {"temperature": 0.5, "num_passages": 9, "extra_body": {"top_k": 4}}
    assert tomllib.loads(text) == expected
    assert FILE.stat().st_mode & 0o777 == 0o640
    assert os.listdir() == ["propcite.toml"] or not list(Path().glob(".propcite.toml-*"))


def test_a_new_file_is_made_and_a_key_in_it_is_its_owners_alone() -> None:
    assert may_write()
    write_changes({"temperature": 0.5})
    assert FILE.read_text() == "temperature = 0.5\n"
    FILE.unlink()
    write_changes({"llm_key": SECRET})
    assert FILE.stat().st_mode & 0o777 == 0o600
    FILE.chmod(0o664)
    write_changes({"llm_key": f"{SECRET}-2"})
    assert FILE.stat().st_mode & 0o777 == 0o660


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "ours.toml").write_text("seed = 1\n")
    FILE.symlink_to(kept / "ours.toml")
    write_changes({"seed": 2})
    assert FILE.is_symlink()
    assert (kept / "ours.toml").read_text() == "seed = 2\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'judge = "none"\n'),
        ("seed = 1", 'seed = 1\njudge = "none"\n'),
        ("# c\r\nseed = 1\r\n", '# c\r\nseed = 1\r\njudge = "none"\r\n'),
        ("[extra_body]\na = 1\n", 'judge = "none"\n\n[extra_body]\na = 1\n'),
        ("# c\n[extra_body]\na = 1\n", 'judge = "none"\n\n# c\n[extra_body]\na = 1\n'),
        (
            "stop = [\n'a',\n]\n\n# c\n[extra_body]\na = [\n[1]]\n",
            "stop = [\n'a',\n]\njudge = \"none\"\n\n# c\n[extra_body]\na = [\n[1]]\n",
        ),
    ],
)
def test_a_new_line_stands_before_the_tables(before: str, after: str) -> None:
    assert edited(before, {"judge": "none"}) == after


@pytest.mark.parametrize("text", ["seed = ", "seed = 1\nseed = 2"])
def test_a_file_that_is_no_toml_is_left_as_it_is(text: str) -> None:
    FILE.write_text(text)
    with pytest.raises(AppError, match=r"propcite\.toml cannot be read"):
        write_changes({"temperature": 1.0})
    assert FILE.read_text() == text


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(AppError, match="extra_body"):
        edited("", {"extra_body": {"a": None}})


def test_the_lines_to_copy_are_toml_and_name_no_secret() -> None:
    changes = {"temperature": 0.5, "stop": ["a", 'b"'], "extra_body": {"a": {"b": 1}}, "judge": "none"}
    assert tomllib.loads(lines_to_copy(changes)) == changes
    hidden = lines_to_copy({"llm_key": SECRET, "llm_url": f"https://me:{SECRET}@host/v1"})
    assert SECRET not in hidden
    assert "PROPCITE_LLM_KEY" in hidden
    assert "PROPCITE_LLM_URL" in hidden


def test_typed_values_are_taken_together() -> None:
    FILE.write_text("seed = 4\ntop_p = 0.9\n")
    typed = take(
        {"seed": "", "top_p": "", "temperature": "0.50", "max_tokens": "1024", "stop": '["x"]', "judge_checks": "true"}
    )
    assert typed.wrong == {}
    assert typed.changes == {"seed": None, "top_p": None, "temperature": 0.5, "stop": ["x"], "judge_checks": True}
    assert (typed.settings.seed, typed.settings.top_p, typed.settings.temperature) == (0, None, 0.5)


@pytest.mark.parametrize(
    ("name", "text"), [("temperature", "hot"), ("supported_from", "1.5"), ("judge", "nobody"), ("extra_body", "[1")]
)
def test_a_wrong_value_has_the_line_that_a_command_gives(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    typed = take({name: text, "max_tokens": "7"})
    assert typed.changes == {"max_tokens": 7}
    monkeypatch.setenv(f"PROPCITE_{name.upper()}", text)
    with pytest.raises(AppError) as caught:
        load_settings()
    assert typed.wrong == {name: str(caught.value)}


def test_a_list_of_addresses_is_typed_as_json() -> None:
    assert value_of("serve_origins", '["https://chat.example"]') == ["https://chat.example"]
    assert value_of("page_folders", '["~/papers"]') == [os.path.expanduser("~/papers")]
    assert value_of("data_dir", "~/papers") == "~/papers"
    with pytest.raises(AppError, match="did you mean temperature"):
        value_of("temprature", "1")


def test_a_kept_key_goes_to_no_other_server() -> None:
    FILE.write_text(f'llm_url = "https://models.example/v1"\nllm_key = "{SECRET}"\n')
    assert take({"llm_url": "https://models.example/v2"}).wrong == {}
    assert take({"llm_url": "https://elsewhere.example/v1"}).wrong == {"llm_key": OTHER_SERVER}
    assert take({"llm_url": "https://elsewhere.example/v1", "llm_key": "another"}).wrong == {}


def test_a_key_of_the_environment_goes_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPCITE_LLM_KEY", SECRET)
    assert take({"llm_url": "https://models.example/v1"}).wrong == {}
    FILE.write_text('llm_url = "https://models.example/v1"')
    assert take({"llm_url": "https://elsewhere.example/v1"}).wrong == {"llm_url": OTHER_SERVER}


def test_parts_that_lack_a_setting_are_refused_before_they_are_saved() -> None:
    check_parts(load_settings())
    with pytest.raises(AppError, match="PROPCITE_GENERATOR_MODEL"):
        check_parts(load_settings(generator="openai"))
    with pytest.raises(AppError, match="PROPCITE_LLM_URL"):
        check_parts(load_settings(generator="openai", generator_model="m", llm_url="nowhere"))
    with pytest.raises(AppError, match="PROPCITE_LLM_URL"):
        check_parts(load_settings(judge="llm"))


def test_changed_parts_keep_what_stays_the_same(tmp_path: Path) -> None:
    parts = Parts(load_settings())
    for name in ("encoder", "judge", "splitter"):
        parts.__dict__[name] = object()
    library = parts.library
    warmer = parts.changed(load_settings(temperature=0.7))
    assert all(warmer.__dict__[name] is parts.__dict__[name] for name in ("encoder", "judge", "splitter"))
    assert warmer.library is library
    stricter = parts.changed(load_settings(supported_from=0.8))
    assert stricter.__dict__["encoder"] is parts.__dict__["encoder"]
    assert "judge" not in stricter.__dict__
    assert "encoder" not in parts.changed(load_settings(encoder="minilm")).__dict__
    assert parts.changed(load_settings(data_dir=tmp_path / "other")).library is not library
    library.close()
