"""Collections, documents, answers and migrations, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from paths import SUPPORT
from small_passages import random_passage
from sqlalchemy import create_engine, inspect, text

from propcite.app.errors import AppError, NotFoundError, StoreError
from propcite.app.library.selection import selected_documents, selected_passages
from propcite.app.library.store import AnswerProblem, CollectionInfo, DetailsChange, Keys, Library, Scope, document_id
from propcite.app.library.store.database import HEAD, IDS_PER_QUERY, migration_config, upgrade
from propcite.app.library.store.tables import Table
from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Box, Document, Heading, Page, Passage, Place, Sentence, Span

WORDS = "Rivers\n\nThe Po rises at Monviso 🏔. It is 652 km long.\n\nThe “Adige” is shorter: 410 km.  \n" * 9


def document(source: str, words: str = WORDS, collection: str = "rivers") -> Document:
    return Document(
        id=document_id(collection, source, words),
        text=words,
        title="Rivers of Italy",
        source=source,
        headings=(Heading(Span(0, 6), 1), Heading(Span(8, 14), 7, 50)),
        pages=(Page(1, Span(0, 20)), Page(2, Span(20, len(words)))),
        metadata={"kind": "text", "author": "Zoë"},
    )


def lines_of(document: Document) -> list[Passage]:
    """Make every line a passage; the splitter has its own tests."""
    passages: list[Passage] = []
    start = 0
    for number, line in enumerate(document.text.splitlines(keepends=True)):
        whole = Span(0, len(line))
        sentences, pages = (Sentence(whole, is_heading=number == 0),), (Page(number // 40 + 1, whole),)
        boxes = (Box(number // 40 + 1, whole, 0.1, number % 40 / 40, 0.9, number % 40 / 40),)
        places = (Place(f"verse {number // 2}", whole),)
        passage = Passage(
            f"{document.id}:{number}", line, document.title, document.id, start, sentences, pages, boxes, places
        )
        passages.append(passage)
        start += len(line)
    return passages


def put(library: Library, collection: CollectionInfo, source: str, words: str = WORDS) -> list[Passage]:
    new = document(source, words, collection.name)
    passages = lines_of(new)
    library.put_document(collection, new, words[:64], passages)
    return passages


def cited(passages: list[Passage], question: str = "How long is the Po? 🌊") -> CitedAnswer:
    """Return an answer with a citation, an uncited fact with nearest evidence, and a claim that needs no support."""
    answer = "The Po is 652 km long, the Adige 500. Is that much?"
    first, last = passages[0], passages[-1]
    supported = Verdict(Label.SUPPORTED, 0.93)
    against = Verdict(Label.CONTRADICTED, 0.1, "source says 410 km; answer says 500")
    return CitedAnswer(
        text=answer,
        sentences=(
            CitedSentence(
                Span(0, 37),
                (
                    CitedProposition(
                        Proposition((Span(0, 21),), "The Po is 652 km long"),
                        supported,
                        (Citation(1, Evidence(first, Span(0, 6), 0.8123, 0.7), supported),),
                    ),
                    CitedProposition(
                        Proposition((Span(23, 36),), "the Adige 500"),
                        against,
                        nearest=Evidence(last, Span(0, 1), 0.6, 0.5),
                    ),
                ),
                max_citations=2,
            ),
            CitedSentence(
                Span(38, 51), (CitedProposition(Proposition((Span(38, 51),), "Is that much?", False), None),)
            ),
        ),
        question=question,
        models={"encoder": "words@1", "judge": "none"},
        timings_ms={"split": 1.25},
    )


def test_a_collection_is_created_once_and_counted(library: Library, rivers: CollectionInfo) -> None:
    assert (rivers.num_documents, rivers.num_passages) == (0, 0)
    num_passages = len(put(library, rivers, "/a.txt")) + len(put(library, rivers, "/b.txt"))
    again = library.create_collection("rivers")
    assert (again.id, again.num_documents, again.num_passages) == (rivers.id, 2, num_passages)
    library.create_collection("lakes")
    assert [c.name for c in library.collections()] == ["lakes", "rivers"]
    assert again.created_at.tzinfo is not None


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "\0", "x" * 201, "caf\udce9"])
def test_a_collection_needs_a_printable_name(library: Library, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be named"):
        library.create_collection(name)
    assert library.collections() == []


def test_an_unknown_collection_is_refused_with_the_existing_names(library: Library, rivers: CollectionInfo) -> None:
    with pytest.raises(NotFoundError, match=f"no collection 'river' .*there is {rivers.name}.*propcite ingest"):
        library.collection("river")


def test_a_documents_text_is_joined_from_its_passages(library: Library, rivers: CollectionInfo) -> None:
    passages = put(library, rivers, "/a.txt")
    assert len(passages) > 2
    read = library.document(document("/a.txt").id)
    assert read.text == WORDS
    assert read.title == "Rivers of Italy"
    assert read.source == "/a.txt"
    assert read.pages == document("/a.txt").pages
    assert [(place.name, place.span.of(WORDS)) for place in read.places[:2]] == [
        (f"verse {number}", "".join(WORDS.splitlines(keepends=True)[2 * number : 2 * number + 2])) for number in (0, 1)
    ]
    assert read.metadata == {"kind": "text", "author": "Zoë"}
    info = library.documents(rivers)[0]
    assert (info.num_passages, info.num_characters) == (len(passages), len(WORDS))


def test_headings_are_read_back_with_the_end_of_their_text(library: Library, rivers: CollectionInfo) -> None:
    put(library, rivers, "/a.txt")
    (info,) = library.documents(rivers)
    assert library.headings(info.id) == [Heading(Span(0, 6), 1), Heading(Span(8, 14), 7, 50)]
    assert library.headings("gone") == []


def test_passages_are_read_back_unchanged(library: Library, rivers: CollectionInfo) -> None:
    passages = put(library, rivers, "/a.txt")
    assert library.passages([p.id for p in reversed(passages)]) == {p.id: p for p in passages}
    assert library.passages([passages[0].id, "unknown"]) == {passages[0].id: passages[0]}
    assert library.passages([]) == {}
    assert library.passage_ids(rivers) == [p.id for p in passages]


def test_more_passages_than_fit_one_query_are_all_found(library: Library, rivers: CollectionInfo) -> None:
    passages = put(library, rivers, "/long.txt", WORDS * 30)
    assert len(passages) > IDS_PER_QUERY
    assert len(library.passages(p.id for p in passages)) == len(passages)


def test_a_new_document_replaces_the_old_one_of_its_source(library: Library, rivers: CollectionInfo) -> None:
    old = put(library, rivers, "/a.txt")
    other = put(library, rivers, "/b.txt")
    new = put(library, rivers, "/a.txt", "The Tiber is 405 km long.")
    assert library.passage_ids(rivers) == [p.id for p in new + other]
    assert library.passages(p.id for p in old) == {}
    put(library, rivers, "/a.txt", "The Tiber is 405 km long.")
    assert library.passage_ids(rivers) == [p.id for p in new + other]


def test_the_same_source_may_be_in_two_collections(library: Library, rivers: CollectionInfo) -> None:
    lakes = library.create_collection("lakes")
    put(library, rivers, "/a.txt")
    put(library, lakes, "/a.txt")
    assert [len(library.documents(c)) for c in (rivers, lakes)] == [1, 1]
    library.remove_document(library.documents(lakes)[0].id)
    assert [len(library.documents(c)) for c in (rivers, lakes)] == [1, 0]


def test_a_documents_passages_are_removed_with_it(library: Library, rivers: CollectionInfo) -> None:
    passages = put(library, rivers, "/a.txt")
    library.remove_document(document("/a.txt").id)
    assert library.passage_ids(rivers) == []
    assert library.passages(p.id for p in passages) == {}
    with pytest.raises(NotFoundError, match="no longer in the library"):
        library.document(document("/a.txt").id)


def test_everything_in_a_collection_is_removed_with_it(library: Library, rivers: CollectionInfo) -> None:
    library.save_answer(rivers, cited(put(library, rivers, "/a.txt")))
    library.remove_collection(rivers)
    assert library.collections() == []
    with library.engine.connect() as connection:
        for table in Table.metadata.sorted_tables:
            assert connection.execute(text(f"SELECT count(*) FROM {table.name}")).scalar() == 0, table.name


def test_a_document_is_found_by_id_path_file_name_or_start_of_id(library: Library, rivers: CollectionInfo) -> None:
    put(library, rivers, "/one/po.txt")
    put(library, rivers, "/two/adige.txt")
    put(library, rivers, "C:\\three\\arno.txt")
    id_ = document("/one/po.txt").id
    for name in (id_, id_[:7], "/one/po.txt", "po.txt", "one/po.txt"):
        assert library.find_document(rivers, name).id == id_
    assert library.find_document(rivers, "arno.txt").source == "C:\\three\\arno.txt"


def test_an_ambiguous_name_is_refused_with_the_matching_paths(library: Library, rivers: CollectionInfo) -> None:
    put(library, rivers, "/one/po.txt")
    put(library, rivers, "/two/po.txt")
    put(library, rivers, "po.txt")
    assert library.find_document(rivers, "po.txt").source == "po.txt"
    library.remove_document(document("po.txt").id)
    with pytest.raises(NotFoundError, match=r"/one/po.txt, /two/po.txt: give the id or the whole path"):
        library.find_document(rivers, "po.txt")
    with pytest.raises(NotFoundError, match=r"no document 'o.txt'"):
        library.find_document(rivers, "o.txt")


def test_a_stored_answer_outlives_its_documents(library: Library, rivers: CollectionInfo) -> None:
    answer = cited(put(library, rivers, "/a.txt"))
    library.save_answer(rivers, answer)
    library.remove_document(document("/a.txt").id)
    library.close()
    reopened = Library(library.url)
    assert reopened.answer(answer.id) == answer
    assert reopened.answer(answer.id[:5]) == answer
    assert reopened.count_answers_citing(rivers, document("/a.txt").id) == 1
    assert reopened.count_answers_citing(rivers, "another") == 0
    reopened.close()


def test_the_same_answer_is_stored_once_and_becomes_the_newest(library: Library, rivers: CollectionInfo) -> None:
    passages = put(library, rivers, "/a.txt")
    first, second = cited(passages), cited(passages, "Which river is longer?")
    for answer in (first, second, first):
        library.save_answer(rivers, answer)
    assert [a.id for a in library.answers()] == [first.id, second.id]
    assert [a.id for a in library.answers(rivers, limit=1)] == [first.id]
    assert [(a.question, a.collection) for a in library.answers(rivers)][1] == (second.question, "rivers")
    lakes = library.create_collection("lakes")
    assert library.answers(lakes) == []
    assert library.count_answers_citing(lakes, document("/a.txt").id) == 0
    assert library.count_answers_citing(rivers, document("/a.txt").id) == 2


def test_many_threads_may_save_the_same_answer_at_once(library: Library, rivers: CollectionInfo) -> None:
    answers = [cited(put(library, rivers, "/a.txt"), f"question {number // 8}") for number in range(80)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda answer: library.save_answer(rivers, answer), answers))
    assert {info.id for info in library.answers(rivers)} == {answer.id for answer in answers}
    assert library.count_answers_citing(rivers, answers[0].citations[0].passage.document_id) == 10


@pytest.mark.parametrize("answer_id", ["", "%", "_", "zzz", "' OR 1=1 --"])
def test_an_unknown_answer_is_refused(library: Library, rivers: CollectionInfo, answer_id: str) -> None:
    library.save_answer(rivers, cited(put(library, rivers, "/a.txt")))
    with pytest.raises(NotFoundError, match="propcite list --answers"):
        library.answer(answer_id)


def test_sources_of_existing_documents(library: Library, rivers: CollectionInfo) -> None:
    put(library, rivers, "/a.txt")
    ids = [document("/a.txt").id, "gone"]
    assert library.sources(ids) == {ids[0]: "/a.txt"}


def test_the_migrations_create_the_tables_of_the_code(library: Library) -> None:
    with library.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Table.metadata) == []


def test_the_migrations_run_from_empty_to_newest_and_back(library: Library) -> None:
    with library.engine.begin() as connection:
        upgrade(connection, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
        upgrade(connection)
        assert set(inspect(connection).get_table_names()) == {*Table.metadata.tables, "alembic_version"}


def test_a_collections_own_alignment_is_set_and_removed(library: Library, rivers: CollectionInfo) -> None:
    lakes = library.create_collection("lakes")
    assert (rivers.alignment, library.alignment(rivers)) == ("", "")
    library.set_alignment(rivers, "top-k=2")
    assert {c.name: c.alignment for c in library.collections()} == {"rivers": "top-k=2", "lakes": ""}
    assert (library.alignment(rivers), library.alignment(lakes)) == ("top-k=2", "")
    library.set_alignment(rivers, "")
    assert library.collection("rivers") == rivers


def test_collections_of_an_older_schema_have_no_alignment(library: Library, rivers: CollectionInfo) -> None:
    put(library, rivers, "/a.txt")
    library.set_alignment(rivers, "top-k=2")
    before = library.collection("rivers")
    with library.engine.begin() as connection:
        upgrade(connection, "0007")
        assert "alignment" not in {column["name"] for column in inspect(connection).get_columns("collections")}
        upgrade(connection)
    assert library.collection("rivers") == replace(before, alignment="")
    assert len(library.passage_ids(rivers)) == before.num_passages > 0


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(migration_config()).get_current_head() == HEAD


def error_of(url: str) -> str:
    with pytest.raises(StoreError) as caught:
        Library(url).collections()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_database_of_a_newer_version_is_refused_and_unchanged(library: Library, rivers: CollectionInfo) -> None:
    with library.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    library.close()
    assert error_of(library.url) == "the database has schema 9999, newer than this version knows: update PropCite"
    with create_engine(library.engine.url).connect() as connection:
        assert connection.execute(text("SELECT name FROM collections")).scalar() == rivers.name


def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "letters.sqlite"
    path.write_text("Dear reader, " * 500)
    assert error_of(f"sqlite:///{path}").startswith(f"{path} is damaged or not a PropCite database: move it away")
    assert path.read_text() == "Dear reader, " * 500


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    library = Library(f"sqlite:///{path}")
    put(library, library.create_collection("rivers"), "/a.txt", WORDS * 30)
    library.close()
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\x55" * (len(data) - 4096))
    assert "is damaged or not a PropCite database" in error_of(f"sqlite:///{path}")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "is not a database URL"),
        ("nonsense://host/name", "is not a database URL"),
        ("postgresql://me:secret@/x?host=/nowhere", "failed"),
        ("sqlite:////proc/propcite/x.sqlite", "set PROPCITE_DATA_DIR"),
        ("sqlite:////dev/null/x.sqlite", "set PROPCITE_DATA_DIR"),
    ],
)
def test_the_error_of_a_database_that_cannot_be_opened_hides_the_password(url: str, words: str) -> None:
    message = error_of(url)
    assert words in message
    assert "secret" not in message


def test_the_data_directory_may_have_any_name(tmp_path: Path) -> None:
    from propcite.app.settings import load_settings

    url = load_settings(data_dir=tmp_path / "what?" / "100%20 #é").database_url
    Library(url).create_collection("rivers")
    assert [c.name for c in Library(url).collections()] == ["rivers"]
    assert (tmp_path / "what?" / "100%20 #é" / "propcite.sqlite").stat().st_size > 0


WRITER = """
import sys
from test_store import cited, put
from propcite.app.library.store import Library
library = Library(sys.argv[1])
collection = library.create_collection("rivers")
for number in range(12):
    passages = put(library, collection, f"/{sys.argv[2]}/{number}.txt")
    library.save_answer(collection, cited(passages, "asked by all"))
    library.answers(), library.documents(collection)
