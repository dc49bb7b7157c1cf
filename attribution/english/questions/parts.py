"""Split a question that asks several things into questions that can each be understood alone."""

from __future__ import annotations

import re

from propcite.attribution.english.questions.follow_ups import Exchange, standalone_question
from propcite.attribution.english.questions.topics import MAX_CHARACTERS

MAX_PARTS = 4
MIN_WORDS = 3  # of a part: "who and when" asks one thing

_ASKS = r"(?:who(?:se|m)?|what|which|when|where|why|how)\b"
_HELPS = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)\b"
_OPENS = re.compile(
    r"\s*(?:and\s+|but\s+|so\s+)?"
    r"(?:(?:in|at|on|by|for|from|(?:up\s+)?to|of|with|since|until|after|before|under|during)\s+)?"
    rf"(?:{_ASKS}|{_HELPS})",
    re.IGNORECASE,
)
_TWO_WORDS = re.compile(rf"({_ASKS})\s+and\s+({_ASKS})\s+(?=\S+\s+\S)", re.IGNORECASE)  # "When and where was ..."
_JOINT = re.compile(
    # "... finished, when was it opened": after a comma a question word and its verb, else a clause about a noun
    rf"(?:,\s*|;\s*)(?=(?:what|why|how)\b|(?:who|when|where|which)\s+{_HELPS}\s*(?:the|a|an|it|they|he|she|this|that)\b)"
    rf"|,?\s+(?:and|or|but)(?:\s+also)?\s+(?=(?:(?:in|at|on|by|for|from|to|of|with)\s+)?{_ASKS}|{_HELPS})"
    r"|[?;]\s+(?:and\s+)?(?=\S)",
    re.IGNORECASE,
)


def question_parts(question: str) -> list[str]:
    """Return what a question asks, one question per thing; a single one as it stands.  Empty for a blank question.

    >>> question_parts("How high is the barrier, when was it finished and what did it cost?")
    ['How high is the barrier?', 'When was the barrier finished?', 'What did the barrier cost?']
    >>> question_parts("When and where was Ada Ree born?")
    ['When was Ada Ree born?', 'Where was Ada Ree born?']
    >>> question_parts("Who built the bridge that was opened in 1990?")
    ['Who built the bridge that was opened in 1990?']
    """
    whole = " ".join(question.split())
    if not whole or len(whole) > MAX_CHARACTERS:
        return [question] if whole else []
    if both := _TWO_WORDS.match(whole):
        return [_closed(f"{word} {whole[both.end() :]}") for word in both.groups()]
    pieces = [piece for piece in _JOINT.split(whole) if piece.strip(" ?!.,;")]
    if not 1 < len(pieces) <= MAX_PARTS or not all(is_question(piece) for piece in pieces):
        return [question]
    first = _closed(pieces[0])
    return [first, *(_closed(standalone_question(_closed(piece), [Exchange(first, "")])) for piece in pieces[1:])]


def is_question(piece: str) -> bool:
    """Return whether a text of three words or more opens as an English question does.

    >>> is_question("When did it come out"), is_question("Up to what age?"), is_question("Until when is it open?")
    (True, True, True)
    >>> is_question("What?"), is_question("Wann kam es heraus?")
    (False, False)
    """
    return len(piece.split()) >= MIN_WORDS and _OPENS.match(piece) is not None


def _closed(piece: str) -> str:
    """Return a part as a question of its own."""
    bare = piece.strip(" ?!.,;")
    return f"{bare[:1].upper()}{bare[1:]}?"
