"""A citing system of others as a way: a program that reads a line of JSON per answer and writes one.

It gets `{"id": 1, "sentences": ["…"], "passages": [{"title": "…", "text": "…"}]}` and answers, before it reads on,
`{"id": 1, "citations": [[2], [1, 3]]}`: for each sentence the numbers of its passages, the surest first, from 1 on.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from contextlib import suppress
from threading import Event
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.runs.processor_time import add_processor_seconds, seconds_of_program
from propcite.app.processes import killed_after
from propcite.attribution.citations import Proposition
from propcite.attribution.citing.method import HitsByClaim, Method
from propcite.attribution.citing.methods import method_of
from propcite.attribution.citing.splitting import SplitSentence
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Passage, Span

COMMAND = "command="  # in front of a program's command line, where the name of a method is expected
MAX_SECONDS = 600.0  # for one answer
MAX_CITED = 16  # passages per sentence that count


def named_method(name: str) -> Method:
    """Return a method of ours by its name, or the program behind `command=`."""
    return ExternalMethod(name.removeprefix(COMMAND)) if name.startswith(COMMAND) else method_of(name)


class ExternalMethod:
    """A program that finds passages for whole sentences; it is started at the first answer, and once."""

    num_cited = MAX_CITED

    def __init__(self, command: str, seconds: float = MAX_SECONDS) -> None:
        self.name = f"{COMMAND}{command}"
        self._seconds = seconds
        self._answered = 0
        self._cpu_seconds = 0.0  # of the program, as last read
        self._process: subprocess.Popen[str] | None = None
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise AppError(f"{self.name}: {error}") from error
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise AppError(f"{self.name}: there is no such program: give its path and its arguments")

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]:
        return sentence.as_one_claim

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        passages = retriever.passages()
        if not (sentences and passages):
            return [[[]] for _ in sentences]
        request = {
            "id": self._answered + 1,
            "sentences": [sentence.text for sentence in sentences],
            "passages": [{"title": passage.title, "text": passage.text} for passage in passages],
        }
        citations = self._checked(self._reply(json.dumps(request)), request["id"], len(sentences), len(passages))
        self._answered += 1
        return [[[_hit(passages[n - 1], 1 / rank) for rank, n in enumerate(own[:k], 1)]] for own in citations]

    def _reply(self, line: str) -> str:
        """Send a line and return the next line of the program."""
        process = self._process = self._process or self._start()
        late = Event()
        assert process.stdin
        assert process.stdout
        with killed_after(process, late, self._seconds):
            try:
                process.stdin.write(line + "\n")
                process.stdin.flush()
            except OSError:
                pass  # it has ended: its last line, if there is one, is read below
            reply = process.stdout.readline()
        total = seconds_of_program(process.pid)
        add_processor_seconds(total - self._cpu_seconds)
        self._cpu_seconds = max(total, self._cpu_seconds)
        if not reply:
            ended = f"gave no answer in {self._seconds:g} s" if late.is_set() else f"ended with {process.wait()}"
            raise AppError(f"{self.name} {ended} after {self._answered} answers: what is measured is kept")
        return reply

    def _checked(self, reply: str, id_: object, num_sentences: int, num_passages: int) -> list[list[int]]:
        """Return the passages' numbers per sentence; a reply of another form raises AppError."""
        try:
            answer: Any = json.loads(reply)
            if answer["id"] != id_:
                raise ValueError(f"it answers {answer['id']!r} where {id_} was sent")
            citations = [[int(number) for number in own] for own in answer["citations"]]
        except (ValueError, TypeError, KeyError) as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise AppError(f"{self.name}, answer {id_}: {reason}") from error
        if len(citations) != num_sentences:
            raise AppError(f"{self.name}, answer {id_}: {len(citations)} lists for {num_sentences} sentences")
        if wrong := [number for own in citations for number in own if not 1 <= number <= num_passages]:
            raise AppError(f"{self.name}, answer {id_}: passage {wrong[0]} is none of 1 to {num_passages}")
        return citations

    def _start(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(self._arguments, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
        except OSError as error:
            raise AppError(f"{self.name} does not start: {error.strerror}") from error
        weakref.finalize(self, _end, process)
        return process


def _end(process: subprocess.Popen[str]) -> None:
    """End a program by the end of its input, so that it may save what it has; kill it if it stays."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe:
                pipe.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _hit(passage: Passage, score: float) -> Hit:
    return Hit(passage, Granularity.PASSAGE, (Span(0, len(passage.text)).trimmed(passage.text),), score, score)
