"""The folders that `propcite eval beir` reads: BEIR's, LoTTE's, MIRACL's, and questions with answers over passages."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from propcite.app.errors import AppError
from propcite.app.lab.ranking.beir import BeirCollection, Query, passage_of, read_beir, read_grades, rows_of
from propcite.app.lab.runs.inputs import file_digest
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.text import Passage

LOTTE = "collection.tsv"
ANSWERED = (".qa.csv", ".json")  # files of questions with answers: DPR's and EntityQuestions'
PASSAGES = "psgs*.tsv*"  # DPR's passages
TOPICS = "topics"  # MIRACL's folder of queries
MIRACL = (
    "MIRACL's folder holds topics/topics.NAME-dev.tsv and qrels/qrels.NAME-dev.tsv, "
    "and all docs-*.jsonl.gz stand in it or in the corpus's folder beside it"
)
DEV = "dev"  # MIRACL's judged split by default
SEARCH = "search"  # LoTTE's questions by default; `forum` are the others
_TOKEN = re.compile(r"\w+|[^\w\s]")


def read_collection(folder: Path, split: str = "") -> BeirCollection:
    """Read a folder in any of the layouts; the split names a BEIR split, LoTTE's questions, or a file of questions."""
    if (folder / LOTTE).is_file():
        return read_lotte(folder, split or SEARCH)
    if (folder / TOPICS).is_dir():
        return read_miracl(folder, split)
    if passages := sorted(folder.glob(PASSAGES)):
        return read_answered(folder, passages[0], split)
    return read_beir(folder, split)


def read_lotte(folder: Path, questions: str) -> BeirCollection:
    """Read `collection.tsv`, `questions.search.tsv` and `qas.search.jsonl`, or those of `forum`."""
    files = {
        "corpus": folder / LOTTE,
        "queries": folder / f"questions.{questions}.tsv",
        "qrels": folder / f"qas.{questions}.jsonl",
    }
    for file in files.values():
        if not file.is_file():
            raise AppError(f"{folder} has no {file.name}: LoTTE's questions are search or forum (--split)")
    passages = {id_: Passage(id_, text or ".") for id_, text in _pairs(files["corpus"])}
    texts = dict(_pairs(files["queries"]))
    grades: dict[str, dict[str, int]] = {}
    for number, line in numbered_lines(files["qrels"]):
        try:
            row = json.loads(line)
            query, relevant = str(row["qid"]), [str(id_) for id_ in row["answer_pids"]]
        except (ValueError, KeyError, TypeError) as error:
            form = '{"qid": 0, "query": "…", "answer_pids": [12]}'
            raise AppError(f"{files['qrels']}, line {number}: a row is {form}") from error
        if query not in texts or not passages.keys() >= set(relevant):
            raise AppError(f"{files['qrels']}, line {number}: it names a question or passage that is not there")
        grades[query] = dict.fromkeys(relevant, 1)
    queries = tuple(Query(id_, text, grades[id_]) for id_, text in texts.items() if grades.get(id_))
    whole = folder.resolve()
    name = f"{whole.parent.name}-{whole.name}-{questions}"  # lotte/writing/test: the domain, and the part
    return _collection(name, passages.values(), queries, files)


