"""The command line: what it writes where, its exit codes, and one line for everything that a person may get wrong."""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commanded import Propcite, Said, standard_input
from reportlab.pdfgen.canvas import Canvas
from scripted_llm import ScriptedLlm
from tiny_judges import save_classifier, save_t5
from word_encoder import WordEncoder

import propcite.app.lab.commands
from propcite.__main__ import main
from propcite.app import parts as bootstrap
from propcite.app.cli import cli
from propcite.app.commands import Panel
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings
from propcite.attribution.formats.json import from_json
from propcite.retrieval.encoding.encoder import Encoder

QUESTION = "How long is the river Po?"
UNKNOWN = "Who won the chess championship of Reykjavik?"
PO = (
    "The Po is the longest river of Italy. It is 652 kilometres long. It rises at Monviso 🏔 and ends in the Adriatic.\n"
)
ADIGE = "# Adige\n\nThe Adige is 410 kilometres long. It rises near the Reschen Pass.\n"
MUSEUM = "The river museum in Ferrara opens at nine. A ticket costs 8 euros.\n"
COMMANDS = (
    *("ingest", "list", "remove", "reindex", "search", "adapt", "ask", "cite", "show", "formats", "repair", "mcp"),
    *("explain", "evidence", "describe", "owner", "export", "import", "doctor", "backup", "restore"),
    *("rank", "split", "judge", "models", "prompts", "schema", "demo", "ui", "serve", "worker", "setup", "audit"),
    *("review", "record", "outline", "suggest", "compare"),
)


def process(*words: str, stdin: str = "", **environment: str) -> Said:
    """The command in a process of its own, as a person starts it."""
    done = subprocess.run(
        [sys.executable, "-m", "propcite", *words],
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def propcite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], encoder: Encoder, tmp_path: Path
) -> Propcite:
    """The same command inside this process; only the weights, which take seconds, are loaded once for all."""
    build_encoder = bootstrap.build_encoder

    def loaded(settings: Settings) -> Encoder:
        return build_encoder(settings) if settings.encoder else encoder

    monkeypatch.setattr(bootstrap, "build_encoder", loaded)

    def call(*words: str, stdin: str | bytes = "") -> Said:
        monkeypatch.setattr(sys, "argv", ["propcite", *words])
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with standard_input(data, tmp_path / "stdin"), pytest.raises(SystemExit) as ended:
            main()
        return Said(int(ended.value.code or 0), *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Said]:
    """Three documents in a data directory, put there by the command in its own process."""
    folder = tmp_path_factory.mktemp("rivers")
    (folder / "documents").mkdir()
    for name, words in {"po.txt": PO, "adige.md": ADIGE, "museum.txt": MUSEUM}.items():
        (folder / "documents" / name).write_text(words)
    said = process("ingest", str(folder / "documents"), "--json", PROPCITE_DATA_DIR=str(folder / "data"))
    return folder, said


@pytest.fixture
def data(ingested: tuple[Path, Said], tmp_path: Path) -> Path:
    """The data directory of this test, with the three documents in it."""
    shutil.copytree(ingested[0] / "data", tmp_path / "data")
    return tmp_path / "data"


def snapshot(data_dir: Path) -> object:
    """All that is kept: the collections, documents and answers, and every file of every index."""
    library = Parts(load_settings(data_dir=data_dir)).library
    kept = [(c, library.documents(c), library.passage_ids(c)) for c in library.collections()]
    files = {path: path.read_bytes() for path in data_dir.glob("indexes/*/*") if path.name != "writer.lock"}
    answers = library.answers()
    library.close()
    return kept, answers, files


def refused(said: Said) -> str:
    """The one line of a command that could not run."""
    assert (said.code, said.out) == (2, ""), said
    assert said.err.endswith("\n")
    assert said.err.count("\n") == 1, said.err
    return said.err


# In processes of their own


def test_help_names_every_command() -> None:
    start = time.perf_counter()
    said = process("--help")
    sys.stdout.write(f"propcite --help took {time.perf_counter() - start:.2f} s\n")
    assert said.code == 0
    assert {c.name or c.callback.__name__ for c in cli.registered_commands if c.callback} == set(COMMANDS)
    assert all(f" {name} " in said.out for name in COMMANDS)


