"""Fill wordings: `[a|b]` is a choice, `{x}` a field, and `<words>` are what makes a claim wrong where it is wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from propcite.attribution.judges.training.making.rewriting import Draft, Piece, sentence_of
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import (
    CONTRADICTED,
    UNSUPPORTED,
    Scene,
    bad,
    right,
    scene,
    wrong,
)

Fields = Mapping[str, str]
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_DRAWN = frozenset("person surname place country company work month year number".split())
_PART = re.compile(r"\{(\w+)\}|<|>")


@dataclass(frozen=True, slots=True)
class Frame:
    """Evidence whose sentences are parted by `//`, and claims that turn wrong when two fields change places.

    `mirror` names the fields that may change places without harm. `true` and `false` are claims of one label.
    """

    fields: str
    swap: str
    evidence: tuple[str, ...]
    claims: tuple[str, ...]
    mirror: str = ""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    label: str = CONTRADICTED


@dataclass(frozen=True, slots=True)
class Ladder:
    """Wordings of a statement that is held back (`weak`) or made outright (`strong`).

    A `held` claim follows from weak evidence; an `open` one also, but strong evidence rules it out; `plain` claims
    follow from strong evidence alone. `label` is that of a plain claim on weak evidence.
    """

    weak: tuple[str, ...]
    strong: tuple[str, ...]
    held: tuple[str, ...]
    open: tuple[str, ...]
    plain: tuple[str, ...]
    fields: str = "a=person"
    label: str = UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject and statements about it, each "base third past rest", that do not bear on one another."""

    subject: str
    statements: tuple[str, ...]


def topics(text: str) -> tuple[Topic, ...]:
    """Read topics, one a line: the subject and its statements, parted by `|`."""
    lines = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
    return tuple(Topic(first, tuple(others)) for first, *others in lines)


def draw(spec: str, names: Names, rng: random.Random) -> dict[str, str]:
    """Draw the fields of a spec such as `a=person n=number:2:9 x,y=red,blue,green`; names differ from each other."""
    fields: dict[str, str] = {}
    for item in spec.split():
        keys, _, source = item.partition("=")
        wanted = keys.split(",")
        if len(wanted) == 1 and "," not in source and source not in _DRAWN and ":" not in source:
            values = [source]
        elif "," in source:
            values = rng.sample(source.split(","), len(wanted))
        else:
            values = [_name(source, names) for _ in wanted]
        if "<" in source:
            values.sort()
        fields.update(zip(wanted, (value.replace("_", " ") for value in values), strict=True))
    return fields


def _name(source: str, names: Names) -> str:
    kind, *limits = source.rstrip("<").split(":")
    if kind in {"year", "number"}:
        return str(getattr(names, kind)(*map(int, limits)))
    return str(getattr(names, kind)())


def pieces_in(template: str, fields: Fields, rng: random.Random, marked: Collection[str], literal: bool) -> list[Piece]:
    """Return the pieces of a template; the marked fields, and with `literal` the words in `<>`, are wrong."""
    text = _CHOICE.sub(lambda found: rng.choice(found[1].split("|")), template)
    pieces, at, inside = [], 0, False
    for found in [*_PART.finditer(text), None]:
        words = text[at : found.start() if found else None]
        pieces.append(bad(words) if inside and literal else Piece(words))
        if not found:
            break
        at = found.end()
        if found[1]:
            is_wrong = found[1] in marked or (inside and literal)
            pieces.append(Piece(fields[found[1]], wrong=is_wrong))
        else:
            inside = found[0] == "<"
    return [piece for piece in pieces if piece.text]


def sentences(template: str, fields: Fields, rng: random.Random) -> list[str]:
    """Return the sentences of an evidence wording."""
    made = [sentence_of(pieces_in(part.strip(), fields, rng, (), False)) for part in template.split("//")]
    if None in made:
        raise ValueError(f"no sentence: {template}")
    return [found[0] for found in made if found is not None]


def true_claim(kind: str, template: str, fields: Fields, rng: random.Random) -> list[Draft]:
    return right(kind, "", *(piece.text for piece in pieces_in(template, fields, rng, (), False)))


