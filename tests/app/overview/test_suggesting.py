"""Suggested questions and documents in short: on every database, by the command, and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from commanded import Propcite
from scripted_llm import ScriptedLlm

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import CollectionInfo, Library, OverviewKind, Overviews
from propcite.app.overview.suggester import Suggester, document_overview, suggester_of
from propcite.app.overview.suggesting import formed
from propcite.app.overview.summary import overview_of
from propcite.app.overview.writing import questions_in
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.client import Client
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.splitter import PassageSplitter, passage_from_text
from propcite.retrieval.text import Document, Heading, Span

BRIDGE = """# Heron Bridge

Heron Bridge was opened on 14 May 2025. Heron Bridge is 96 metres long and cost 7.2 million euros.

## Who may use it?

Walkers and cyclists may use Heron Bridge at any hour. Cars must take the road over the old weir.

### Upkeep

The town engineer inspects the cables of Heron Bridge every second year. It is <b>painted</b> red.
"""
FERRY = "The river ferry was founded in 1911. The river ferry carries 90 people and their bicycles across the bay.\n"


RULES = """# Harbour rules 2024

Pay first.

## Night lights

Boats, whether moored or under way, and however small, show lights from the first hour of the night, as do all barges.

## Summary

See above.
"""
MANUAL = """# Harbour manual

## The tide gate

The tide gate is a steel door that keeps floods out of the upper basin.

## Closing

If the tide gate is stuck, the harbour warden must close the mole bridge at once.

## Opening the lock

To open the lock gates, turn both wheels at the same time.

## The log