def test_what_loads_no_model_loads_no_pytorch(data: Path) -> None:
    words = "import sys; import propcite.app.lab.commands; from propcite.app.cli import cli; "
    words += "cli(['list'], standalone_mode=False); "
    words += "print(*(name in sys.modules for name in ('torch', 'nltk', 'transformers')))"
    environment = {**os.environ, "PROPCITE_DATA_DIR": str(data)}
    done = subprocess.run([sys.executable, "-c", words], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False False False", done.stderr


def test_documents_go_in_and_a_cited_answer_comes_out_and_stays(ingested: tuple[Path, Said], data: Path) -> None:
    added = ingested[1]
    assert added.code == 0
    assert [(Path(row["source"]).name, row["state"]) for row in added.rows] == [
        ("adige.md", "added"),
        ("museum.txt", "added"),
        ("po.txt", "added"),
    ]
    assert added.err.endswith("default: 3 added\n")  # where reading takes long, how far it is stands before
    asked = process("ask", QUESTION, "--json")
    assert asked.code == 0, asked.err
    answer = from_json(asked.out)
    assert answer.citations
    assert all(citation.quote in PO + ADIGE for citation in answer.citations)
    shown = process("show", answer.id, "--json")
    assert (shown.code, shown.json) == (0, asked.json)
    assert str(data) not in asked.out


def test_the_facts_of_a_text_are_those_that_citing_it_looks_for(propcite: Propcite, tmp_path: Path) -> None:
    text = "# The Po\n\n- It is 652 km long.\n\n```\nprint('The Adige is short.')\n```\n\nIt rises at Monviso.\n"
    said = propcite("split", "--text", stdin=text)
    assert (said.code, said.err) == (0, "")
    assert [line for line in said.out.splitlines() if not line.startswith(" ")] == [
        "It is 652 km long.",
        "It rises at Monviso.",
    ]
    (tmp_path / "passages.jsonl").write_text(json.dumps({"text": PO}) + "\n")
    cited = from_json(propcite("cite", "--passages", str(tmp_path / "passages.jsonl"), "--json", stdin=text).out)
    assert [line.strip(" •") for line in said.out.splitlines() if line.startswith(" ")] == [
        p.proposition.text for p in cited.propositions
    ]


BY_RULES = {"PROPCITE_SPLITTER": "rules"}  # loads no network: seconds less for tests of the process around it


def test_a_filter_answers_a_line_before_the_next_is_sent_and_ends_when_it_is_interrupted() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "propcite", "split"],
        env={**os.environ, **BY_RULES},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin
        assert running.stdout
        assert running.stderr
        for number in range(3):
            running.stdin.write(json.dumps({"sentence": f"The Po is {number} km long."}) + "\n")
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["propositions"][0]["text"].startswith(f"The Po is {number}")
        running.send_signal(signal.SIGINT)
        assert running.wait(120) == 130
        assert running.stderr.read() == "interrupted: what was finished is kept, run it again to go on\n"


def test_a_filter_whose_reader_leaves_ends_without_a_word() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "propcite", "split"],
        env={**os.environ, **BY_RULES},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin
        assert running.stdout
        assert running.stderr
        running.stdout.close()
        running.stdin.write(b'{"sentence": "The Po is long."}\n')
        running.stdin.flush()  # and stays open
        assert running.wait(120) in (0, 1)
        assert running.stderr.read() == b""


def test_a_closed_standard_input_is_told() -> None:
    command = f"exec {sys.executable} -m propcite split <&-"
    environment = {**os.environ, **BY_RULES}
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True)
    assert "standard input cannot be read" in refused(Said(done.returncode, done.stdout, done.stderr))


# What the commands write, and their exit codes


def test_ingest_says_what_became_of_each_file(propcite: Propcite, tmp_path: Path) -> None:
    folder = tmp_path / "a folder with a rather long name, so that a line of it is longer than eighty characters"
    folder.mkdir()
    (folder / "po.txt").write_text(PO)
    (folder / "empty.txt").write_text("")
    said = propcite("ingest", str(folder), "-c", "rivers")
    assert said.code == 1
    assert said.out == f"added     {folder / 'po.txt'} (1 passage)\n"
    assert said.err.splitlines() == [
        "failed    empty.txt is empty: nothing to add",
        "rivers: 1 failed, 1 added",
    ]
    again = propcite("ingest", str(folder / "po.txt"), "-c", "rivers", "--json")
    assert (again.code, again.err) == (0, "")
    assert [(row["state"], row["num_passages"]) for row in again.rows] == [("unchanged", 1)]


def test_list_shows_collections_documents_and_answers(propcite: Propcite, data: Path) -> None:
    assert propcite("list", "--json").json[0]["num_documents"] == 3
    assert "default" in propcite("list").out
    documents = propcite("list", "-c", "default", "--json").json
    assert [Path(d["source"]).name for d in documents] == ["adige.md", "museum.txt", "po.txt"]
    shown = propcite("list", "-c", "default")
    assert documents[0]["id"] in shown.out
    assert "3 passages" in shown.err
    nothing = propcite("list", "--answers")
    assert (nothing.code, nothing.out) == (0, "")
    assert "propcite ingest" in nothing.err
    asked = propcite("ask", QUESTION, "--json").json
    assert [a["id"] for a in propcite("list", "--answers", "--json").json] == [asked["id"]]
    assert asked["id"] in propcite("list", "--answers", "-c", "default").out
    assert data.is_dir()


@pytest.mark.parametrize("granularity", ["passage", "sentence", "proposition"])
def test_search_ranks_units_of_each_granularity(propcite: Propcite, data: Path, granularity: str) -> None:
    said = propcite("search", QUESTION, "-g", granularity, "-k", "3", "--json")
    assert (said.code, said.err) == (0, "")
    scores = [hit["score"] for hit in said.json]
    assert scores == sorted(scores, reverse=True)
    assert {hit["granularity"] for hit in said.json} == {granularity}
    assert any("652" in hit["text"] for hit in said.json)
    shown = propcite("search", QUESTION, "-g", granularity, "-k", "1")
    assert shown.out.split()[0] == "1"
    assert data.is_dir()


