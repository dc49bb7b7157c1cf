"""The shipped question reader: what answers in a text, whether any of it does, and whether an answer answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from timing import assert_grows_with_its_size

from propcite.attribution.citations import Label
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import AnswerDone
from propcite.attribution.propcite import PropCite
from propcite.attribution.question_parts import Answered
from propcite.attribution.questions.reader import MAX_WORDS, QuestionReader, Reading, Text, grouped
from propcite.attribution.questions.relevance import AnswerReading, answered_parts, unanswered
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Span

BARRIER = (
    "The tidal barrier was finished on 18 October 2024. It has fourteen gates of steel. Pellin Hydraulics built the "
    "gates. The work cost 212 million euros, a tenth more than Council had set aside. When a flood is expected, the "
    "gates are closed within thirty minutes."
)
LONG = " ".join(f"On day {day} of the trial the keepers opened and closed all fourteen gates." for day in range(1, 16))
LEASE = (
    "The tenant pays the rent on the first day of each month. A deposit of three months' rent is due before the keys "
    "are handed over. Either party may end the lease with a notice of six weeks. Dogs are allowed, no others."
)
ASKED = [  # text, question, number of the sentence that answers, its words
    (BARRIER, "When was the barrier finished?", 0, "18 October 2024"),
    (BARRIER, "How many gates does the barrier have?", 1, "fourteen"),
    (BARRIER, "Which company made the gates?", 2, "Pellin Hydraulics"),
    (BARRIER, "What did the barrier cost?", 3, "212 million euros"),
    (BARRIER, "How long does it take to close the gates?", 4, "thirty minutes"),
    (LEASE, "When is the rent due?", 0, "first day"),
    (LEASE, "How much is the deposit?", 1, "three months"),
    (LEASE, "What notice is needed to end the lease?", 2, "six weeks"),
    (LEASE, "Which animals may a tenant keep?", 3, "Dogs"),
]
NOT_ASKED = [
    (BARRIER, "Who designed the gates?"),
    (BARRIER, "How many ships pass the barrier in a year?"),
    (BARRIER, "When was the footbridge finished?"),
    (LEASE, "Who pays for repairs?"),
    (LEASE, "How large is the flat?"),
    (LEASE, "What does the electricity cost?"),
]
MIN_RIGHT = 0.85  # below the results of the shipped weights


def text(words: str) -> Text:
    return Text(words, sentences=tuple(split_sentences(words)))


@pytest.fixture(scope="module")
def reader() -> QuestionReader:
    return QuestionReader()


def test_the_sentence_and_the_words_that_answer_are_found(reader: QuestionReader) -> None:
    readings = reader.read([(question, text(words)) for words, question, *_ in ASKED])
    right_sentences = right_words = 0
    for (words, _, number, answer), reading in zip(ASKED, readings, strict=True):
        best = max(range(len(reading.sentences)), key=lambda n: reading.sentences[n].answers)
        right_sentences += best == number
        span = reading.sentences[number].words
        right_words += span is not None and answer in span.of(words)
    assert right_sentences >= MIN_RIGHT * len(ASKED)
    assert right_words >= MIN_RIGHT * len(ASKED)


def test_a_text_that_answers_is_told_from_one_that_does_not(reader: QuestionReader) -> None:
    yes = [r.answers for r in reader.read([(question, text(words)) for words, question, *_ in ASKED])]
    no = [r.answers for r in reader.read([(question, text(words)) for words, question in NOT_ASKED])]
    ordered = [one > other for one in yes for other in no]
    assert sum(ordered) >= MIN_RIGHT * len(ordered)


def test_a_text_reads_the_same_alone_and_among_others(reader: QuestionReader) -> None:
    pairs = [(question, text(words)) for words, question, *_ in ASKED]
    together, alone = reader.read(pairs), [reader.read([pair])[0] for pair in pairs]
    assert [r.answers for r in together] == pytest.approx([r.answers for r in alone], abs=0.2)


def test_a_long_text_is_read_in_parts_and_places_stay_right(reader: QuestionReader) -> None:
    words = f"{LEASE} {'Nothing happened on that day. ' * 60}{BARRIER}"
    spans = split_sentences(words)
    asked = [(question, answer) for whole, question, _, answer in ASKED if whole == BARRIER]
    right = 0
    for (_, answer), reading in zip(asked, reader.read([(q, text(words)) for q, _ in asked]), strict=True):
        assert len(reading.sentences) == len(spans) > MAX_WORDS / 5
        best = max(reading.sentences, key=lambda sentence: sentence.answers)
        right += best.words is not None and answer in best.words.of(words)
    assert right >= len(asked) - 1


@pytest.mark.parametrize("question", ["x" * 20_000, "é " * 9_000, "[SEP] [CLS] </s>", "a", " ", "\ud800"])
def test_any_question_can_be_read(reader: QuestionReader, question: str) -> None:
    (reading,) = reader.read([(question, text(BARRIER))])
    assert len(reading.sentences) == 5


def test_a_text_without_sentences_answers_nothing(reader: QuestionReader) -> None:
    (reading,) = reader.read([("Why?", Text(""))])
    assert reading.sentences == ()
    assert reading.answers < 0
    assert reader.read([]) == []


def test_sentences_are_grouped_without_a_gap() -> None:
    words = "one two three. " * 100
    spans = split_sentences(words)
    groups = grouped(words, spans)
    assert [span for group in groups for span in group] == spans
    assert max(len("".join(s.of(words) for s in group).split()) for group in groups) <= MAX_WORDS
    assert grouped("", []) == []
    assert grouped("a", [Span(0, 0), Span(0, 1)]) == [[Span(0, 0), Span(0, 1)]]


def test_an_answer_is_judged_per_thing_that_was_asked(reader: QuestionReader) -> None:
    answer = "The barrier was finished on 18 October 2024."
    question = "When was the barrier finished, and what did it cost?"
    finished, cost = answered_parts(reader, question, answer, [Span(0, len(answer))])
    assert (finished.question, finished.answered, finished.span) == (
        "When was the barrier finished?", Answered.YES, Span(0, len(answer)),
    )  # fmt: skip
    assert cost.question == "What did the barrier cost?"
    assert cost.answered is not Answered.YES


def test_a_true_sentence_that_says_something_else_does_not_answer(reader: QuestionReader) -> None:
    answer = "The 2010 World Cup was the 19th."
    (part,) = answered_parts(reader, "How often has Brazil won the World Cup?", answer, [Span(0, len(answer))])
    assert part.answered is not Answered.YES


def test_words_that_the_sources_do_not_say_it_answer_nothing(reader: QuestionReader) -> None:
    question = "How high is the barrier and what did it cost?"
    answer = "The barrier is 6.4 metres high.\nThe collection does not say: What did the barrier cost?"
    high, cost = answered_parts(reader, question, answer, split_sentences(answer))
    assert (high.answered, cost.answered) == (Answered.YES, Answered.NO)


def test_nothing_answers_without_text_and_no_question_has_no_parts(reader: QuestionReader) -> None:
    (part,) = answered_parts(reader, "When was it finished?", "", [])
    assert (part.answered, part.span) == (Answered.NO, None)
    assert answered_parts(reader, " ", BARRIER, split_sentences(BARRIER)) == ()
    assert [part.answered for part in unanswered("When was it finished, and what did it cost?")] == [Answered.NO] * 2


def test_cited_answers_say_whether_they_answer_and_only_where_a_question_is_known(encoder: Encoder) -> None:
    propcite = PropCite(encoder, judge=None)
    assert propcite.cite("It has fourteen gates.", [BARRIER]).answered is None
    cited = propcite.cite(
        "It has fourteen gates of steel.", [BARRIER], question="How many gates does the barrier have?"
    )
    assert cited.answered is Answered.YES
    silent = PropCite(encoder, judge=None, question_reader=None)
    assert silent.cite("It has fourteen gates.", [BARRIER], question="How many gates does it have?").parts == ()


class Watched(QuestionReader):
    """A reader that remembers what it read, and in which threads."""

    def __init__(self) -> None:
        super().__init__()
        self.read_texts: list[list[str]] = []
        self.threads: set[threading.Thread] = set()
        self.has_read = threading.Event()

    def read(self, pairs: Sequence[tuple[str, Text]]) -> list[Reading]:
        self.threads.add(threading.current_thread())
        self.read_texts += [[span.of(text.text).strip() for span in text.sentences] for _, text in pairs]
        readings = super().read(pairs)
        if pairs:
            self.has_read.set()
        return readings


def test_an_asyncio_stream_reads_the_question_beside_its_loop(encoder: Encoder) -> None:
    async def words() -> AsyncIterator[str]:
        yield "It has fourteen gates of steel."

    async def answered() -> list[Answered | None]:
        stream = propcite.astream(words(), [BARRIER], question="How many gates does the barrier have?")
        return [event.answer.answered async for event in stream if isinstance(event, AnswerDone)]

    reader = Watched()
    propcite = PropCite(encoder, judge=None, question_reader=reader)
    assert asyncio.run(answered()) == [Answered.YES]
    assert reader.threads
    assert threading.current_thread() not in reader.threads


def test_a_long_answer_is_read_while_it_is_written(encoder: Encoder) -> None:
    """The parts that no later sentence changes are read before the end, each once, after the sentence before it."""
    sentences = split_sentences(LONG)
    question, reader = "Who designed the gates?", Watched()
    propcite = PropCite(encoder, judge=None, question_reader=reader)

    def pieces() -> Iterator[str]:
        for span in sentences[:-1]:
            yield span.of(LONG)
        assert reader.has_read.wait(60)
        yield sentences[-1].of(LONG)

    *_, done = propcite.stream(pieces(), [BARRIER], question=question)
    assert isinstance(done, AnswerDone)
    first, *later = sorted(reader.read_texts, key=lambda group: LONG.index(group[0]))
    assert [*first, *(text for group in later for text in group[1:])] == [s.of(LONG).strip() for s in sentences]
    assert [group[0] for group in later] == [group[-1] for group in (first, *later)][:-1]
    whole = propcite.cite(LONG, [BARRIER], question=question)
    assert [(p.answered, p.span) for p in done.answer.parts] == [(p.answered, p.span) for p in whole.parts]


def test_what_is_answered_is_not_looked_for_again() -> None:
    reader, answer = Watched(), f"{BARRIER} {LONG}"
    sentences = split_sentences(answer)
    (finished,) = answered_parts(reader, "When was the barrier finished?", answer, sentences)
    assert (finished.answered, finished.span) == (Answered.YES, sentences[0])
    assert len(reader.read_texts) == 1
    (designed,) = answered_parts(reader, "How many ships pass the barrier in a year?", answer, sentences)
    assert designed.answered is not Answered.YES
    assert {text for group in reader.read_texts[1:] for text in group} == {s.of(answer).strip() for s in sentences}


def test_reading_ahead_takes_time_by_the_sentence(reader: QuestionReader) -> None:
    sentences = split_sentences(answer := " ".join([BARRIER, *(f"Gate {n} was painted." for n in range(2000))]))

    def read(number: int) -> None:
        reading = AnswerReading(reader, "When was the barrier finished?")
        for end in range(1, number):
            reading.ahead(answer, sentences[:end])
        (part,) = reading.parts(answer, sentences[:number])
        assert (part.answered, part.span) == (Answered.YES, sentences[0])

    assert_grows_with_its_size(read, 500, 2000)


def test_words_without_a_verb_are_judged_as_the_answer_to_the_question() -> None:
    propcite, question = PropCite.default(), "Which company made the gates?"
    right = propcite.cite("Pellin Hydraulics.", [BARRIER], question=question)
    assert [fact.proposition.text for fact in right.facts] == ["Which company made the gates: Pellin Hydraulics."]
    assert right.uncited == ()
    wrong = propcite.cite("Council.", [BARRIER], question=question)
    assert [fact.verdict and fact.verdict.label for fact in wrong.facts] != [Label.SUPPORTED]


def test_words_that_are_a_sentence_of_the_source_need_no_question() -> None:
    source = ["Editor:\n- Raymond Hettinger\n- Two others helped with the text."]
    cited = PropCite.default().cite("Raymond Hettinger.", source, question="Who edited it?")
    assert [(fact.proposition.text, len(fact.citations)) for fact in cited.facts] == [("Raymond Hettinger.", 1)]


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(AttributionError, match="damaged or missing") as raised:
        QuestionReader(tmp_path / "none.safetensors").read([("Why?", text(BARRIER))])
    assert "\n" not in str(raised.value)