def read_miracl(folder: Path, split: str) -> BeirCollection:
    """Read `topics/*-dev.tsv`, `qrels/*-dev.tsv` and the shards of the corpus; the split is `dev` or the only one."""
    judged = {path.stem.rpartition("-")[2]: path for path in sorted((folder / "qrels").glob("qrels.*.tsv"))}
    name = split or (DEV if DEV in judged else next(iter(judged), "") if len(judged) == 1 else "")
    if name not in judged:
        raise AppError(f"{folder} has the judged splits {', '.join(judged) or 'none'}: name one by --split; {MIRACL}")
    qrels = judged[name]
    topics = folder / TOPICS / f"topics{qrels.name.removeprefix('qrels')}"
    if not topics.is_file():
        raise AppError(f"{folder} has no {TOPICS}/{topics.name}: {MIRACL}")
    whole = folder.resolve()
    beside = whole.with_name(whole.name.replace("miracl-", "miracl-corpus-", 1))
    shards = next((found for place in (whole, beside) if (found := sorted(place.glob("docs-*.jsonl*")))), [])
    if not shards:
        raise AppError(f"{folder} has no docs-*.jsonl[.gz], nor has {beside.name} beside it: {MIRACL}")
    passages: dict[str, Passage] = {}
    for shard in shards:
        for id_, row, number in rows_of(shard, "docid", MIRACL):
            if id_ in passages:
                raise AppError(f"{shard}, line {number}: the docid {id_!r} is there twice: take each shard once")
            passages[id_] = passage_of(id_, row, shard, number)
    texts = dict(_pairs(topics))
    grades = read_grades(qrels, passages, texts, MIRACL)
    queries = tuple(Query(id_, text, grades[id_]) for id_, text in texts.items() if id_ in grades)
    files = {"queries": topics, "qrels": qrels}
    one = _collection(f"{whole.name}-{name}", passages.values(), queries, files)
    corpus = hashlib.sha256("".join(map(file_digest, shards)).encode()).hexdigest()
    return replace(one, digests={"corpus": corpus, **one.digests})


def read_answered(folder: Path, passages: Path, split: str) -> BeirCollection:
    """Read DPR's passages with questions whose answers are texts: a passage that holds one is relevant."""
    files = [path for path in sorted(folder.iterdir()) if path.name.endswith(ANSWERED)]
    chosen = [path for path in files if path.name.split(".")[0] == split] if split else files
    if len(chosen) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise AppError(
            f"{folder} must have one file of questions, *.qa.csv or *.json (it has {names}): name it by --split"
        )
    texts = {id_: Passage(id_, text or ".", title) for id_, text, title in _dpr_passages(passages)}
    try:
        questions = list(_questions(chosen[0]))
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, csv.Error) as error:
        raise AppError(
            f"{chosen[0]} cannot be read ({error}): a line is a question, a tab and a list of answers, "
            'in JSON a row is {"question": "…", "answers": ["…"]}'
        ) from error
    queries = tuple(Query(str(n), text, {}, answers) for n, (text, answers) in enumerate(questions, 1) if answers)
    name = f"{folder.resolve().name}-{chosen[0].name.split('.')[0]}"
    return _collection(name, texts.values(), queries, {"corpus": passages, "queries": chosen[0]})


def _questions(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    if path.suffix == ".json":
        for row in json.loads(path.read_text("utf-8")):
            yield row["question"], tuple(row["answers"])
        return
    with path.open(encoding="utf-8", newline="") as file:
        for text, answers in csv.reader(file, delimiter="\t"):
            yield text, tuple(ast.literal_eval(answers))


def _dpr_passages(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield id, text and title of each passage behind the header."""
    for number, line in numbered_lines(path):
        cells = next(csv.reader([line], delimiter="\t"))
        if len(cells) != 3:
            raise AppError(f"{path}, line {number}: a line is id, text and title, with tabs")
        if cells[0] != "id":
            yield cells[0], cells[1], cells[2]


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each line."""
    for number, line in numbered_lines(path):
        id_, tab, text = line.partition("\t")
        if not tab:
            raise AppError(f"{path}, line {number}: a line is an id, a tab and a text")
        yield id_, text


def _collection(
    name: str, passages: Iterable[Passage], queries: tuple[Query, ...], files: Mapping[str, Path]
) -> BeirCollection:
    if not queries:
        raise AppError(f"{files['queries']} has no question with a relevant passage or an answer")
    return BeirCollection(name, tuple(passages), queries, {kind: file_digest(file) for kind, file in files.items()})


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Return whether a text holds one of the answers, word by word, whatever their case and accents' coding.

    >>> holds_answer("It opened in São Paulo.", ["sao paulo", "são paulo"]), holds_answer("Romeo", ["Rome"])
    (True, False)
    """
    words = _tokens(text)
    return any(_is_inside(_tokens(answer), words) for answer in answers)


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(unicodedata.normalize("NFD", text).lower()))


def _is_inside(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    return bool(few) and any(many[i : i + len(few)] == few for i in range(len(many) - len(few) + 1))