def test_a_search_by_words_and_with_quotes_finds_what_has_them(propcite: Propcite, data: Path) -> None:
    by_way = {
        way: propcite("search", "652", "--way", way, "-g", "sentence", "--json").json for way in ("both", "words")
    }
    for hits in by_way.values():
        assert "652" in hits[0]["text"]
        assert hits[0]["words"] > 0
    assert all("652" in hit["text"] for hit in by_way["words"])
    assert propcite("search", "652", "--way", "vectors", "--json").json[0]["words"] is None
    assert "(words 0." in propcite("search", "652").out
    quoted = propcite("search", 'how long "is 652" now', "-g", "sentence", "--json").json
    assert all("is 652" in hit["text"] for hit in quoted)
    nothing = propcite("search", '"652 is"')
    assert nothing.code == 1
    assert "no passage here has the words “652 is”: search without quotes" in " ".join(nothing.err.split())
    assert propcite("search", "652", "--way", "bm25").code == 2
    assert data.is_dir()


def test_ask_writes_the_answer_and_its_support(propcite: Propcite, data: Path) -> None:
    said = propcite("ask", QUESTION)
    assert said.code == 0
    assert said.out.startswith(QUESTION)
    assert "652" in said.out
    assert "po.txt: “" in said.out
    assert "answer " in said.err
    assert data.is_dir()


def test_a_question_that_the_collection_does_not_answer_exits_1(propcite: Propcite, data: Path) -> None:
    said = propcite("ask", UNKNOWN, "--json")
    assert said.code == 1
    assert said.json["abstained"]
    assert propcite("ask", UNKNOWN).code == 1
    assert propcite("show", said.json["id"]).code == 0
    assert data.is_dir()


def test_cite_reads_a_file_or_standard_input(propcite: Propcite, data: Path, tmp_path: Path) -> None:
    text = "The Po is 652 kilometres long. The moon is made of green cheese."
    (tmp_path / "text.md").write_text(text)
    from_file = propcite("cite", str(tmp_path / "text.md"), "--json")
    assert from_file.code == 0
    assert from_file.json["uncited"] == ["The moon is made of green cheese."]
    from_pipe = propcite("cite", "--json", stdin=text)
    assert (from_pipe.json["id"], from_pipe.json["sentences"]) == (from_file.json["id"], from_file.json["sentences"])
    shown = propcite("cite", "--fail-under", "0.9", stdin=f"{text}\n")
    assert shown.code == 1
    assert not shown.out.splitlines()[1]
    assert shown.out.splitlines()[2].strip(), "the line that ends the text is no empty one"
    assert propcite("cite", "--fail-under", "0.5", stdin=text).code == 0
    assert "\ufffd" in propcite("cite", "--json", stdin=b"The Po \xff is 652 kilometres long.").json["text"]
    assert data.is_dir()


def test_cite_takes_given_passages_and_then_needs_no_collection(propcite: Propcite, tmp_path: Path) -> None:
    lines = [{"text": ADIGE}, {"id": "po", "title": "Po", "text": "It is\u2028652 kilometres long."}]
    content = "\ufeff" + "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (tmp_path / "passages.jsonl").write_text(content)
    said = propcite(
        "cite", "--passages", str(tmp_path / "passages.jsonl"), "--json", stdin="It is 652 kilometres long."
    )
    assert said.code == 0
    assert [c["passage_id"] for c in said.json["sentences"][0]["citations"]] == ["po"]
    assert not (tmp_path / "data").exists()
    (tmp_path / "passages.jsonl").write_text(content + "\n\n[1]\n")
    for command in ("cite", "repair"):
        said = propcite(command, "--passages", str(tmp_path / "passages.jsonl"), stdin="It is 652 kilometres long.")
        assert "passages.jsonl, line 5: each line is an object like" in refused(said)


def given(folder: Path, *texts: str) -> str:
    path = folder / "given.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return str(path)


def test_cite_takes_given_passages_first_and_the_collection_for_the_rest(
    propcite: Propcite, data: Path, tmp_path: Path
) -> None:
    text = "A ticket costs 8 euros. The Po is 652 kilometres long."
    said = propcite("cite", "--passages", given(tmp_path, MUSEUM), "--collection", "default", "--json", stdin=text)
    found = [c for sentence in said.json["sentences"] for c in sentence["citations"]]
    assert [(c["document_id"] == "", c["shown"]) for c in found] == [(True, True), (False, False)]
    assert propcite("show", said.json["id"], "--json").json["id"] == said.json["id"]
    assert data.is_dir()


def test_the_passages_come_first_in_a_stream_and_in_a_batch_too(propcite: Propcite, data: Path, tmp_path: Path) -> None:
    text = "A ticket costs 8 euros. The Po is 652 kilometres long."
    both = ("--passages", given(tmp_path, MUSEUM), "--collection", "default")
    done = propcite("cite", "--stream", "--json", *both, stdin=text).rows[-1]["data"]
    line = {"answer": text, "passages": [{"text": MUSEUM}], "question": "What?"}
    (batch,) = propcite("cite", "--batch", "--collection", "default", stdin=json.dumps(line)).rows
    for cited in (done, batch):
        found = [c for sentence in cited["sentences"] for c in sentence["citations"]]
        assert [(c["document_id"] == "", c["shown"]) for c in found] == [(True, True), (False, False)]
    assert batch["question"] == "What?"
    line["answer"] = "A ticket costs 8 euros. The Po is 652 kilometres long [1]."
    (batch,) = propcite("repair", "--batch", "--collection", "default", stdin=json.dumps(line)).rows
    one = propcite("repair", *both, "--json", stdin=line["answer"]).json
    for repaired in (batch, one):
        assert [c["state"] for c in repaired["checks"]] == ["added", "dropped"]
        assert repaired["answer"]["uncited"] == []
    assert propcite("show", one["answer"]["id"]).code == 0
    assert data.is_dir()