The harbour log contains the hour of every arrival and the name of every boat.
"""


@pytest.fixture
def parts(tmp_path: Path, encoder: Encoder) -> Iterator[Parts]:
    parts = Parts(load_settings(data_dir=tmp_path / "data"))
    parts.__dict__["encoder"] = encoder
    add(parts, **{"bridge.md": BRIDGE, "ferry.txt": FERRY})
    yield parts
    parts.library.close()


def add(parts: Parts, **files: str) -> None:
    town = parts.library.create_collection("town") if parts.library.collection_id("town") is None else town_of(parts)
    list(parts.ingester(town).ingest([Upload(name, text.encode()) for name, text in files.items()]))


def town_of(parts: Parts) -> CollectionInfo:
    return parts.library.collection("town")


def suggester(parts: Parts) -> Suggester:
    return suggester_of(parts, town_of(parts))


# Questions


def test_a_heading_that_asks_is_offered_without_its_number() -> None:
    heading = "5.3 How can I wipe the header?"
    text = f"{heading}\nOverwrite it with zeroes."
    faq = Document(id="faq", text=text, title="FAQ", headings=(Heading(Span(0, len(heading)), 2),))
    assert [one.question for one in formed(PassageSplitter().split(faq))] == ["How can I wipe the header?"]


def test_every_question_is_answered_by_the_words_that_it_shows(parts: Parts) -> None:
    found = suggester(parts).questions()
    assert len(found) == 4
    assert {one.title for one in found} == {"Heron Bridge", "ferry"}
    pipeline = parts.pipeline(town_of(parts))
    for one in found:
        answer = pipeline.answer(one.question)
        assert not answer.abstained
        text = parts.library.document(one.document_id).text
        assert " ".join(one.answer.span.of(text).split()) == one.answer.text
        assert one.answer.text in {" ".join(c.quote.split()) for c in answer.citations}


def test_a_document_without_plain_sentences_is_asked_by_its_sections(parts: Parts) -> None:
    rules = parts.library.create_collection("rules")
    list(parts.ingester(rules).ingest([Upload("harbour-rules-2024.md", RULES.encode())]))
    found = suggester_of(parts, rules).questions()
    assert "What does Harbour rules 2024 say about night lights?" in {one.question for one in found}
    assert all(one.answer.text.endswith(".") for one in found)


def test_sections_of_one_document_are_asked_each(parts: Parts) -> None:
    rules = parts.library.create_collection("travel")
    text = (
        "# Travel policy of the town 2024\n\n## Hotels\n\nA hotel may cost up to 140 euros a night in the city.\n\n"
        "## Meals\n\nReceipts are kept for all meals above 32 euros.\n\n"
        "## Approval\n\nThe head of department approves every trip of more than two days.\n"
    )
    list(parts.ingester(rules).ingest([Upload("travel.md", text.encode())]))
    found = [one.question.rpartition(" say about ")[2] for one in suggester_of(parts, rules).questions()]
    assert {"hotels?", "meals?", "approval?"} <= set(found)


def test_what_a_document_tells_most_of_is_asked_first() -> None:
    faq = Document(id="manual", text=MANUAL.replace("#", ""), title="Tide gate")
    candidates = sorted(formed(PassageSplitter().split(faq)), key=lambda one: -one.score)
    assert candidates[0].question == "What is the tide gate?"
    assert all(one.score > 0 for one in candidates if one.sentence)
    assert not any(one.section for one in candidates if one.sentence)


def test_the_end_of_a_long_document_is_looked_at_too(parts: Parts) -> None:
    lines = "".join(
        f"Entry {n}: the log of day {n} was signed by the watch, and nothing else was seen.\n\n" for n in range(900)
    )
    long = parts.library.create_collection("long")
    end = "# Skarn lighthouse\n\nSkarn lighthouse is a tower of red granite on the outer skerry.\n"
    list(parts.ingester(long).ingest([Upload("log.md", f"# Harbour log\n\n{lines}{end}".encode())]))
    assert any("Skarn lighthouse" in one.question for one in suggester_of(parts, long).questions())


def test_questions_that_follow_are_about_different_things(parts: Parts) -> None:
    add(parts, **{"harbour-manual.md": MANUAL})
    answer = parts.pipeline(town_of(parts)).answer("What is the tide gate?")
    found = suggester(parts).questions(answer)
    assert len(found) == 3
    assert len({one.question.split()[0] for one in found}) > 1
    assert len({one.answer.text for one in found}) == 3
    assert not any(one.question == "What is the tide gate?" for one in found)


def test_what_was_made_is_kept_until_documents_change(parts: Parts) -> None:
    made = suggester(parts).questions()
    again = Suggester(parts.library, town_of(parts), open_pipeline=never, writer=suggester(parts).writer)
    assert again.questions() == made
    add(parts, **{"lamp.txt": "The lamp of Skarn lighthouse burns 41 litres of oil a night. It was lit in 1893."})
    assert suggester(parts).kept() is None
    assert "litres" in " ".join(one.question for one in suggester(parts).questions())


def never() -> None:  # type: ignore[misc]
    raise AssertionError("nothing is made again")


def test_what_follows_an_answer_says_something_new(parts: Parts) -> None:
    answer = parts.pipeline(town_of(parts)).answer("How long is Heron Bridge?")
    found = suggester(parts).questions(answer)
    assert found
    assert not {one.answer.text for one in found} & {" ".join(c.quote.split()) for c in answer.citations}
    assert "How long is Heron Bridge?" not in {one.question for one in found}
    assert suggester(parts).kept(answer) == found


def test_nothing_is_suggested_of_what_says_nothing(parts: Parts) -> None:
    lists = parts.library.create_collection("lists")
    assert suggester_of(parts, lists).questions() == []
    list(parts.ingester(lists).ingest([Upload("list.txt", b"apples\npears\nplums\n")]))
    assert suggester_of(parts, lists).questions() == []


def test_questions_that_a_language_model_writes_are_read_first(parts: Parts, tmp_path: Path) -> None:
    reply = "1. Who may use Heron Bridge at any hour?\n2. Who was the mayor of Oslo in 1850?\nThat is all."
    with ScriptedLlm(reply) as llm:
        asking = Parts(
            load_settings(
                data_dir=tmp_path / "data", generator="openai", llm_url=llm.base_url, generator_model="test-model"
            )
        )
        asking.__dict__["encoder"] = parts.encoder
        written = [one.question for one in suggester(asking).questions()]
        asking.library.close()
    assert written[0] == "Who may use Heron Bridge at any hour?"
    assert "Who was the mayor of Oslo in 1850?" not in written
    assert len(written) > 1


def test_without_the_language_model_those_of_the_rules_are_left(parts: Parts, tmp_path: Path) -> None:
    asking = Parts(
        load_settings(
            data_dir=tmp_path / "data", generator="openai", llm_url="http://127.0.0.1:9/v1", generator_model="gone"
        )
    )
    asking.__dict__["encoder"] = parts.encoder
    assert [one.question for one in suggester(asking).questions()]
    asking.library.close()


def test_only_questions_are_taken_from_a_reply() -> None:
    assert questions_in("Sure!\n\n* When?\n3) „Wie hoch ist die Brücke?“\nIt is 96 m.") == [
        "When?",
        "Wie hoch ist die Brücke?",
    ]


# Documents in short


def test_defined_terms_are_not_in_the_outline() -> None:
    passage = passage_from_text("d:0", "Memory\n\ndepth\n\nIt is how far a search goes.")
    made = overview_of([passage], [Heading(Span(0, 6), 1), Heading(Span(8, 13), 7, 42)])
    assert [line.text for line in made.outline] == ["Memory"]


def test_a_document_in_short_is_made_of_its_own_words(parts: Parts) -> None:
    document = parts.library.find_document(town_of(parts), "bridge.md")
    made = document_overview(parts.library, town_of(parts), document.id)
    text = parts.library.document(document.id).text
    for line in (*made.summary, *made.outline):
        assert " ".join(line.span.of(text).split()) == line.text
        assert line.passage.start <= line.span.start <= line.span.end <= line.passage.end
    assert [(line.text, line.level) for line in made.outline] == [
        ("Heron Bridge", 1),
        ("Who may use it?", 2),
        ("Upkeep", 3),
    ]
    assert "Heron Bridge was opened on 14 May 2025." in [line.text for line in made.summary]
    assert not any(line.text.startswith("It is") for line in made.summary)
    assert document_overview(parts.library, town_of(parts), document.id) == made


# The store


def test_overviews_are_kept_on_every_database(database_url: str) -> None:
    library = Library(database_url)
    kept, town = Overviews(library), library.create_collection("town")
    before = kept.state(town)
    kept.put(town, OverviewKind.COLLECTION, "", before, "[1]")
    kept.put(town, OverviewKind.COLLECTION, "", before, "[2]")
    kept.put(town, OverviewKind.ANSWER, "gone", before, "[3]")
    assert kept.find(town, OverviewKind.COLLECTION, "", before) == "[2]"
    assert kept.find(town, OverviewKind.COLLECTION, "", "another state") is None
    kept.put(town, OverviewKind.DOCUMENT, "gone too", before, "[4]")
    assert kept.find(town, OverviewKind.ANSWER, "gone", before) is None  # of an answer that is gone
    library.remove_collection(town)
    kept.put(town, OverviewKind.COLLECTION, "", before, "[5]")
    assert kept.find(town, OverviewKind.COLLECTION, "", before) is None
    library.close()


# The command and HTTP


def test_the_commands_suggest_and_outline(propcite: Propcite, parts: Parts) -> None:
    said = propcite("suggest", "--collection", "town", "--json")
    assert said.code == 0
    assert len(said.json) == 4
    assert all(one["answer"]["text"] for one in said.json)
    said = propcite("outline", "bridge.md", "--collection", "town")
    assert said.code == 0
    assert "Who may use it?" in said.out
    assert "Heron Bridge was opened on 14 May 2025." in " ".join(said.out.split())
    answer = parts.pipeline(town_of(parts)).answer("How long is Heron Bridge?")
    said = propcite("suggest", "--after", answer.id[:8])
    assert said.code == 0
    assert "?" in said.out
    parts.library.create_collection("empty")
    said = propcite("suggest", "--collection", "empty")
    assert (said.code, said.out) == (1, "")
    assert "add documents" in said.err
    assert propcite("outline", "nothing.md", "--collection", "town").code == 2


def test_the_routes_suggest_and_outline(serve: Callable[..., str]) -> None:
    address = serve({"town": {"bridge.md": BRIDGE, "ferry.txt": FERRY}})
    with Client(address, collection="town") as client:
        questions = client.suggest_questions()
        assert len(questions) == 4
        answer = client.ask("How long is Heron Bridge?")
        assert client.suggest_follow_ups(answer.id)
        document = next(d for d in client.list_documents() if d.source == "bridge.md")
        overview = client.get_overview(document.id)
        cited = overview.summary[0].span
        assert 'id="cited"' in client.read_document(document.id, cited=cited)
    assert httpx.get(f"{address}/v1/documents/nobody/overview", params={"collection": "town"}).status_code == 404
    assert httpx.get(f"{address}/v1/answers/nobody/follow-ups").status_code == 404
    assert httpx.get(f"{address}/v1/suggestions", params={"collection": "nothing"}).status_code == 404
