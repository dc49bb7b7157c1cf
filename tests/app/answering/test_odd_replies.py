"""Replies as real models write them, over HTTP: loops, JSON, fences, markers alone, headings alone, cut words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scripted_llm import Reply, Request, ScriptedLlm
from shown import shown_of, written

from propcite.app.answering.generators import Draft
from propcite.app.answering.generators.prompted import PromptedGenerator
from propcite.app.answering.generators.reply import LOOP_NOTE
from propcite.app.answering.prompts import ABSTENTION, load_prompt
from propcite.app.errors import GeneratorError
from propcite.app.library.store import Turn
from propcite.attribution.llm.endpoint import Endpoint

QUESTION = "What did the barrier cost?"
SHOWN = shown_of()
SENTENCE = "The VHP was finished on 18 October 2024."
AGAIN = "ask again, or choose another model"


def generator_at(server: ScriptedLlm, prompt: str = "answer") -> PromptedGenerator:
    model = Endpoint(server.base_url, "test-model", {"max_tokens": 64}, retries=0, timeout=30)
    return PromptedGenerator("openai/test-model", model, load_prompt(prompt))


def drafts_of(reply: Reply, prompt: str = "answer") -> Draft:
    """The draft of a reply; its stream shows the same, and so does a batch."""
    with ScriptedLlm(reply) as server:
        generator = generator_at(server, prompt)
        pieces, draft = written(generator, QUESTION, SHOWN)
        assert "".join(pieces) == draft.text
        assert generator.generate_many([(QUESTION, SHOWN)]) == [draft]
    return draft


def cut(text: str, size: int) -> Sequence[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


# A model that repeats itself


@pytest.mark.parametrize("size", [3, 40])
def test_a_loop_is_stopped_and_its_request_ends(size: int) -> None:
    chunks = cut(f"It is high. {f'{SENTENCE} ' * 8}", size)
    endless = Reply(chunks=[*chunks, "more"], stalls_after=len(chunks))
    with ScriptedLlm(endless) as server:
        pieces, draft = written(generator_at(server), QUESTION, SHOWN)
        assert server.client_left.wait(5)
    assert "".join(pieces) == draft.text
    assert draft == Draft(f"It is high. {SENTENCE}", incomplete=True, notes=(LOOP_NOTE,))


def test_a_loop_in_a_batch_is_cut_back_too() -> None:
    looping = f"{SENTENCE} " * 30

    def reply(request: Request) -> str:
        return looping if "Number 1" in request.prompt else "It cost 5."

    with ScriptedLlm(reply) as server:
        answers = generator_at(server).generate_many([(f"Number {n}?", SHOWN) for n in range(3)])
    assert answers == [Draft("It cost 5."), Draft(SENTENCE, incomplete=True, notes=(LOOP_NOTE,)), Draft("It cost 5.")]


def test_a_loop_with_markers_and_one_in_json_are_loops() -> None:
    marked = drafts_of(Reply(f"{SENTENCE[:-1]} [1]. " * 30), "cite")
    assert (marked.text, marked.given) == (SENTENCE, f"{SENTENCE[:-1]} [1].")
    for opening in ('{"answer": "', '```json\n{"answer": "', "```\n"):
        reply = Reply(chunks=[opening, *[f"{SENTENCE} "] * 12, "more"], stalls_after=13)
        with ScriptedLlm(reply) as server:
            pieces, draft = written(generator_at(server), QUESTION, SHOWN)
            assert server.client_left.wait(5)
        assert "".join(pieces) == draft.text == SENTENCE
        assert draft.notes == (LOOP_NOTE,)


@pytest.mark.parametrize("size", [77, 80, 82])
def test_a_loop_that_the_token_limit_cuts_off_is_left_out(size: int) -> None:
    twice = "The barrier cost 212.4 million euros. It was finished on 18 October 2024, weeks later than planned."
    reply = Reply(f"{twice}\n{twice[:size]}", finish_reason="length")
    assert drafts_of(reply) == Draft(twice, incomplete=True, notes=(LOOP_NOTE,))
    whole = f"{twice}\n{twice}"
    assert drafts_of(Reply(whole)) == Draft(whole)


def test_a_question_written_in_a_loop_is_read_all_the_same() -> None:
    with ScriptedLlm("What did the barrier cost in all? " * 40) as server:
        understood = generator_at(server).understand("And in all?", [Turn("a", "Q", "What did it cost?", "5 euros.")])
    assert understood == "What did the barrier cost in all?"


def test_what_is_honest_comes_whole() -> None:
    text = " ".join(f"It costs {n} euros in {month}." for n in (3, 4) for month in ("May", "June", "July", "August"))
    assert drafts_of(Reply(text)) == Draft(text)


# JSON and fences


@pytest.mark.parametrize(
    "said",
    [
        '{"answer": "It cost 5 euros."}',
        '{"response":"It cost 5 euros."}\n',
        '{\n  "Text": "It cost 5\\u0020euros [1]."\n}',
        '```json\n{"output": "It cost 5 euros."}\n```',
        '```\n{"answer": "It cost 5 euros."}\n```',
        "```\nIt cost 5 euros.\n```",
        "```markdown\nIt cost 5 euros [1].\n```\n\n",
        "~~~text\nIt cost 5 euros.\n~~~",
        "```\nIt cost 5 euros.",
        '<think>Hm.</think>{"answer": "It cost 5 euros."}',
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_answer_in_a_wrapping_is_taken_out(said: str, size: int) -> None:
    assert drafts_of(Reply(chunks=cut(said, size))) == Draft("It cost 5 euros.")


@pytest.mark.parametrize(
    "said",
    [
        "```\npropcite ask\n```\nThis asks.",
        "{curly} braces cost 5 euros.",
        "`It` cost 5 euros.",
        "~5 euros.",
        '"It cost 5 euros."',
        "Es kostete 5 Euro.",
    ],
)
def test_what_is_no_wrapping_stays(said: str) -> None:
    assert drafts_of(Reply(chunks=cut(said, 3))) == Draft(said)


def test_a_wrapping_around_the_sentence_that_there_is_no_answer_abstains() -> None:
    assert drafts_of(Reply(f'{{"answer": "{ABSTENTION}"}}')).abstained


def test_fields_beside_the_answer_are_told() -> None:
    draft = drafts_of(Reply('{"answer": "It cost 5 euros.", "sources": [1], "sure": true}'))
    assert draft.text == "It cost 5 euros."
    assert draft.notes == ("the model wrote JSON, of which only 'answer' is shown, without sources, sure",)


def test_json_that_is_cut_off_shows_what_came() -> None:
    draft = drafts_of(Reply('{"answer": "It cost 5 euros. It is hi', finish_reason="length"))
    assert (draft.text, draft.incomplete) == ("It cost 5 euros. It is hi", True)
    assert "raise PROPCITE_MAX_TOKENS" in draft.notes[0]
    draft = drafts_of(Reply('{"answer": "It cost 5 euros.", "sources": [1, ', finish_reason="length"))
    assert draft.text == "It cost 5 euros."
    assert "only 'answer' is shown" in draft.notes[0]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ('{"cost": 5, "unit": "euro"}', "JSON, not prose"),
        ('{"answer": "5 euros", "text": "It cost 5 euros."}', "JSON, not prose"),
        ('```json\n{"cost": 5}\n```', "JSON, not prose"),
        ('[{"answer": "5 euros"}]', "JSON, not prose"),
        ('{"answer": "He said "no" to it."}', "JSON, not prose"),
        ("# The barrier's cost", "only a heading"),
        ("**Cost**", "only a heading"),
        ("```python\nprint(5)\n```", "only code"),
    ],
)
def test_what_else_is_no_answer_is_shown_with_what_it_is(said: str, what: str) -> None:
    assert drafts_of(Reply(said)) == Draft(said, notes=(f"the answer is {what}: {AGAIN}",))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("[1][2]", "only citation markers"),
        ("[1].", "only citation markers"),
        ("...", "without a word"),
        ('{"answer": ""}', "empty"),
        ("```\n```", "empty"),
    ],
)
def test_a_reply_without_a_word_says_what_it_is(said: str, why: str) -> None:
    with ScriptedLlm(said) as server:
        generator = generator_at(server)
        with pytest.raises(GeneratorError, match=f"its reply is {why}: {AGAIN}"):
            written(generator, QUESTION, SHOWN)
        (failed,) = generator.generate_many([(QUESTION, SHOWN)])
    assert f"its reply is {why}: {AGAIN}" in str(failed)


@pytest.mark.parametrize(
    ("said", "is_whole"), [("It cost 410 mill", False), ("It cost 410.", True), ("Is it 5?”", True), ("A: 5", False)]
)
def test_a_cut_in_the_middle_of_a_sentence_is_told(said: str, is_whole: bool) -> None:
    draft = drafts_of(Reply(said, finish_reason="length"))
    assert draft.text == said
    assert draft.notes[0].endswith("(its last sentence is not whole)") is not is_whole