def test_each_way_of_citing_is_an_option(propcite: Propcite, tmp_path: Path) -> None:
    text = "A ticket costs 8 euros, and the Po is 652 kilometres long."
    passages = ("--passages", given(tmp_path, MUSEUM, PO, ADIGE))

    def cited(*ways: str) -> Any:
        said = propcite("cite", *passages, "--json", *ways, stdin=text)
        assert said.code == 0, said.err
        return said.json

    assert "method" not in cited()["models"]
    for method in ("paper", "alone", "sentence", "sentence-2"):
        answer = cited("--method", method, "--judge", "none")
        assert (answer["models"]["method"], answer["models"]["judge"]) == (method, "none")
    assert len(cited("--most", "1")["sentences"][0]["citations"]) == 1
    assert len(cited()["sentences"][0]["citations"]) == 2
    assert cited("--margin", "50")["coverage"] == 0
    assert propcite("cite", *passages, "--judge", "guess", stdin=text).code == 2
    repaired = propcite("repair", *passages, "--json", "--judge", "none", stdin=f"{text} [1][2]").json
    assert repaired["answer"]["models"]["judge"] == "none"


def test_repair_tells_what_became_of_each_marker(propcite: Propcite, tmp_path: Path) -> None:
    passages = given(tmp_path, MUSEUM, PO)
    said = propcite("repair", "--passages", passages, "--json", stdin="The Po is 652 kilometres long [1].")
    assert said.code == 1
    assert said.json["text"] == "The Po is 652 kilometres long [2]."
    assert [(c["number"], c["state"]) for c in said.json["checks"]] == [(1, "dropped"), (2, "added")]
    right = propcite("repair", "--passages", passages, stdin=said.json["text"])
    assert right.code == 0
    assert right.out.splitlines()[0] == said.json["text"]
    assert "[2] kept" in right.out
    wrong = propcite("repair", "--passages", passages, stdin="The Po is 650 kilometres long [2].")
    assert "source says 652 kilometres; answer says 650 kilometres" in wrong.out.split("contradicted")[1]
    other = propcite("repair", "--passages", passages, stdin="Der Po ist 652 Kilometer lang und die Stadt ist schön.")
    assert "The answer is in German and its sources are in English" in other.out
    line = {"answer": "A ticket costs 8 euros [1][5].", "passages": [{"text": MUSEUM}]}
    batch = propcite("repair", "--batch", stdin=json.dumps(line))
    assert [c["state"] for c in batch.rows[0]["checks"]] == ["kept", "no such passage"]
    none = propcite("repair", stdin="It is so [1].")
    assert (none.code, none.err) == (2, "propcite: markers number the passages: give these with --passages FILE\n")


def test_an_answer_is_shown_as_it_was_after_its_index_and_its_documents_changed(propcite: Propcite, data: Path) -> None:
    asked = propcite("ask", QUESTION, "--json").json
    plain = propcite("show", asked["id"]).out
    shutil.rmtree(data / "indexes")
    assert "propcite reindex" in refused(propcite("search", QUESTION))
    rebuilt = propcite("reindex", "--json")
    assert (rebuilt.code, rebuilt.json) == (0, {"collection": "default", "passages": 3})
    assert "3 passages" in propcite("reindex").err
    again = propcite("ask", QUESTION, "--json").json
    assert [s["citations"] for s in again["sentences"]] == [s["citations"] for s in asked["sentences"]]
    assert propcite("show", asked["id"]).out == plain
    removed = propcite("remove", "po.txt", "--json")
    assert (removed.code, removed.json["answers_citing"]) == (0, 1)
    assert propcite("show", asked["id"][:6], "--json").json["sentences"] == asked["sentences"]
    left = propcite("remove", "adige.md")
    assert (left.code, left.out) == (0, "")
    assert left.err.startswith("removed ")
    everything = propcite("remove", "--all", "--yes", "--json")
    assert everything.json == {"collection": "default", "documents": 1}
    assert propcite("list", "--json").json == []
    assert list(data.glob("indexes/*")) == []
    assert "propcite list --answers" in refused(propcite("show", asked["id"]))


