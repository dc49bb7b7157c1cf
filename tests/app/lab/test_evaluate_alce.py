"""`propcite eval asqa`, `eli5`, `qampari` and `judge`: files, steps, results and one-line errors."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from alce_reference import reference_score, reference_str_em
from alce_samples import ASQA, ELI5, QAMPARI, results, save
from commanded import commanded
from scripted_llm import Request, ScriptedLlm, error

from propcite.app.errors import AppError
from propcite.app.lab.alce.evaluation import Result, evaluate, evaluate_judge
from propcite.app.lab.alce.files import read_alce, result_json, write_json
from propcite.app.lab.alce.options import EvalOptions, ScoringJudge
from propcite.app.lab.alce.table import as_lines, as_text
from propcite.app.lab.alce.ways import WAYS
from propcite.app.lab.runs.aggregates import costs, total_cost
from propcite.app.library.store import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import PropCiteError

POSTHOC = [way for way in WAYS if way not in ("generate", "repair")]
Evaluate = Callable[..., Result]


@pytest.fixture
def open_parts(tmp_path: Path, encoder: Encoder) -> Iterator[Callable[..., Parts]]:
    there: list[Parts] = []

    def call(**settings: Any) -> Parts:
        chosen = {"data_dir": tmp_path / "data", "splitter": "rules", "judge": "embedded", **settings}
        parts = Parts(load_settings(**chosen))
        parts.__dict__["encoder"] = encoder
        there.append(parts)
        return parts

    yield call
    for parts in there:
        parts.library.close()


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def measure(open_parts: Callable[..., Parts], messages: list[str]) -> Evaluate:
    def call(kind: Any, path: Path, settings: dict[str, Any] | None = None, **options: Any) -> Result:
        options = {"kind": kind, "path": path, "report": messages.append, **options}
        return evaluate(open_parts(**settings or {}), EvalOptions(**options))

    return call


def of(result: Result, way: str) -> dict[str, RunItem]:
    return {item.key: item for item in result.items if item.way == way}


def texts(result: Result, way: str) -> list[str]:
    return [item.output["text"] for item in of(result, way).values()]


def test_files_are_read_and_written_unchanged(tmp_path: Path) -> None:
    result = {**results(ASQA, ["It rained [1]."] * len(ASQA)), "total_cost": 0.5, "data_note": {"a": [1, None]}}
    for name, content in (("a.json", ASQA), ("b.json.gz", ASQA), ("c.json", result), ("d.json.gz", result)):
        path = save(tmp_path / name, content)
        file = read_alce(path)
        assert file.as_json == content
        write_json(tmp_path / f"again-{name}", file.as_json)
        assert read_alce(tmp_path / f"again-{name}").as_json == content
    open_file = gzip.open if path.suffix == ".gz" else open
    assert open_file(path, "rb").read(1) == b"{"


def test_result_files_have_the_fields_that_alce_reads(tmp_path: Path) -> None:
    questions = read_alce(save(tmp_path / "a.json", ASQA)).questions
    content = result_json([q.with_docs(2) for q in questions], ["It rained [1]."] * len(ASQA), {"ndoc": 2})
    assert content["args"] == {"ndoc": 2}
    for item, original in zip(content["data"], ASQA, strict=True):
        assert {**item, "docs": original["docs"]} == {**original, "output": "It rained [1]."}
        assert [doc["title"] for doc in item["docs"]] == [doc["title"] for doc in original["docs"][:2]]


ITEM = ASQA[0]
BAD: list[tuple[Any, str]] = [
    ({"rows": []}, "holds no list of questions"),
    ([], "holds no list of questions"),
    ({"data": {}}, "holds no list of questions"),
    (["a"], "item 1: the item"),
    ([{"docs": []}], "item 1: question"),
    ([{**ITEM, "question": 3}], "item 1: question"),
    ([ITEM, {**ITEM, "sample_id": "x", "docs": [{"title": "no text"}]}], "item 2: docs.0.text"),
    ([{**ITEM, "docs": "none"}], "item 1: docs"),
    ([{**ITEM, "docs": []}], "1 of 1 questions have no docs (river)"),
    ([{k: v for k, v in ITEM.items() if k != "docs"}], "give the file with the passages that were retrieved"),
    ([ITEM, ITEM], "item 2: two items have the id river"),
    ([{"question": "a?", "docs": ITEM["docs"]}] * 2, "item 2: 'a?' is there twice"),
    ([{**ITEM, "question": " "}], "item 1 has an empty question"),
    ([{**ITEM, "qa_pairs": [{"short_answers": "Po"}]}], "item 1: qa_pairs.0.short_answers"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_invalid_items_are_a_one_line_error(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(AppError) as error:
        read_alce(save(tmp_path / "a.json", content))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b'{"question": "a"}\n{"question": "b"}\n', b"[" * 100_000])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_invalid_json_is_a_one_line_error(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(AppError, match=r"is not ALCE's|holds no list") as error:
        read_alce(tmp_path / name)
    assert "\n" not in str(error.value)
    with pytest.raises(AppError, match="cannot read"):
        read_alce(tmp_path / "absent.json")


def test_a_file_of_another_task_is_an_error_with_the_right_command(tmp_path: Path, measure: Evaluate) -> None:
    with pytest.raises(AppError, match="has no qa_pairs, which asqa is measured by: propcite eval eli5"):
        measure("asqa", save(tmp_path / "a.json", ELI5))
    with pytest.raises(AppError, match="has no answers, which qampari is measured by: propcite eval asqa"):
        measure("qampari", save(tmp_path / "b.json", ASQA))


def test_ways_that_need_markers_are_left_out_for_the_extractive_generator(
    tmp_path: Path, measure: Evaluate, messages: list[str]
) -> None:
    asked = [*ASQA[:2], {**ASQA[2], "question": "Who paid for the tunnel under the lake?"}]
    result = measure("asqa", save(tmp_path / "a.json", asked), out=tmp_path / "out")
    assert "left out: generate and repair" in " ".join(messages)
    assert [way for way in dict.fromkeys(i.way for i in result.items) if way in WAYS] == POSTHOC
    for way in POSTHOC:
        items = of(result, way)
        assert list(items) == [item["sample_id"] for item in ASQA]
        for item in items.values():
            assert {"citation_recall", "citation_precision", "citations", "str_em", "rouge_lsum", "length"} <= {
                *item.measures
            }
            assert item.cost["cpu_seconds"] >= 0
    assert of(result, "propcite")["bridge"].measures["citation_recall"] == 1.0
    assert result.run.state == "done"
    assert result.run.judge.startswith("embedded/")
    content = json.loads((tmp_path / "out" / "asqa-propcite-ndoc5.json").read_text())
    assert [item["output"] for item in content["data"]] == texts(result, "propcite")
    text = as_text(result)
    assert f"judge: {result.run.judge}" in text
    assert "propcite+judge*" in text
    assert "* cites by the judge that scores" in text
    assert "the judge's own test" in text
    lines = [json.loads(line) for line in as_lines(result)]
    assert {line["judge"] for line in lines} == {result.run.judge}
    assert {line["way"] for line in lines if line["own_judge"]} == {"propcite+judge"}
    notes = ["by the judge that scores cite: propcite+judge", "1 of 3 answers abstain"]
    assert result.run.about["notes"] == notes  # repair was left out


def test_each_context_size_has_its_own_table(tmp_path: Path, measure: Evaluate, messages: list[str]) -> None:
    result = measure("asqa", save(tmp_path / "a.json", ASQA), contexts=(1, 3), ways=("propcite",))
    assert messages[0] == "2 questions have fewer than 3 docs (bridge, museum): all of theirs are shown"
    assert {item.way for item in result.items if "propcite" in item.way} == {"propcite, 1 docs", "propcite, 3 docs"}
    text = as_text(result)
    assert [table.split(", ")[2] for table in text.split("\n\n")[:2]] == ["1 docs", "3 docs"]
    lines = [json.loads(line) for line in as_lines(result)]
    assert {(line["way"], line["context"]) for line in lines} == {("propcite", "1 docs"), ("propcite", "3 docs")}


OUTPUTS = [
    "The Po is 652 kilometres long [2]. It ends in the Adriatic [1].",
    "",
    "The museum opens at nine [1].\nNothing here counts [1].",
]


def test_released_outputs_are_scored_unchanged_and_cited_again(
    tmp_path: Path, measure: Evaluate, messages: list[str]
) -> None:
    path = save(tmp_path / "a.json", ASQA)
    outputs = save(tmp_path / "r.json", results(ASQA, OUTPUTS))
    result = measure("asqa", path, outputs=outputs)
    assert [i for i in messages if "outputs are empty" in i] == [
        "1 of 3 outputs are empty (bridge): citations leave them out"
    ]
    assert texts(result, "generate") == [OUTPUTS[0], "", "The museum opens at nine [1]."]
    river = of(result, "generate")["river"].measures
    assert (river["citation_recall"], river["citation_precision"]) == (0.5, 0.5)
    assert of(result, "repair")["river"].measures["citation_recall"] == 1.0
    assert of(result, "repair")["river"].output["text"].startswith("The Po is 652 kilometres long [1].")
    assert of(result, "generate")["bridge"].measures["citation_recall"] is None
    assert of(result, "generate")["bridge"].measures["length"] == 0
    assert "[2]" not in of(result, "propcite")["river"].output["text"]
    assert result.run.settings["answers"]["name"] == "r.json"


def test_an_output_without_markers_is_scored_as_it_is(tmp_path: Path, measure: Evaluate) -> None:
    written = ["The Po is 652 km long [1]. It ends in the Adriatic.", "It opened on 21 May 2025.", "At nine [1]."]
    outputs = save(tmp_path / "r.json", results(ASQA, written))
    result = measure("asqa", save(tmp_path / "a.json", ASQA), outputs=outputs, ways=("generate", "repair"))
    for output, item in zip(written, ASQA, strict=True):
        scored = of(result, "generate")[item["sample_id"]]
        holds = {(tuple(one["docs"]), one["text"]): one["holds"] for one in scored.output["judgements"]}
        numbers = list(range(1, len(item["docs"]) + 1))
        sentences = re.findall(r"\S.*?\.", output)
        expected = reference_score(sentences, numbers, lambda docs, text, held=holds: held[docs, text])
        assert (scored.measures["citation_recall"], scored.measures["citation_precision"]) == expected
        assert scored.measures["str_em"] == reference_str_em(output, [p["short_answers"] for p in item["qa_pairs"]])
        assert scored.output["text"] == output
    assert of(result, "generate")["bridge"].measures["citation_recall"] == 0.0  # not left out of the mean
    assert of(result, "repair")["bridge"].output["text"] == "It opened on 21 May 2025 [1]."


def test_outputs_that_do_not_match_the_questions_are_an_error(tmp_path: Path, measure: Evaluate) -> None:
    path = save(tmp_path / "a.json", ASQA)
    with pytest.raises(AppError, match=r"has no output for 1 questions \(museum\)"):
        measure("asqa", path, outputs=save(tmp_path / "r.json", results(ASQA[:2], OUTPUTS[:2])))
    with pytest.raises(AppError, match=r"3 items have no output \(river, bridge, museum\)"):
        measure("asqa", path, outputs=path)
    with pytest.raises(AppError, match="both give the answers"):
        measure("asqa", path, outputs=path, human=True)


def test_each_human_answer_is_an_item(tmp_path: Path, measure: Evaluate) -> None:
    result = measure("asqa", save(tmp_path / "a.json", ASQA), human=True, ways=("propcite", "repair"))
    assert list(of(result, "propcite")) == ["river", "river#2", "bridge", "museum"]
    assert not of(result, "repair")
    assert "rouge_lsum" not in of(result, "propcite")["river"].measures  # it would be compared with itself
    with pytest.raises(AppError, match="only ASQA"):
        measure("eli5", save(tmp_path / "e.json", ELI5), human=True)


def test_eli5_has_claim_recall(tmp_path: Path, measure: Evaluate) -> None:
    outputs = save(tmp_path / "r.json", results(ELI5, ["Terns breed on the gravel roof [1]."]))
    result = measure("eli5", save(tmp_path / "e.json", ELI5), outputs=outputs, ways=("generate", "propcite"))
    (item,) = of(result, "generate").values()
    assert item.measures["claim_recall"] == 0.5
    assert "str_em" not in item.measures
    assert item.measures["rouge_lsum"] is not None


def test_qampari_lists_are_cited_answer_by_answer(tmp_path: Path, measure: Evaluate) -> None:
    outputs = save(tmp_path / "r.json", results(QAMPARI, ["Po [3], Adige [2]."]))
    result = measure("qampari", save(tmp_path / "q.json", QAMPARI), outputs=outputs)
    assert texts(result, "generate") == ["Po [3], Adige [2]."]
    for way in ("postcite", "sentence", "propcite", "repair"):
        names, markers = zip(*(one.split(" [") for one in texts(result, way)[0].rstrip(".").split(", ")), strict=True)
        assert names == ("Po", "Adige")
        assert [marker[0] for marker in markers] == ["1", "2"]
    measures = of(result, "propcite")[QAMPARI[0]["id"]].measures
    assert measures["qampari_precision"] == 1.0
    assert measures["qampari_recall"] == pytest.approx(2 / 3)
    assert "rouge_lsum" not in measures


@pytest.mark.parametrize(("prompt", "used", "ways"), [("cite", "list_cite", 2), ("answer", "list", 1)])
def test_qampari_prompts_ask_for_a_list(
    prompt: str,
    used: str,
    ways: int,
    tmp_path: Path,
    open_parts: Callable[..., Parts],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = save(tmp_path / "q.json", QAMPARI)
    with ScriptedLlm("Po [1], Adige [2]." if prompt == "cite" else "Po, Adige.") as server:
        settings = {"GENERATOR": "openai", "GENERATOR_MODEL": "m", "LLM_URL": server.base_url, "PROMPT": prompt}
        for name, value in {**settings, "DATA_DIR": str(tmp_path / "data"), "SPLITTER": "rules"}.items():
            monkeypatch.setenv(f"PROPCITE_{name}", value)
        arguments = [str(path), "--way", "generate", "--way", "propcite"]
        result = commanded(monkeypatch, capsys)("eval", "qampari", *arguments)
    assert result.code == 0, result.err
    assert "list of them" in server.requests[0].messages[0]["content"]
    run = open_parts().runs.run("last")
    assert run.settings["answers"]["prompt"] == used
    items = {item.way: item for item in open_parts().runs.items(run.id)}
    assert len({"generate", "propcite"} & set(items)) == ways
    assert items["propcite"].output["text"] == "Po [1], Adige [2]."
    assert items["propcite"].measures["qampari_precision"] == 1.0


def test_a_run_with_other_settings_is_refused_while_one_is_unfinished(
    tmp_path: Path, measure: Evaluate, open_parts: Callable[..., Parts]
) -> None:
    path = save(tmp_path / "a.json", ASQA)
    with ScriptedLlm(error(500, "no")) as server:
        settings = {"generator": "openai", "generator_model": "m", "llm_url": server.base_url}
        with pytest.raises(PropCiteError):
            measure("asqa", path, settings, contexts=(2,))
        with pytest.raises(AppError, match=r"is unfinished and had other settings \(context \[2\] -> \[3\]\)"):
            measure("asqa", path, settings, contexts=(3,))
    result = measure("asqa", path, contexts=(3,), ways=("propcite",), new=True)
    assert result.run.state == "done"
    assert len(open_parts().runs.find("asqa", "a.json")) == 2


def test_failed_answers_are_retried_or_counted_as_empty(tmp_path: Path, measure: Evaluate) -> None:
    path = save(tmp_path / "a.json", ASQA)

    def answer(request: Request) -> Any:
        return error(400, "no") if "museum" in request.prompt and refusing else "The Po is 652 kilometres long [1]."

    refusing = True
    with ScriptedLlm(answer) as server:
        settings = {"generator": "openai", "generator_model": "m", "llm_url": server.base_url, "prompt": "cite"}
        with pytest.raises(PropCiteError):
            measure("asqa", path, settings, ways=("generate",))
        result = measure("asqa", path, settings, ways=("generate",), failed_as_empty=True)
        assert texts(result, "generate")[0] == "The Po is 652 kilometres long [1]."
        assert "1 of 3 answers are empty" in as_text(result)
        num_requests = len({request.prompt for request in server.requests})
        assert num_requests == 3


def test_tokens_are_counted_per_answer_and_per_judgement(tmp_path: Path, measure: Evaluate) -> None:
    with ScriptedLlm(_said_of) as server:
        settings = {"generator": "openai", "generator_model": "m", "llm_url": server.base_url, "prompt": "cite"}
        judge = ScoringJudge("llm", "a-judge")
        path = save(tmp_path / "a.json", ASQA)
        result = measure("asqa", path, settings, ways=("generate",), judge=judge, force=True)
    answers = of(result, "written")
    requests = [request for request in server.requests if request.body.get("stream")]
    assert [item.cost["prompt_tokens"] for item in answers.values()] == [
        sum(len(turn["content"].split()) for turn in request.messages)
        for key in answers
        for request in requests
        if next(item["question"] for item in ASQA if item["sample_id"] == key) in request.prompt
    ]
    assert {item.cost["completion_tokens"] for item in answers.values()} == {7}
    by_way = costs(result.items)
    assert by_way["written"]["completion_tokens"] == 21
    judged = [request for request in server.requests if not request.body.get("stream")]
    assert total_cost(by_way)["completion_tokens"] == pytest.approx(21 + 4 * len(judged), abs=0.01)


def _said_of(request: Request) -> str:
    if request.body.get("stream"):
        return "The Po is 652 kilometres long [1]."
    return '{"verdict": "supported", "support": 95}'


def test_a_judge_that_accepts_everything_is_refused_unless_forced(
    tmp_path: Path, measure: Evaluate, open_parts: Callable[..., Parts], messages: list[str]
) -> None:
    path = save(tmp_path / "a.json", ASQA)
    with ScriptedLlm('{"verdict": "supported", "support": 95}') as server:
        settings = {"llm_url": server.base_url}
        options: dict[str, Any] = {"ways": ("postcite",), "judge": ScoringJudge("llm", "yes-sayer")}
        with pytest.raises(AppError, match=r"llm/yes-sayer fails ALCE's shortcuts .*100\.0 recall.* or --force"):
            measure("asqa", path, settings, **options)
        num_requests = len(server.requests)
        assert open_parts().runs.list() == []  # it stands in the way of no other judge
        assert not any("runs show" in line for line in messages)  # nor is it named
        result = measure("asqa", path, settings, force=True, **options)
        assert "FAILED" in as_text(result)
        assert result.own_judge == frozenset()
    assert num_requests


def test_the_shipped_judge_passes_the_shortcuts(
    tmp_path: Path, open_parts: Callable[..., Parts], messages: list[str]
) -> None:
    options = EvalOptions(kind="asqa", path=save(tmp_path / "a.json", ASQA), report=messages.append)
    run, checks = evaluate_judge(open_parts(), options)
    assert [one.check.name for one in checks] == ["itself", "another question's", "another of its own"]
    assert all(one.holds for one in checks)
    assert (run.kind, run.state, run.num_items) == ("judge", "done", 9)


@pytest.mark.parametrize(
    ("ways", "settings", "message"),
    [
        (("postcit",), {}, "there is no way 'postcit'"),
        (("propcite+jugde",), {}, "there is no way 'propcite+jugde'"),
        (("repair",), {"judge": "none"}, "repair needs a judge"),
        (("propcite+judge",), {"judge": "none"}, "needs a judge"),
    ],
)
def test_unknown_ways_and_missing_judges_are_errors(
    tmp_path: Path, measure: Evaluate, ways: Sequence[str], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(AppError, match=re.escape(message)):
        measure("asqa", save(tmp_path / "a.json", ASQA), settings, ways=tuple(ways))


def test_invalid_unicode_and_empty_documents_are_accepted(tmp_path: Path, measure: Evaluate) -> None:
    odd = [
        {"question": "What? \ud800", "docs": [{"text": "", "title": None}, {"text": "…"}], "qa_pairs": []},
        {"question": "Why?", "docs": [{"text": "\0 \ud83d It rained in May.", "title": ""}], "qa_pairs": None},
        *ASQA,
    ]
    outputs = save(tmp_path / "r.json", results(odd, ["\ud800 \0 [1].", "It rained in May [1].", *OUTPUTS]))
    result = measure("asqa", save(tmp_path / "a.json", odd), outputs=outputs)
    assert len(of(result, "propcite")) == 5
    assert of(result, "propcite")["Why?"].measures["citation_recall"] == 1.0
