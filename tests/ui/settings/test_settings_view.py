"""Settings as an admin uses them, by key: what holds and why, wrong values, tries, saving; keys stay hidden."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_caches import clear_page
from scripted_llm import Reply, ScriptedLlm
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.configuring.changing import OTHER_SERVER
from propcite.app.configuring.groups import GROUPS
from propcite.app.library.store import Action, Rights, Scope
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.ui.people.visitor import Visitor
from propcite.ui.settings.words import LABELS

MAIN = Path(propcite.ui.__file__).parent / "main.py"
FILE = Path("propcite.toml")
SECRET = "sk-very-secret"
PATIENCE_S = 60.0

Opened = Callable[[], AppTest]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def page() -> AppTest:
        test = AppTest.from_file(str(MAIN), default_timeout=60).run()
        return healthy(test.switch_page("views/settings.py").run())

    yield page
    clear_page()


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    """Everything that the page was sent, fields and their values included."""
    kinds = (test.title, test.markdown, test.caption, test.info, test.error, test.success, test.warning, test.code)
    shown = [str(element.value) for kind in kinds for element in kind]
    fields = [str(field.proto) for kind in (test.text_input, test.text_area, test.selectbox) for field in kind]
    return "\n".join([*shown, *fields]).replace("\\", "")


def press(test: AppTest, key: str) -> AppTest:
    return healthy(test.button(key=key).click().run())


def tried(test: AppTest) -> AppTest:
    """Wait until what is tried has ended, as the page does."""
    end = time.monotonic() + PATIENCE_S
    while "Trying for" in texts(test):
        assert time.monotonic() < end
        time.sleep(0.05)
        test = healthy(test.run())
    return test


def test_each_value_is_shown_with_its_origin(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    FILE.write_text(f'temperature = 0.3\nllm_key = "{SECRET}"\n')
    monkeypatch.setenv("PROPCITE_NUM_PASSAGES", "6")
    test = opened()
    warm, key, fixed = (test.text_input(key=f"setting-{n}") for n in ("temperature", "llm_key", "num_passages"))
    assert warm.value == "0.3"
    assert "from propcite.toml, default 0" in warm.label.replace("\\", "")
    assert (key.value, key.placeholder) == ("", "set; type a new one to replace it")
    assert (fixed.value, fixed.disabled) == ("6", True)
    assert "PROPCITE_NUM_PASSAGES in the environment comes before propcite.toml" in texts(test)
    assert SECRET not in texts(test)


def test_what_a_reload_loses_is_said(opened: Opened) -> None:
    assert "What you type is kept once a button of its group is pressed, until this page is loaded again" in texts(
        opened()
    )


def test_each_setting_has_a_name_in_plain_words_beside_its_own(opened: Opened) -> None:
    assert LABELS.keys() == {name for group in GROUPS for name in group.settings}
    assert len(set(LABELS.values())) == len(LABELS)
    address = opened().text_input(key="setting-llm_url").label
    assert address.startswith("**Address of the language model's server** `llm_url`")


def test_a_wrong_value_is_said_at_its_field_and_nothing_typed_is_lost(opened: Opened) -> None:
    test = opened()
    test.text_input(key="setting-temperature").set_value("hot")
    test.text_input(key="setting-max_tokens").set_value("300")
    test.text_input(key="setting-llm_key").set_value(SECRET)
    press(test, "save-model")
    assert "the setting temperature (PROPCITE_TEMPERATURE) cannot be 'hot'" in texts(test)
    assert test.text_input(key="setting-temperature").value == "hot"
    assert test.text_input(key="setting-max_tokens").value == "300"
    assert test.text_input(key="setting-llm_key").placeholder == "typed, not saved yet"
    assert SECRET not in texts(test)
    assert not FILE.exists()
    test.switch_page("views/search.py").run()
    healthy(test.switch_page("views/settings.py").run())
    assert test.text_input(key="setting-temperature").value == "hot"
    press(test, "forget-model")
    assert test.text_input(key="setting-temperature").value == "0"
    assert test.text_input(key="setting-llm_key").placeholder == "not set"
    assert "cannot be" not in texts(test)


def test_what_is_saved_holds_at_once_and_is_recorded(opened: Opened) -> None:
    FILE.write_text("# ours\ntemperature = 0.3  # warm\n")
    test = opened()
    test.text_input(key="setting-temperature").set_value("0.5")
    test.text_input(key="setting-llm_key").set_value(SECRET)
    test.text_input(key="setting-stop").set_value('["END"]')
    press(test, "lines-model")
    assert "temperature = 0.5" in test.code[0].value.splitlines()
    assert "PROPCITE_LLM_KEY" in test.code[0].value
    assert FILE.read_text() == "# ours\ntemperature = 0.3  # warm\n"
    press(test, "save-model")
    assert FILE.read_text().startswith("# ours\ntemperature = 0.5  # warm\n")
    assert tomllib.loads(FILE.read_text()) == {"temperature": 0.5, "llm_key": SECRET, "stop": ["END"]}
    assert f"Saved in {FILE.resolve()}. Commands and the page use it from now on" in texts(test)
    assert "propcite serve or mcp when it is started again" in texts(test)
    assert test.text_input(key="setting-llm_key").placeholder == "set; type a new one to replace it"
    assert SECRET not in texts(test)
    [entry] = Parts(load_settings()).audit.find(action=Action.CHANGED_SETTINGS).items
    assert set(entry.subject.split(", ")) == {"temperature", "llm_key", "stop"}
    press(test, "save-model")
    assert "Nothing is changed here." in texts(test)


def test_what_is_changed_elsewhere_is_shown_beside_what_was_typed(opened: Opened) -> None:
    test = opened()
    test.text_input(key="setting-max_tokens").set_value("300")
    press(test, "lines-model")
    FILE.write_text("temperature = 0.7\n")
    healthy(test.run())
    assert test.text_input(key="setting-temperature").value == "0.7"
    press(test, "save-model")
    assert tomllib.loads(FILE.read_text()) == {"temperature": 0.7, "max_tokens": 300}


def test_a_model_without_what_it_needs_is_not_saved(opened: Opened) -> None:
    test = opened()
    test.selectbox(key="setting-generator").set_value("openai")
    press(test, "save-model")
    assert "PROPCITE_GENERATOR_MODEL" in test.error[0].value.replace("\\", "")
    assert not FILE.exists()
    assert test.selectbox(key="setting-generator").value == "openai"


def test_the_language_model_is_tried_with_what_is_typed(opened: Opened) -> None:
    test = opened()
    with ScriptedLlm("Tuesday.") as llm:
        test.selectbox(key="setting-generator").set_value("openai")
        for name, value in (("generator_model", "m"), ("llm_url", llm.base_url), ("llm_key", SECRET)):
            test.text_input(key=f"setting-{name}").set_value(value)
        tried(press(test, "try-model"))
        assert test.info[0].value.startswith("Tuesday\\.")
        assert llm.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert not FILE.exists()
    tried(press(test, "try-model"))
    assert "no server answers at" in texts(test)
    assert SECRET not in texts(test)


def test_an_address_with_a_password_is_hidden_like_a_key(opened: Opened) -> None:
    test = opened()
    test.text_input(key="setting-llm_url").set_value(f"https://me:{SECRET}@models.example/v1")
    press(test, "lines-model")
    assert test.text_input(key="setting-llm_url").placeholder == "typed, not saved yet"
    assert "PROPCITE_LLM_URL" in test.code[0].value
    assert SECRET not in texts(test)
    test.text_input(key="setting-llm_url").set_value("https://models.example/v1")
    press(test, "save-model")
    assert tomllib.loads(FILE.read_text()) == {"llm_url": "https://models.example/v1"}


def test_a_key_in_a_table_is_seen_by_nobody_and_replaced_by_a_table_without_one(opened: Opened) -> None:
    FILE.write_text(f'extra_body = {{ api_key = "{SECRET}" }}\n')
    test = opened()
    assert test.text_input(key="setting-extra_body").placeholder == "set; type a new one to replace it"
    assert SECRET not in texts(test)
    test.text_input(key="setting-extra_body").set_value('{"top_k": 3}')
    press(test, "save-model")
    assert tomllib.loads(FILE.read_text()) == {"extra_body": {"top_k": 3}}


def test_a_saved_key_goes_when_its_button_is_pressed_and_not_by_a_word(opened: Opened) -> None:
    FILE.write_text(f'llm_key = "{SECRET}"\nseed = 4\n')
    test = opened()
    test.text_input(key="setting-llm_key").set_value("none")
    press(test, "save-model")
    assert "what is set stays" in texts(test)
    assert tomllib.loads(FILE.read_text())["llm_key"] == SECRET
    press(test, "remove-llm_key")
    assert tomllib.loads(FILE.read_text()) == {"seed": 4}
    assert "Saved in" in texts(test)
    assert test.text_input(key="setting-llm_key").placeholder == "not set"
    assert not [button for button in test.button if button.key == "remove-llm_key"]


def test_a_silent_model_blocks_nothing_and_is_stopped(opened: Opened) -> None:
    test = opened()
    with ScriptedLlm(Reply(chunks=("x",), stalls_after=0)) as llm:
        test.selectbox(key="setting-generator").set_value("openai")
        test.text_input(key="setting-generator_model").set_value("m")
        test.text_input(key="setting-llm_url").set_value(llm.base_url)
        begun = time.monotonic()
        press(test, "try-model")
        assert "Trying for" in texts(test)
        assert time.monotonic() - begun < 30  # it says nothing for a minute
        while not [button for button in test.button if button.key == "stop-try-model"]:
            healthy(test.run())
        press(test, "stop-try-model")
        healthy(test.run())
        assert "Trying for" not in texts(test)
        assert llm.client_left.wait(PATIENCE_S)


def test_a_kept_key_is_sent_to_no_new_server(opened: Opened) -> None:
    FILE.write_text(
        f'generator = "openai"\ngenerator_model = "m"\nllm_url = "https://models.example/v1"\nllm_key = "{SECRET}"\n'
    )
    test = opened()
    with ScriptedLlm("Tuesday.") as llm:
        test.text_input(key="setting-llm_url").set_value(llm.base_url)
        press(test, "try-model")
        assert OTHER_SERVER in texts(test)
        press(test, "save-model")
        assert "models.example" in FILE.read_text()
        assert llm.requests == []


def test_a_claim_is_judged_and_another_encoder_names_what_to_do(opened: Opened) -> None:
    library = Parts(load_settings()).library
    library.create_collection("town")
    test = opened()
    test.text_area(key="try-claim").set_value("The barrier is 9 metres high.")
    test.text_input(key="setting-supported_from").set_value("0.6")
    tried(press(test, "try-judge"))
    assert "contradicted" in test.info[0].value
    assert "cited from 0.6" in texts(test)
    test.text_input(key="setting-encoder").set_value("minilm")
    press(test, "lines-encoder")
    assert "make the index of each collection again" in texts(test)
    library.close()


def test_settings_are_for_admins_alone(tmp_path: Path) -> None:
    def visitor(name: str, scope: Scope, **settings: object) -> Visitor:
        return Visitor(name, Rights(scope), Parts(load_settings(data_dir=tmp_path, **settings)))

    assert visitor("", Scope.ADMIN).may_set
    assert not visitor("", Scope.ADMIN, hosts=["propcite.example"]).may_set
    assert visitor("ana", Scope.ADMIN, hosts=["propcite.example"]).may_set
    assert not visitor("ben", Scope.WRITE).may_set


def test_who_may_not_set_sees_no_page_and_presses_nothing(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    test = opened()
    test.text_input(key="setting-temperature").set_value("0.5")
    monkeypatch.setenv("PROPCITE_HOSTS", "propcite.example")
    press(test, "save-model")
    assert not FILE.exists()
    assert not [field for field in test.text_input if field.key == "setting-temperature"]