def test_models_names_what_is_here_and_which_is_used(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {model["name"]: model for model in propcite("models", "--json").json}
    assert [name for name, model in models.items() if model["chosen"]] == [
        *("propcite-minilm", "learned", "reader", "question-reader")
    ]
    assert 5 < models["propcite-minilm"]["megabytes"] < 25
    assert "rows" in models["propcite-minilm"]["made"]
    assert models["propcite-queries"]["megabytes"] < models["propcite-minilm"]["megabytes"]
    shown = propcite("models")
    assert all(name in shown.out for name in models)
    monkeypatch.setenv("PROPCITE_PRECISION", "float32")
    assert "passages are read in float32 here" in propcite("models").err
    monkeypatch.setenv("PROPCITE_ENCODER", "minilm")
    untrained = propcite("models", "--json").json
    assert [model["name"] for model in untrained if model["chosen"]] == [
        "minilm",
        "learned",
        "reader",
        "question-reader",
    ]


def test_schema_is_that_of_the_answers(propcite: Propcite) -> None:
    import jsonschema

    schema = propcite("schema").json
    said = propcite("cite", "--batch", stdin=json.dumps({"answer": PO, "passages": [{"text": PO}]}))
    jsonschema.validate(said.json, schema)
    line = {"answer": f"{PO.strip()} [1][2]", "passages": [{"text": PO}]}
    jsonschema.validate(propcite("repair", "--batch", stdin=json.dumps(line)).json, propcite("schema", "repair").json)


def test_demo_builds_its_collection_and_answers(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    said = propcite("demo")
    assert said.code == 0
    assert said.out.count("added") > 15
    assert propcite("list", "--json").json[0]["name"] == "demo"


# Filters


def lines(*rows: object) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


GOOD: Mapping[str, Sequence[dict[str, Any]]] = {
    "rank": [{"query": "Po", "sentences": ["The Po 🌊.", "", "A cat."]}, {"query": "Po", "sentences": []}],
    "split": [{"sentence": "Der Po, 652 km lang 🏔, ist ein Fluss."}, {"sentence": ""}],
    "judge": [{"claim": "The Po is long 🌊.", "evidence": ["It is."]}, {"claim": "x", "evidence": []}],
    "cite --batch": [{"answer": "", "passages": []}, {"answer": "Der Po 🏔 ist lang.", "passages": [{"text": "🏔 Po."}]}],
}
BAD: Mapping[str, Sequence[dict[str, Any]]] = {
    "rank": [{"query": "Po"}, {"query": 1, "sentences": []}],
    "split": [{}, {"sentence": ["x"]}],
    "judge": [{"claim": "x"}, {"claim": "x", "evidence": "x"}],
    "cite --batch": [
        {"answer": "x"},
        {"answer": "The Po.", "passages": [{"text": "a", "id": 1}, {"text": "b", "id": "1"}]},
    ],
}


@pytest.mark.parametrize("command", list(GOOD))
def test_a_filter_answers_every_line_in_order(propcite: Propcite, command: str, tmp_path: Path) -> None:
    first, second = GOOD[command]
    good = propcite(*command.split(), stdin="\ufeff" + lines(first, "", second) + json.dumps(first))
    assert (good.code, good.err) == (0, "")
    without_times = [{k: v for k, v in row.items() if k != "timings_ms"} for row in good.rows]
    assert len(without_times) == 3
    assert without_times[0].keys() == without_times[2].keys()
    mixed = propcite(*command.split(), stdin=lines(first, "no JSON", *BAD[command], b"\xff".decode("latin-1"), second))
    assert (mixed.code, mixed.err) == (1, "")
    assert ["error" in row for row in mixed.rows] == [False, True, True, True, True, False]
    assert all("\n" not in row["error"] for row in mixed.rows if "error" in row)
    nothing = propcite(*command.split())
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "")
    if command == "cite --batch":
        (tmp_path / "lines.jsonl").write_text(lines(first, second))
        assert len(propcite("cite", "--batch", str(tmp_path / "lines.jsonl")).rows) == 2
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("judge", ["true", "minicheck", "nli", "llm", "embedded", "none"])
def test_judge_filters_with_each_judge(
    propcite: Propcite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, judge: str
) -> None:
    labels = ["LABEL_0", "LABEL_1"]
    monkeypatch.setenv("PROPCITE_JUDGE", judge)
    with ScriptedLlm('{"verdict": "supported", "support": 90}') as server:
        monkeypatch.setenv("PROPCITE_LLM_URL", server.base_url)
        if judge in ("true", "minicheck", "nli"):
            folder = save_classifier(tmp_path / "m", labels) if judge == "nli" else save_t5(tmp_path / "m")
            monkeypatch.setenv("PROPCITE_JUDGE_MODEL", str(folder))
            monkeypatch.setenv("PROPCITE_JUDGE_LABELS", "not_entailment, entailment")
        elif judge == "llm":
            monkeypatch.setenv("PROPCITE_JUDGE_MODEL", "test-model")
        said = propcite("judge", stdin=lines(*GOOD["judge"], "no JSON"))
    assert (said.code, said.err) == (1, "")
    assert ["error" in row for row in said.rows] == [judge == "none", judge == "none", True]
    if judge != "none":
        assert [row["verdict"] for row in said.rows[1:2]] == ["unsupported"]
        assert 0 <= said.rows[0]["support"] <= 1


def test_plain_words_may_refuse_what_a_judge_accepts(propcite: Propcite, monkeypatch: pytest.MonkeyPatch) -> None:
    line = lines({"claim": "The Po is 700 kilometres long.", "evidence": ["The Po is 652 kilometres long."]})
    with ScriptedLlm('{"verdict": "supported", "support": 99}') as server:
        for name, value in (("LLM_URL", server.base_url), ("JUDGE", "llm"), ("JUDGE_MODEL", "test-model")):
            monkeypatch.setenv(f"PROPCITE_{name}", value)
        assert propcite("judge", stdin=line).rows[0]["verdict"] == "supported"
        monkeypatch.setenv("PROPCITE_JUDGE_CHECKS", "true")
        assert propcite("judge", stdin=line).rows[0]["verdict"] == "contradicted"


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"PROPCITE_JUDGE": "true", "PROPCITE_JUDGE_MODEL": "/no/such/model"}, "there is no folder /no/such/model"),
        ({"PROPCITE_JUDGE": "llm"}, "this judge needs a setting: give PROPCITE_LLM_URL"),
        ({"PROPCITE_JUDGE": "llm", "PROPCITE_LLM_URL": "http://h/v1"}, "give PROPCITE_JUDGE_MODEL"),
        (
            {"PROPCITE_JUDGE": "llm", "PROPCITE_LLM_URL": "host", "PROPCITE_JUDGE_MODEL": "m"},
            "PROPCITE_LLM_URL or PROPCITE_LLM_KEY cannot be used: expected an http:// or https:// base_url",
        ),
        (
            {"PROPCITE_SPLITTER": "llm", "PROPCITE_LLM_URL": "host", "PROPCITE_SPLITTER_MODEL": "m"},
            "PROPCITE_LLM_URL or PROPCITE_LLM_KEY cannot be used: expected an http:// or https:// base_url",
        ),
    ],
)
def test_a_part_that_cannot_be_built_is_told_before_any_line(
    propcite: Propcite, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], told: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    commands = ["split"] if "PROPCITE_SPLITTER" in environment else ["judge", "cite --batch"]
    for command in commands:
        assert told in refused(propcite(*command.split(), stdin=lines(*GOOD[command])))


