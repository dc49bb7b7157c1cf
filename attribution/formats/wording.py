"""Phrases of reports: the verdict on a fact, and the place of a quote in its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence, Label, Verdict
from propcite.attribution.judges import NOT_JUDGED
from propcite.attribution.question_parts import Answered
from propcite.retrieval.text import Passage, Span

# A sign and words per verdict: colour is never the only signal.
SIGNS = {
    Label.SUPPORTED: ("✓", "supported"),
    Label.PARTLY: ("◐", "partly supported"),
    Label.UNSUPPORTED: ("○", "no support found"),
    Label.CONTRADICTED: ("✗", "contradicted"),
    Label.UNCHECKED: ("?", "not checked"),
}
ANSWERED_SIGNS = {Answered.YES: "✓", Answered.PARTLY: "◐", Answered.NO: "○"}
ANSWERED_LINES = {
    Answered.YES: "Answers the question",
    Answered.PARTLY: "May answer only part of the question",
    Answered.NO: "Does not seem to answer the question",
}
ELSEWHERE = "found elsewhere"  # not in a passage that the writer of the answer had
EXTRACTIVE = "extractive"  # the generator that answers in the sources' own words
MAX_NAMED = 5  # other places of the same words

_COUNTED = (Label.CONTRADICTED, Label.UNCHECKED)
_NEAREST = {
    Label.CONTRADICTED: "The nearest source says otherwise",
    Label.PARTLY: "The nearest source says part of it",
}


def label_of(cited: CitedProposition) -> Label:
    return cited.verdict.label if cited.verdict else Label.UNSUPPORTED


def nearest_line(cited: CitedProposition) -> str:
    """Say what the nearest source of a fact without support says, without a stop."""
    reason = cited.verdict.reason if cited.verdict else ""
    is_read = not reason.startswith(NOT_JUDGED)
    if label_of(cited) is Label.UNCHECKED and is_read:
        return "Part of the documents could not be searched"
    if not is_read:
        return (
            "The nearest source, with which it was not compared" if cited.nearest else "No source was compared with it"
        )
    if cited.nearest is None:
        return "Nothing that comes near it was found"
    return _NEAREST.get(label_of(cited), "The nearest source does not support it")


def reason_of(verdict: Verdict | None, *, of_text: bool = False) -> str:
    """Return the reason of a verdict, of a text that answers no question in its words; empty where none is given.

    >>> reason_of(Verdict(Label.CONTRADICTED, 0.1, "source says 14 May; answer says 21 May"), of_text=True)
    'source says 14 May; text says 21 May'
    """
    reason = verdict.reason if verdict else ""
    return reason.replace("; answer says ", "; text says ", 1) if of_text else reason


def answered_line(answer: CitedAnswer) -> str:
    """Say whether the answer answers its question, and what it leaves open; empty where that is not known.

    Where it only gives the nearest words, they may not answer.

    >>> from propcite import QuestionPart
    >>> part = QuestionPart("When was it finished?", Answered.YES, 0.9)
    >>> answered_line(CitedAnswer("In 2024.", parts=(part,)))
    'Answers the question'
    >>> answered_line(CitedAnswer("In 2024.", parts=(part, QuestionPart("What did it cost?", Answered.NO, 0.1))))
    'Answers 1 of 2 parts of the question, not: What did it cost?'
    """
    if answer.answered is None or answer.is_empty:
        return ""
    if answer.abstained:
        return "May not answer the question"
    if len(answer.parts) == 1:
        return ANSWERED_LINES[answer.answered]
    open_parts = [part for part in answer.parts if part.answered is not Answered.YES]
    if not open_parts:
        return f"Answers all {len(answer.parts)} parts of the question"
    number = len(answer.parts) - len(open_parts)
    left = " ".join(part.question for part in open_parts)
    return f"Answers {number} of {len(answer.parts)} parts of the question, not: {left}"


def summary_line(answer: CitedAnswer) -> str:
    """Say whether the question is answered, and how much of the answer has support."""
    return " · ".join(filter(None, [answered_line(answer), coverage_line(answer)]))


def coverage_line(answer: CitedAnswer) -> str:
    """Say how many facts have support, how many are contradicted, and how far the judge can be trusted, if known."""
    number = len(answer.facts)
    counts = counts_line(answer, f"{'fact has' if number == 1 else 'facts have'} support")
    return " · ".join(filter(None, [counts or "Nothing here needs support", trust_line(answer)]))


def trust_line(answer: CitedAnswer) -> str:
    """Say how often "supported" is right, and how that was measured; empty where nothing is, or it is not known."""
    return answer.models.get("judge_trust", "") if any(fact.citations for fact in answer.facts) else ""


def counts_line(answer: CitedAnswer, said: str) -> str:
    """Return `3 of 4` and the words `said` for facts with a citation, and how many are in doubt.

    Empty if there are no facts.
    """
    facts = answer.facts
    if not facts:
        return ""
    line = f"{sum(bool(fact.citations) for fact in facts)} of {len(facts)} {said}"
    doubts = [
        f"{number} {SIGNS[label][1]}" for label in _COUNTED if (number := sum(label_of(f) is label for f in facts))
    ]
    return " · ".join([line, *doubts])


def notices(answer: CitedAnswer) -> list[str]:
    """Return what readers must know of how the answer was written, as sentences.

    >>> notices(CitedAnswer("It is", incomplete=True, notes=("the server went away",)))
    ['This answer is incomplete.', 'The server went away.']
    """
    first = ["this answer is incomplete"] if answer.incomplete else []
    return [f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in (*first, *answer.notes) if note.strip()]


def title_of(passage: Passage) -> str:
    return passage.title.strip() or passage.document_id.strip() or passage.id.strip() or "untitled"


def pages_line(pages: Sequence[int]) -> str:
    """Name pages.

    >>> pages_line([]), pages_line([3]), pages_line([3, 4])
    ('', 'page 3', 'pages 3–4')
    """
    if not pages:
        return ""
    return f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}–{pages[-1]}"


def places_line(places: Sequence[str]) -> str:
    """Join named places; of three or more only the first and the last.

    >>> places_line(["slide 3"]), places_line(["row 2", "row 3", "row 4"])
    ('slide 3', 'row 2 to row 4')
    """
    return ", ".join(places) if len(places) < 3 else f"{places[0]} to {places[-1]}"


def location_of(passage: Passage, spans: Iterable[Span]) -> str:
    """Return the pages or named places of spans in their source; empty if it has neither."""
    spans = list(spans)
    pages = sorted({page for span in spans for page in passage.pages_of(span)})
    places = dict.fromkeys(place for span in sorted(spans) for place in passage.places_of(span))
    return ", ".join(filter(None, [pages_line(pages), places_line(list(places))]))


def copies_line(evidence: Evidence, names: Mapping[str, str] | None = None) -> str:
    """Name the other places of the same words: `also in Minutes, page 3; Press release`; empty where there are none.

    `names` maps document ids to names; other documents have their titles.
    """
    places = dict.fromkeys(copy_name(copy, names or {}) for copy in evidence.copies)
    more = [f"{len(places) - MAX_NAMED} more"] if len(places) > MAX_NAMED else []
    return f"also in {'; '.join([*list(places)[:MAX_NAMED], *more])}" if places else ""


def copy_name(copy: Evidence, names: Mapping[str, str]) -> str:
    """Name a document with the place of evidence in it, and its status."""
    name = names.get(copy.passage.document_id) or title_of(copy.passage).split(" › ")[0]
    return ", ".join(filter(None, [name, location_of(copy.passage, [copy.span]), copy.document_status]))


def place_of(evidence: Evidence) -> str:
    """Return the location of evidence, whether it was found elsewhere, and the status and doubt of its document."""
    elsewhere = "" if evidence.shown else ELSEWHERE
    location = location_of(evidence.passage, [evidence.span])
    return ", ".join(filter(None, [location, elsewhere, evidence.document_status, evidence.doubt]))


def written_by(answer: CitedAnswer) -> str:
    """Name what wrote the answer; empty for a text that was pasted.

    >>> written_by(CitedAnswer("It is.", models={"generator": "openai/qwen3"}))
    'written by the language model qwen3'
    >>> written_by(CitedAnswer("It is.", models={"generator": "extractive"}))
    'written without a language model'
    """
    generator = answer.models.get("generator", "")
    if generator == EXTRACTIVE:
        return "written without a language model"
    return f"written by the language model {generator.partition('/')[2] or generator}" if generator else ""