"""


def test_several_processes_may_create_and_write_a_database_at_once(empty_database_url: str) -> None:
    path = os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, empty_database_url, name],
            env={"PYTHONPATH": path},
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=100)
        assert writer.returncode == 0, errors
    library = Library(empty_database_url)
    rivers = library.collection("rivers")
    assert rivers.num_documents == 36
    assert len(library.answers()) == 36  # each cites another document
    library.close()


# Details that users set, and former documents


def test_details_that_users_set_override_the_file_and_outlive_its_version(
    library: Library, rivers: CollectionInfo
) -> None:
    put(library, rivers, "/a.txt")
    put(library, rivers, "/b.txt")
    id_ = document("/a.txt").id
    values = {"author": "Ana", "year": 2024, "journal": {"name": "Rivers"}, "title": "The Po"}
    assert library.describe([id_, "gone"], DetailsChange(values, ["budget", "🌊"])) == 1
    first, second = library.documents(rivers)
    assert (first.title, first.details["author"], first.details["year"]) == ("The Po", "Ana", 2024)
    assert (first.details["tags"], first.details["kind"]) == (["budget", "🌊"], "text")
    assert (second.title, second.details) == ("Rivers of Italy", {"kind": "text", "author": "Zoë"})
    put(library, rivers, "/a.txt", "The Tiber is 405 km long.")
    again = library.documents(rivers)[0]
    assert (again.id != id_, again.details, again.title) == (True, first.details, "The Po")
    library.describe([again.id], DetailsChange({"author": None, "title": None}, without=["budget"]))
    assert library.documents(rivers, [again.id])[0].details["author"] == "Zoë"
    assert library.documents(rivers, [again.id])[0].details["tags"] == ["🌊"]
    assert library.document(again.id).metadata == {"kind": "text", "author": "Zoë"}


def test_conditions_see_the_details_that_users_set(library: Library, rivers: CollectionInfo) -> None:
    for name in "abc":
        put(library, rivers, f"/{name}.txt")
    a, b = document("/a.txt").id, document("/b.txt").id
    library.describe([a, b], DetailsChange({"date": "2024-05-17", "pages": 12}, ["budget"]))
    library.describe([b], DetailsChange({"date": "2023"}))

    def chosen(*where: str) -> list[str]:
        ids = selected_documents(library, rivers, (), where)
        return [Path(d.source).stem for d in library.documents(rivers, ids)] if ids else []

    assert chosen("date>=2024") == ["a"]
    assert chosen("date<2024 or tags is missing") == ["b", "c"]
    assert chosen("tags=budget", "pages>9", "author=zoë") == ["a", "b"]
    assert chosen("added>2020 and source~/c") == ["c"]
    assert chosen("added<2020") == []
    index = TokenIndex(8, "made-up")
    samples = [random_passage(id_, number) for number, id_ in enumerate(library.passage_ids(rivers))]
    index.add([one.passage for one in samples], [one.tokens for one in samples])
    assert index.ids(selected_passages(library, rivers, [a], ["pages=12"])) == set(library.passage_ids(rivers, a))
    others = selected_passages(library, rivers, (), ["not pages=12"])
    library.remove_document(a)
    put(library, rivers, "/d.txt")  # the columns get a document more, which nothing chose
    c = document("/c.txt").id
    assert index.ids(others) == set(library.passage_ids(rivers, c))
    assert chosen("kind=text") == ["b", "c", "d"]
    with pytest.raises(NotFoundError, match="no document"):
        selected_passages(library, rivers, [a])
    with pytest.raises(AppError, match="no document has a field 'colour'; there is added, author, date"):
        chosen("kind=text and colour=red")
    with pytest.raises(NotFoundError, match="no document of 'rivers' matches --where date>2030: give others"):
        selected_passages(library, rivers, (), ["date>2030"])


def test_former_documents_are_listed_and_answers_show_their_status(library: Library, rivers: CollectionInfo) -> None:
    answers = [cited(put(library, rivers, f"/{name}.txt"), f"of {name}?") for name in "abc"]
    for answer in answers:
        library.save_answer(rivers, replace(answer, collection="rivers"))
    put(library, rivers, "/a.txt", "The Tiber is 405 km long.")
    library.remove_document(document("/b.txt").id)
    versions = {v.document_id: v for v in library.versions(rivers)}
    assert {v.source: v.replaced for v in versions.values()} == {"/a.txt": True, "/b.txt": False}
    old = versions[document("/a.txt").id]
    assert (old.sha256, old.num_characters, old.title) == (WORDS[:64], len(WORDS), "Rivers of Italy")
    assert old.added_at <= old.ended_at
    assert [v.document_id for v in library.versions(rivers, document("/c.txt").id)] == []
    now = library.find_document(rivers, "/a.txt").id
    assert [v.document_id for v in library.versions(rivers, now)] == [old.document_id]
    gone = [next(iter(library.cited_documents(answer).values())).status for answer in answers]
    assert gone == ["replaced since", "source removed", ""]
    library.remove_document(now)
    put(library, rivers, "/b.txt")  # added again
    gone = [next(iter(library.cited_documents(answer).values())).status for answer in answers]
    assert gone == ["source removed", "", ""]
    strange = replace(cited(lines_of(document("/x.txt", collection="seas"))), collection="seas")
    assert [d.status for d in library.cited_documents(strange).values()] == ["no longer in the library"]
    assert library.cited_documents(replace(strange, collection="")) == {}


def test_answers_are_filtered_by_problem(library: Library, rivers: CollectionInfo) -> None:
    passages = put(library, rivers, "/a.txt")
    whole = cited(passages)
    library.save_answer(rivers, whole)
    held = replace(
        whole, question="held?", sentences=(replace(whole.sentences[0], propositions=whole.propositions[:1]),)
    )
    library.save_answer(rivers, held)
    assert [(a.num_facts, a.num_cited, a.num_contradicted) for a in library.answers()] == [(1, 1, 0), (2, 1, 1)]
    assert [a.id for a in library.answers(problem=AnswerProblem.UNSUPPORTED)] == [whole.id]
    assert [a.id for a in library.answers(rivers, problem=AnswerProblem.CONTRADICTED)] == [whole.id]


def test_an_owners_key_opens_the_owners_collections(library: Library, rivers: CollectionInfo) -> None:
    lakes, keys = library.create_collection("lakes", "zoë"), Keys(library)
    assert (rivers.owner, lakes.owner, library.create_collection("lakes", "ana").owner) == ("", "zoë", "zoë")
    made, secret = keys.create("zoë's", Scope.READ, owner="zoë")
    assert (made.opens("lakes"), made.opens("rivers"), made.owner) == (True, False, "zoë")
    library.set_owner(rivers, "zoë")
    library.set_owner(lakes, "")
    key = keys.find(secret)
    assert key is not None
    assert (key.opens("lakes"), key.opens("rivers")) == (False, True)
    with pytest.raises(StoreError, match="give one of the two"):
        keys.create("both", Scope.READ, ["rivers"], "zoë")
    with pytest.raises(StoreError, match="an owner cannot be named"):
        library.set_owner(rivers, "two\nlines")


REVISIONS = [script.revision for script in ScriptDirectory.from_config(migration_config()).walk_revisions()][::-1]


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_data_of_any_version_survives_the_migrations(library: Library, rivers: CollectionInfo, revision: str) -> None:
    """Migrate back to an older schema with data and forward again: what that schema has is still there."""
    passages = put(library, rivers, "/a.txt")
    answer = replace(cited(passages), collection="rivers")
    library.save_answer(rivers, answer)
    with library.engine.begin() as connection:
        upgrade(connection, revision)
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) != []
        upgrade(connection)
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
    assert library.collection("rivers").num_passages == len(passages)
    assert library.document(document("/a.txt").id).text == WORDS
    assert library.answer(answer.id) == answer
    assert [(a.num_facts, a.num_cited, a.num_contradicted) for a in library.answers()] == [(2, 1, 1)]
    assert library.count_answers_citing(rivers, document("/a.txt").id) == 1
    put(library, rivers, "/a.txt", "The Tiber is 405 km long.")
    assert len(library.versions(rivers)) == 1