def test_bytes_that_are_not_utf8_and_a_huge_line_are_answered(propcite: Propcite) -> None:
    huge = json.dumps({"sentence": "The Po flows on and on, " * 50_000}).encode()
    said = propcite("split", stdin=b'{"sentence": "A \xff B."}\n\xff\xfe\n' + huge + b'\n{"sentence": "The end."}\n')
    assert said.code == 1
    assert ["error" in row for row in said.rows] == [False, True, False, False]
    assert said.rows[3]["propositions"][0]["text"] == "The end."


# What a person may get wrong: one line, exit code 2, and nothing has changed


def encrypted(path: Path) -> None:
    canvas = Canvas(str(path), encrypt="password")
    canvas.drawString(72, 700, "secret")
    canvas.save()


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 200 * 2**20)


UNREADABLE: Mapping[str, Callable[[Path], object]] = {
    "missing.txt": lambda _: None,
    "empty.txt": lambda path: path.touch(),
    "blank.md": lambda path: path.write_text(" \n\t\n"),
    "binary.txt": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "binary.html": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "binary.pdf": lambda path: path.write_bytes(b"\x00\x01" * 900),
    "encrypted.pdf": encrypted,
    "sparse.txt": sparse,
    "letter.docx": lambda path: path.write_bytes(b"PK\x03\x04"),
    "folder": lambda path: path.mkdir(),
    "pipe.txt": os.mkfifo,
    "loop.txt": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("name", list(UNREADABLE))
def test_a_file_that_cannot_be_read_is_told(propcite: Propcite, data: Path, tmp_path: Path, name: str) -> None:
    UNREADABLE[name](tmp_path / name)
    before = snapshot(data)
    assert name in refused(propcite("ingest", str(tmp_path / name)))
    assert snapshot(data) == before
    if name != "folder":
        assert name in refused(propcite("cite", str(tmp_path / name)))
        refused(propcite("cite", "--passages", str(tmp_path / name), stdin="Words.")) if name != "pipe.txt" else None
    assert snapshot(data) == before


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig"])
def test_a_file_in_another_encoding_is_read(propcite: Propcite, data: Path, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "fluss.txt").write_bytes("Die Etsch fließt durch Südtirol.".encode(encoding))
    assert propcite("ingest", str(tmp_path / "fluss.txt")).code == 0
    assert "fließt durch Südtirol" in propcite("search", "Etsch Südtirol", "-k", "1", "--json").json[0]["text"]
    assert data.is_dir()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["list", "-c", "nowhere"], "no collection 'nowhere' (there is default): propcite ingest PATH"),
        (["ask", QUESTION, "-c", "nowhere"], "no collection 'nowhere'"),
        (["search", QUESTION, "-c", "nowhere"], "no collection 'nowhere'"),
        (["cite", "-c", "nowhere"], "no collection 'nowhere'"),
        (["remove", "po.txt", "-c", "nowhere"], "no collection 'nowhere'"),
        (["reindex", "-c", "nowhere"], "no collection 'nowhere'"),
        (["show", "nothing"], "propcite list --answers"),
        (["show", ""], "propcite list --answers"),
        (["show", "caf\udce9"], "give it as UTF-8"),
        (["remove", "nothing.txt"], "no document 'nothing.txt'"),
        (["remove"], "name one document, or give --all"),
        (["remove", "po.txt", "--all"], "name one document, or give --all"),
        (["ask", " "], "a question needs some words"),
        (["search", ""], "a search needs some words"),
        (["cite", "--batch", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["cite", "--batch", "/"], "/ cannot be read"),
        (["ingest", "documents", "-c", "two\nlines"], "cannot be named"),
    ],
)
def test_a_wrong_word_is_told(propcite: Propcite, data: Path, tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "new.txt").write_text(MUSEUM)
    before = snapshot(data)
    assert told in refused(propcite(*words, stdin="Words to cite."))
    assert snapshot(data) == before


def test_nothing_on_standard_input_is_told(propcite: Propcite, data: Path) -> None:
    assert "standard input is empty" in refused(propcite("cite", stdin=" \n"))
    assert data.is_dir()