def false_claim(
    kind: str,
    template: str,
    fields: Fields,
    rng: random.Random,
    marked: Collection[str] = (),
    label: str = CONTRADICTED,
) -> list[Draft]:
    """Return a wrong claim; without marked fields the words in `<>` are wrong."""
    made = pieces_in(template, fields, rng, marked, literal=not marked)
    return wrong(kind, *made, label=label) if any(piece.wrong for piece in made) else []


def exchange(fields: Fields, pairs: str) -> dict[str, str]:
    """Let fields change places: `x y, a b`."""
    changed = dict(fields)
    for one, other in (pair.split() for pair in pairs.split(",") if pair):
        changed[one], changed[other] = fields[other], fields[one]
    return changed


def exchanged(kind: str, frames: Sequence[Frame], names: Names, rng: random.Random) -> Iterator[Scene]:
    """Yield a scene of one frame: claims as the evidence has it, and claims with two fields exchanged."""
    frame = rng.choice(frames)
    fields = draw(frame.fields, names, rng)
    told = sentences(rng.choice(frame.evidence), fields, rng)
    if frame.mirror and rng.random() < 0.5:
        fields = exchange(fields, frame.mirror)
    wordings = rng.sample(frame.claims, min(rng.choice((3, 4)), len(frame.claims)))
    swapped, marked = exchange(fields, frame.swap), frame.swap.replace(",", " ").split()
    drafts = [true_claim(kind, wording, fields, rng) for wording in wordings[:2]]
    drafts += [
        false_claim(kind, wording, swapped, rng, marked, frame.label) for wording in (wordings[0], *wordings[2:])
    ]
    if frame.true and rng.random() < 0.6:
        drafts.append(true_claim(kind, rng.choice(frame.true), fields, rng))
    if frame.false and (not frame.swap or rng.random() < 0.6):
        wrongs = rng.sample(frame.false, 1 if frame.swap else 2)
        drafts.extend(false_claim(kind, wording, fields, rng, (), frame.label) for wording in wrongs)
    yield scene(told, *drafts)


def laddered(
    kind: str, ladders: Sequence[Ladder], bank: Sequence[Topic], names: Names, rng: random.Random
) -> Iterator[Scene]:
    """Yield a scene with a statement held back, often one made outright, and claims of both and of one never made."""
    ladder, topic = rng.choice(ladders), rng.choice(bank)
    shared = draw(f"{ladder.fields} p=place c=company", names, rng)
    weak, strong, absent = (_stated(text, topic, shared) for text in rng.sample(topic.statements, 3))
    told = [sentences(rng.choice(ladder.weak), weak, rng)]
    drafts = [
        true_claim(kind, rng.choice(rng.choice([some for some in (ladder.held, ladder.open) if some])), weak, rng),
        false_claim(kind, rng.choice(ladder.plain), weak, rng, label=ladder.label),
    ]
    if rng.random() < 0.85:
        told.append(sentences(rng.choice(ladder.strong), strong, rng))
        wordings = rng.sample(ladder.plain, rng.choice((1, 1, 1, 2)))
        drafts.extend(true_claim(kind, wording, strong, rng) for wording in wordings)
        if ladder.open and rng.random() < 0.6:
            drafts.append(false_claim(kind, rng.choice(ladder.open), strong, rng))
    rng.shuffle(told)
    if ladder.held and rng.random() < 0.6:
        marked = ("base", "fin", "past", "rest", "turn", "turned")
        drafts.append(false_claim(kind, rng.choice(ladder.held), absent, rng, marked, UNSUPPORTED))
    yield scene([one for group in told for one in group], *drafts)


def _stated(statement: str, topic: Topic, shared: Fields) -> dict[str, str]:
    """Return the fields of a statement about a topic."""
    base, third, past, rest = statement.split(" ", 3)
    turn, turned = ("a fall", "fell") if base in {"lower", "cut"} else ("a rise", "rose")
    subject = topic.subject.format(**shared)
    return {
        **shared,
        "s": subject,
        "base": base,
        "fin": third,
        "past": past,
        "rest": rest.format(**shared),
        "turn": turn,
        "turned": turned,
    }
