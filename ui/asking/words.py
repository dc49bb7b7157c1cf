"""Wording of a conversation: its turns, its steps, how much of an answer is supported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from propcite.app.answering.steps import STEPS, Step, duration
from propcite.app.library.store import AnswerInfo, Turn
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.formats.wording import EXTRACTIVE, label_of
from propcite.ui.words import counted, percent

READ = "read"  # a step of the page, before those of the answer, where files were sent with a question
NOW = {
    READ: "Reading what you sent",
    "understand": "Reading the question in its conversation",
    "retrieve": "Finding passages",
    "write": "Writing",
    "split": "Splitting it into single statements",
    "cite": "Finding the words for each statement",
    "judge": "Checking that they support it",
}
DONE = {
    READ: "Read what you sent",
    "understand": "Understood the question",
    "retrieve": "Found passages",
    "write": "Wrote",
    "split": "Split it into single statements",
    "cite": "Found the words for each statement",
    "judge": "Checked that they support it",
}
ORDER = (
    Label.SUPPORTED,
    Label.CONTRADICTED,
    Label.PARTLY,
    Label.UNCHECKED,
    Label.UNSUPPORTED,
)  # the first label that covers a word counts
SHARES = {
    Label.SUPPORTED: "supported",
    Label.PARTLY: "partly supported",
    Label.UNSUPPORTED: "without support",
    Label.CONTRADICTED: "contradicted",
    Label.UNCHECKED: "not checked",
}
SHORT = 160  # characters of an earlier answer
SILENT_S = 6.0  # without a word of the language model, after which the page says so


def step_line(step: Step) -> str:
    """Return a step as one line.

    >>> step_line(Step("retrieve", 61.0)), step_line(Step("write", 1200.0, done=False))
    ('✓ Found passages · 61 ms', '▸ Writing… 1.2 s')
    """
    if step.done:
        return f"✓ {DONE[step.name]} · {duration(step.ms)}"
    return f"▸ {NOW[step.name]}… {duration(step.ms) if step.ms else ''}".rstrip()


def step_lines(begun: Sequence[Step], *, follows: bool) -> list[str]:
    """Return the steps that have begun, then those to come.

    >>> step_lines([Step("retrieve", 61.0)], follows=False)[:2]
    ['✓ Found passages · 61 ms', '○ Writing']
    """
    by_name = {step.name: step for step in begun}
    shown = [name for name in (READ, *STEPS) if name in by_name or name not in (READ, "" if follows else "understand")]
    return [step_line(by_name[name]) if name in by_name else f"○ {NOW[name]}" for name in shown]


def shares(answer: CitedAnswer) -> dict[Label, float]:
    """Return the share of each verdict among the words that need support; they sum to 1, or there are none."""
    marks = bytearray(len(answer.text))
    for fact in answer.facts:
        label = Label.SUPPORTED if fact.citations else label_of(fact)
        if label is Label.SUPPORTED and not fact.citations:
            label = Label.UNSUPPORTED
        rank = len(ORDER) - ORDER.index(label)
        for span in fact.proposition.spans:
            for at in range(span.start, span.end):
                marks[at] = max(marks[at], rank)
    counts = {label: sum(m == len(ORDER) - i for m in marks) for i, label in enumerate(ORDER)}
    total = sum(counts.values())
    return {label: count / total for label, count in counts.items() if count} if total else {}


def is_quoted(answer: CitedAnswer) -> bool:
    """Return whether the answer is made of its sources' own sentences, all of which were found again."""
    return answer.models.get("generator") == EXTRACTIVE and not answer.uncited


def covered_line(held: Mapping[Label, float]) -> str:
    """Say how much of an answer is supported.

    >>> covered_line({Label.SUPPORTED: 1.0}), covered_line({Label.SUPPORTED: 0.86, Label.CONTRADICTED: 0.14})
    ('All of it is supported', '86% of it is supported, 14% contradicted')
    """
    if not held:
        return "Nothing in it needs support"
    if held.keys() == {Label.UNCHECKED}:
        return "Nothing in it was checked"
    if len(held) == 1:
        return f"All of it is {SHARES[next(iter(held))]}"
    first, *rest = [f"{percent(share)} {SHARES[label]}" for label, share in held.items()]
    number, _, what = first.partition(" ")
    return ", ".join([f"{number} of it is {what}", *rest])


def short(text: str, max_length: int = SHORT) -> str:
    """Shorten a text at a word.

    >>> short("one two three", 9)
    'one two …'
    """
    line = " ".join(text.split())
    return line if len(line) <= max_length else f"{line[:max_length].rsplit(' ', 1)[0]} …"


def turn_line(turn: Turn) -> str:
    """Return an earlier answer in one line."""
    return short(turn.text)


def turn_help(turn: Turn) -> str:
    """Return the tooltip of an earlier turn.

    >>> turn_help(Turn("a", "How high?", "How high is it?", "6 metres.", num_facts=2, num_cited=1))
    'Open this answer · 1 of 2 statements supported'
    """
    held = f" · {turn.num_cited} of {counted(turn.num_facts, 'statement')} supported" if turn.num_facts else ""
    return f"Open this answer{'' if turn.abstained else held}"


def history_label(info: AnswerInfo) -> str:
    return history_label_of(info.question, info.after)


def history_label_of(question: str, after: str) -> str:
    return f"↳ {short(question, 90)}" if after else short(question, 90)


def silence_line(seconds: float, generator: str) -> str:
    """Say that a language model takes its time; empty before it does.

    >>> silence_line(12.3, "openai").partition(".")[0], silence_line(2.0, "openai"), silence_line(12.3, "extractive")
    ('The language model has said nothing for 12 s', '', '')
    """
    if seconds < SILENT_S or generator == EXTRACTIVE:
        return ""
    return (
        f"The language model has said nothing for {seconds:.0f} s. "
        "You may wait, or have the answer in the words of the sources."
    )


def history_help(info: AnswerInfo) -> str:
    facts = f" · {info.num_cited} of {counted(info.num_facts, 'statement')} supported" if info.num_facts else ""
    return f"{info.asked_at.astimezone():%d %b %Y, %H:%M} · {info.collection}{facts}"


def page_line(first: int, shown: int, total: int) -> str:
    """Say which items a page shows.

    >>> page_line(0, 10, 52), page_line(0, 1, 1)
    ('1 to 10 of 52', '1 of 1')
    """
    return f"{first + 1} to {first + shown} of {total:,}" if shown > 1 else f"{first + shown} of {total:,}"