def test_bytes_that_are_not_utf8_on_the_command_line_are_searched_as_well_as_can_be(
    propcite: Propcite, data: Path
) -> None:
    assert propcite("search", "How long is the Po, caf\udce9?", "--json").code == 0
    assert propcite("ask", "How long is the Po \udce9?", "--json").code in (0, 1)
    assert data.is_dir()


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("PROPCITE_BATCH_SIZE", "many", "PROPCITE_BATCH_SIZE"),
        ("PROPCITE_JUDGE", "oracle", "PROPCITE_JUDGE"),
        ("PROPCITE_DATABASE", "nonsense", "PROPCITE_DATABASE"),
        ("PROPCITE_DATA_DIR", "/proc/propcite", "set PROPCITE_DATA_DIR"),
        ("PROPCITE_DATA_DIR", "/dev/null/propcite", "set PROPCITE_DATA_DIR"),
    ],
)
def test_a_wrong_setting_is_told(
    propcite: Propcite, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    monkeypatch.setenv(variable, value)
    Path("po.txt").write_text(PO)
    assert told in refused(propcite("list"))
    assert told in refused(propcite("ingest", "po.txt"))


def test_a_broken_settings_file_is_told(propcite: Propcite) -> None:
    Path("propcite.toml").write_text("batch_size = [")
    assert "propcite.toml cannot be read" in refused(propcite("list"))


def test_an_encoder_that_is_not_there_is_told_before_anything_is_written(
    propcite: Propcite, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(data)
    monkeypatch.setenv("PROPCITE_ENCODER", "/no/such/model")
    Path("new.txt").write_text(f"{MUSEUM} It is new.")
    for words in (["ingest", "new.txt"], ["ask", QUESTION], ["search", QUESTION], ["reindex"]):
        said = propcite(*words)
        assert (said.code, said.out) == (2, "")
        assert "/no/such/model" in said.err.splitlines()[-1]
        assert "Traceback" not in said.err
    assert snapshot(data) == before


def test_a_data_directory_that_holds_something_else_is_told(propcite: Propcite, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "propcite.sqlite").write_text("Dear reader, " * 900)
    assert "move it away" in refused(propcite("list"))


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of 2 MB for the data directory; the vectors are small, so that a text fills it and not the encoder."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=2m", "none", str(place)]
    if mount is None or subprocess.run([mount, *options], capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root: run as root to test a full disk")
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(place / "data"))
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def remounted(place: Path, option: str) -> None:
    gc.collect()  # what the commands before left open would be closed if they were processes
    subprocess.run(["mount", "-o", f"remount,{option}", place], check=True)


def test_a_full_disk_is_told_and_when_there_is_space_all_goes_on(propcite: Propcite, small_disk: Path) -> None:
    ingest = partial(propcite, "ingest", "letters")
    Path("letters").mkdir()
    for number in range(12):
        Path(f"letters/{number:02}.txt").write_text(f"Letter {number} tells of rain and wind.\n\n" * 900)
    full = ingest()
    assert full.code == 2
    assert full.err.count("\n") == 1, full.err
    assert "free" in full.err
    assert "set PROPCITE_DATA_DIR" in full.err
    added = full.out.count("added ")
    assert 0 < added < 12
    there = len(propcite("list", "-c", "default", "--json").json)
    assert there in (added, added + 1)  # the disk may be full after the library has a letter, before the index has it
    remounted(small_disk, "size=64m")
    after = ingest()
    assert (after.code, after.out.count("unchanged "), after.out.count("added ")) == (0, there, 12 - there)
    for number in (0, there - 1, there, 11):
        assert f"Letter {number} " in propcite("search", f"Letter {number} rain", "--json", "-k", "1").json[0]["text"]


def test_a_disk_that_cannot_be_written_is_told(propcite: Propcite, small_disk: Path) -> None:
    Path("po.txt").write_text(PO)
    assert propcite("ingest", "po.txt").code == 0
    Path("new.txt").write_text(ADIGE)
    remounted(small_disk, "ro")
    for words in (["ingest", "new.txt"], ["remove", "po.txt"], ["ask", QUESTION]):
        assert "PROPCITE_DATA_DIR" in refused(propcite(*words))
    remounted(small_disk, "rw")
    assert [Path(d["source"]).name for d in propcite("list", "-c", "default", "--json").json] == ["po.txt"]


def test_a_terminal_that_knows_few_letters_loses_signs_and_no_answer(
    propcite: Propcite, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
        said = propcite("list", "--json")
        written = sys.stdout
    assert said.code == 0
    assert written.encoding == "ascii"
    assert data.is_dir()


# Documents that a question looks at


def test_a_search_and_a_question_look_at_the_named_documents_alone(propcite: Propcite, data: Path) -> None:
    said = propcite("search", QUESTION, "-d", "adige.md", "-d", "museum.txt", "-k", "20", "--json")
    assert {hit["title"] for hit in said.json} == {"Adige", "museum"}
    found = propcite("search", QUESTION, "--where", "source=*PO.txt", "-k", "20", "--json")
    assert {hit["title"] for hit in found.json} == {"po"}
    both = propcite("search", QUESTION, "-d", "po.txt", "--where", "kind=text", "-g", "sentence", "--json")
    assert {hit["title"] for hit in both.json} == {"po"}
    assert "652" in propcite("ask", QUESTION, "-d", "po.txt", "--json").json["text"]
    assert propcite("ask", QUESTION, "-d", "museum.txt", "--json").json["abstained"]
    assert data.is_dir()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-d", "tiber.txt"], "no document 'tiber.txt' in 'default'"),
        (["--where", "author"], "cannot read --where 'author' at the end: expected author=VALUE, as in kind=pdf"),
        (["--where", "colour=red"], "no document has a field 'colour'; there is added, author, date, "),
        (["--where", "title=*Tiber*"], "no document of 'default' matches --where title=*Tiber*: give others"),
        (["-d", "po.txt", "--where", "title=Adige"], "matches --document po.txt --where title=Adige"),
    ],
)
def test_a_narrowing_that_leaves_nothing_is_one_line(
    propcite: Propcite, data: Path, options: list[str], told: str
) -> None:
    said = propcite("search", QUESTION, *options)
    assert (said.code, said.out) == (2, "")
    assert told in " ".join(said.err.split())
    assert data.is_dir()


def test_a_model_without_markers_ranks_sentences_and_says_how(
    propcite: Propcite, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_ENCODER", "minilm")
    assert propcite("reindex").code == 0
    said = propcite("search", QUESTION, "-g", "sentence", "--json")
    assert said.json
    assert "has no marker for sentences: queries for them use the passage marker (m_q)" in " ".join(said.err.split())
    assert propcite("search", QUESTION, "--json").err == ""
    row = {"query": "Which river is long?", "sentences": ["The Po is a long river.", "A cat."]}
    ranked = propcite("rank", stdin=lines(row))
    assert ranked.rows[0]["scores"][0] > ranked.rows[0]["scores"][1]
    assert "has no marker for sentences" in ranked.err
    monkeypatch.setenv("PROPCITE_ENCODER", "/no/such/model")
    refused = propcite("rank", stdin=lines(row))
    assert (refused.code, refused.out) == (2, "")
    assert "there is no folder /no/such/model" in " ".join(refused.err.split())
    assert data.is_dir()


def test_a_search_tells_how_long_each_stage_took(propcite: Propcite, data: Path) -> None:
    said = propcite("search", QUESTION, "--timings", "--json")
    assert [stage.split()[0] for stage in said.err.strip().split(", ")] == ["encode", "rank", "words", "choose"]
    assert said.json
    assert data.is_dir()


# The index


def test_the_index_is_counted_checked_and_repaired(propcite: Propcite, data: Path) -> None:
    stats = propcite("index", "stats", "--json").json
    assert (stats["passages"], stats["bits"], stats["regime"]) == (3, [8], "exact")
    assert "bytes per token" in propcite("index", "stats").out
    assert propcite("index", "check", "--json").json == {
        "collection": "default",
        "faults": [],
        "encoded_again": 0,
        "whole": True,
    }
    path = next(data.glob("indexes/*/segment-*.tokens"))
    whole = path.read_bytes()
    path.write_bytes(whole[:80] + bytes([whole[80] ^ 1]) + whole[81:])
    said = propcite("index", "check", "--json")
    assert said.code == 1
    assert not said.json["whole"]
    assert said.json["faults"][0].startswith(f"{path.name}: payload, bytes 0 to ")
    assert "propcite index check --repair" in propcite("index", "check").err
    mended = propcite("index", "check", "--repair", "--json")
    assert (mended.code, mended.json["whole"], mended.json["encoded_again"]) == (0, True, 3)  # all of a part
    assert propcite("search", QUESTION, "-k", "1", "--json").json[0]["title"] == "po"


def test_an_index_is_joined_and_what_was_removed_gives_its_room_back(propcite: Propcite, data: Path) -> None:
    for number in range(8):
        Path(f"{number}.txt").write_text(f"{MUSEUM} This is number {number}.")
    assert propcite("ingest", *(f"{number}.txt" for number in range(8))).code == 0
    assert propcite("remove", "0.txt").code == 0
    said = propcite("index", "compact", "--json").json
    assert said["freed_bytes"] > 0
    assert (said["segments"], propcite("index", "stats", "--json").json["deleted"]) == (1, 0)
    assert "bytes" not in propcite("index", "compact").out
    assert data.is_dir()


@pytest.mark.parametrize("regime", ["exact", "tokens", "faiss"])
@pytest.mark.parametrize("bits", ["16", "8", "4"])
def test_an_index_of_every_kind_finds_the_same(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regime: str, bits: str
) -> None:
    (tmp_path / "po.txt").write_text(PO, "utf-8")
    (tmp_path / "museum.txt").write_text(MUSEUM, "utf-8")
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "of-this-kind"))
    monkeypatch.setenv("PROPCITE_INDEX", regime)
    monkeypatch.setenv("PROPCITE_INDEX_BITS", bits)
    assert propcite("ingest", str(tmp_path / "po.txt"), str(tmp_path / "museum.txt")).code == 0
    stats = propcite("index", "stats", "--json").json
    assert (stats["regime"], stats["bits"]) == (regime, [int(bits)])
    for level in ("passage", "sentence", "proposition"):
        best = propcite("search", QUESTION, "-g", level, "-k", "2", "--json").json
        assert "652" in " ".join(hit["text"] for hit in best)
    assert propcite("index", "check", "--json").json["whole"]


def test_the_commands_are_listed_by_what_they_are_for(propcite: Propcite) -> None:
    text = propcite("--help").out
    places = [text.find(panel.value) for panel in Panel]
    assert -1 not in places
    assert places == sorted(places)
    assert "─ Commands ─" not in text
