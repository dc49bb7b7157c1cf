"""Turn a statement into questions that it answers, by rule: "The bridge was opened in 1990." → "When was …?".

`FORMS` is a table of predicates: what follows the subject, and the question that asks for it.  Sentences that begin
with a condition or an aim have questions of their own; `clauses` asks for a number, a date, a reason, a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.app.overview.clauses import BE, REFERS, Clause, Form, asked
from propcite.app.overview.subjects import ROLES, UNKNOWN, Spelling
from propcite.attribution.english import Tagged, content_words, facts, lexicon, tag, verbs

MAX_WORDS = 36  # of a statement; a longer one is rarely about one thing
MIN_QUESTION_WORDS, MAX_QUESTION_WORDS = 3, 18
MAX_CONDITION = 13  # words
MAX_BETWEEN = 7  # words between the verb and its condition

# What questions ask for, the most telling first.
ORDER = (
    *("what", "who", "much", "measure", "many", "why", "aim", "when", "often", "condition", "use", "effect", "duty"),
    *("detail", "way", "where", "while"),
)

_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*[.)]|\d+(?:\.\d+)+)\s+")  # of the section
_DENIES = lexicon.words("not never no none nobody nothing only hardly neither nor without except n't cannot")
_BE = r"(?P<be>is|are|was|were)"
_ADVERB = r"(?:\s(?:\w+ly|also|often|best|always|then))?"
_MODAL = r"(?P<modal>can|could|may|must|should|will|shall)"
_DONE = r"(?P<done>\w+ed|built|kept|found|set|made|sent|given|done|written|read|run|held|shown|known|put|lost|chosen)"
_TELLING = (
    "act as|affect|allow|apply to|assume|belong to|cause|check|comprise|consist of|contain|control|cover|default to|"
    "define|depend on|describe|determine|enable|ensure|expect|govern|grant|guarantee|handle|include|indicate|involve|"
    "limit|list|manage|measure|need|offer|permit|prevent|produce|prohibit|promise|protect|provide|record|refer to|"
    "rely on|stand for|represent|require|return|serve as|specify|store|support|verify"
).split("|")
_STATED = (
    "based on|caused by|composed of|made of|made up of|divided into|split into|known as|called|derived from|limited to|"
    "defined as|written in|licensed under|replaced by|followed by|named after|distributed under|responsible for|"
    "compatible with|similar to|equivalent to|part of|subject to|controlled by|maintained by|managed by|protected by"
)
_FIGURES = lexicon.words(
    "value limit number size length maximum minimum interval rate price cost ratio timeout threshold default port "
    "version date period amount share level width depth height weight speed age sum total fee tax capacity population"
)
_HEAD = re.compile(r".*?(\w+)(?= (?:of|for|in|on|per|to|at|by)\b|$)")  # the noun that a subject is about
_TOOLS = lexicon.words("""
    option options command function directive module method parameter variable setting program script tool daemon flag
    keyword wrapper service plugin utility hook pragma macro class attribute field object server client driver
""")
# A predicate, the question that asks for what it says, and what that is.  {help} and {rest} are the clause's verbs.
FORMS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(predicate), question, asks)
    for predicate, question, asks in (
        (
            rf"{_BE}\s(?:an?|the name|any|one)\s(?!(?:lot|few|bit|little|must|matter|good|bad|problem)\b)",
            "What {be} {S}",
            "what",
        ),
        (rf"{_BE}{_ADVERB}\s(?P<done>called|known as)\s", "What {be} {S} {done}", "detail"),
        (r"(?:shall )?means?\s(?!that\b)", "What {mean} {S} mean", "what"),
        (
            rf"{_BE}{_ADVERB}\s(?P<done>designed|intended|meant|supposed|required|allowed|expected|permitted|able)"
            rf"{_ADVERB}\sto\s",
            "What {be} {S} {done} to do",
            "use",
        ),
        (
            rf"{_BE}{_ADVERB}\s(?P<done>used|needed|useful|suitable|reserved|intended|meant|designed|responsible|good)"
            rf"{_ADVERB}\s(?:for|to)\s",
            "What {be} {S} {done} for",
            "use",
        ),
        (rf"{_MODAL}{_ADVERB}\sbe{_ADVERB}\sused{_ADVERB}\s(?:for|to)\s", "What {modal} {S} be used for", "use"),
        (rf"{_BE}{_ADVERB}\s(?P<done>{_STATED})\s", "What {be} {S} {done}", "detail"),
        (
            rf"{_MODAL}{_ADVERB}\sbe{_ADVERB}\s(?P<done>found|obtained|downloaded|stored|placed|installed|located)\s"
            r"(?:in|at|on|under|from|below)\s",
            "Where {modal} {S} be {done}",
            "where",
        ),
        (
            rf"(?P<modal>can|could|must|should){_ADVERB}\sbe{_ADVERB}\s{_DONE}\s(?:(?!to\b|in\b)\w+\s){{0,6}}(?:by|with|using|via|through)\s",
            "How {modal} {S} be {done}",
            "way",
        ),
        (
            rf"{_BE}{_ADVERB}\s(?!associated|concerned|satisfied|involved|faced){_DONE}\s(?:(?!to\b|in\b)\w+\s){{0,4}}(?:by\s\w+ing|using|via|through|with)\s",
            "How {be} {S} {done}",
            "way",
        ),
        (
            r"(?:\w+\s)?(?P<verb>allow|enable|permit|help|let|require|encourage|cause|force|advise)s?\s"
            r"(?P<whom>(?!it\b|them\b|this\b|that\b)(?:\w+\s){1,3})to\s",
            "What {help} {S} {rest} {whom} to do",
            "use",
        ),
    )
)


_WHILE = re.compile(
    r"(?P<middle>[^,;:]*?)\s?(?<!\bas )(?<!\beven )(?<!\bonly )"
    r"\b(?:if|when|unless|as soon as|(?:for )?as long as)\s(?!it\b|they\b|this\b)\w+\s"
)
_CONDITION = re.compile(
    r"(?P<word>If|When|Whenever|Once)\s(?P<that>[^,;:]+(?:,[^;:]+(?=, then\s))?),\s(?:then\s)?(?P<then>[^,]+.*)"
)
_AIM = re.compile(r"(?:In order )?[Tt]o\s(?P<do>[^,;:]+),\s(?P<then>.+)")
_ADVICE = re.compile(r"(?:you|one)\s(?P<modal>should|must|need to|have to|can|may|could)\s")
_COMMANDS = verbs.BASE_VERBS - {"it", "can", "test", "access"}
_REPLY = re.compile(r"(?:see|this is|it is|that is|please)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|their|he|she|his|her|we|our|us|so|such|one|following|above|below|both"
    r"|either|neither|else|not sure|unsure|instead|otherwise|corresponding|respective|situation)\b",
    re.IGNORECASE,
)


def forms_of(statement: str, spelling: Spelling = UNKNOWN) -> list[Form]:
    """Return the questions that a statement answers; empty where its grammar is not plain enough to turn.

    >>> [form.question for form in forms_of("The tide barrier was finished in October 2024.")]
    ['When was the tide barrier finished?']
    >>> [form.question for form in forms_of("The car ferry carries 90 people across the bay.")]
    ['How many people does the car ferry carry across the bay?']
    >>> forms_of("It was finished in 2024.")
    []
    """
    text = _NUMBER.sub("", " ".join(statement.split()))
    if len(text.split()) > MAX_WORDS or not text.endswith("."):
        return []
    tagged = tag(text, text)
    found: dict[str, Form] = {}
    for form in (*_conditions(text), *_of_clauses(text, tagged, spelling)):
        found.setdefault(form.question, form)
    return sorted(filter(_is_plain, found.values()), key=lambda form: ORDER.index(form.asks))


def _is_plain(form: Form) -> bool:
    short = MIN_QUESTION_WORDS <= len(form.question.split()) <= MAX_QUESTION_WORDS
    whole = form.question.count("(") == form.question.count(")") and form.question.count('"') % 2 == 0
    return short and whole and not _PRONOUN.search(form.question)


def _of_clauses(text: str, tagged: Tagged, spelling: Spelling) -> Iterator[Form]:
    if tagged.tags.startswith("S"):
        return  # "While it rains, ..."
    clauses = [clause for fact in facts(tagged) if (clause := Clause.of(text, tagged, fact, spelling))]
    denies = any(low in _DENIES or low.endswith(("n't", "n’t")) for low in tagged.lows)
    several = set(tagged.tags) & set(":;")
    for clause in clauses[:2]:
        if not denies and not several and '"' not in text and "“" not in text:
            yield from clause.forms()
        yield from _predicates(clause)
        yield from _whiles(clause)


def _predicates(clause: Clause) -> Iterator[Form]:
    """Yield the question of the first row of FORMS that the predicate fits, else what asks for its object."""
    predicate = f"{' '.join(clause.given)} {clause.behind}"
    if any(low in _DENIES for low in predicate.lower().split()[:4]):
        return
    words = {
        "mean": "do" if clause.help == "do" else "does",
        "S": clause.subject,
        "help": clause.help,
        "rest": clause.rest,
    }
    for pattern, question, asks in FORMS:
        if match := pattern.match(predicate):
            named = {key: (value or "").strip() for key, value in match.groupdict().items()}
            if asks == "what" and named.get("be") and _is_of_person(clause):
                question, asks = question.replace("What", "Who", 1), "who"
            yield Form(asked(question.format(**words, **named), clause.lead), asks)
            return
    yield from _objects(clause)


def _objects(clause: Clause) -> Iterator[Form]:
    """Yield what asks for the object: "What does the main section contain?", or for what an option does."""
    head = _HEAD.match(clause.subject.lower())
    if clause.is_copula:
        is_figure = (head and head[1] in _FIGURES) or clause.behind[:1] in ("$", "€", "£")
        if is_figure and clause.help in BE and re.match(r"(?:set to |about )?[\d“\"'$€£]", clause.behind):
            yield Form(asked("What", clause.help, clause.subject, clause.lead), "detail")
        return
    object_ = clause.behind.lower()
    for telling in _TELLING:
        verb, _, preposition = telling.partition(" ")
        base = clause.rest.removeprefix("be ")
        if base != verb or not object_ or (preposition and not object_.startswith(f"{preposition} ")):
            continue
        if clause.help in ("do", "does", "did", "must", "should", "can", "may", "will", "shall") and object_:
            yield Form(asked("What", clause.help, clause.subject, verb, preposition, clause.lead), "detail")
        return
    named = clause.subject.split()[-1].lower() in _TOOLS or re.search(r"(?:^|\s)--?\w|_|\(\)", clause.subject)
    if clause.rest != "have" and named and clause.help == "does" and " " not in clause.rest:
        yield Form(asked("What does", clause.subject, "do", clause.lead), "effect")


def _whiles(clause: Clause) -> Iterator[Form]:
    """Yield what asks for the condition at the end: "is deleted when the last connection closes"."""
    match = _WHILE.match(clause.behind)
    if match and len(match["middle"].split()) <= MAX_BETWEEN and not REFERS.search(match["middle"]) and not clause.lead:
        yield Form(asked("When", clause.help, clause.subject, clause.rest, match["middle"]), "while")


def _conditions(text: str) -> Iterator[Form]:
    """Yield what asks for what a condition brings, and for the way to an aim, where the sentence begins with it."""
    if match := _CONDITION.match(text):
        that, then = match["that"], match["then"]
        begins = tag(then, then).tags[0]
        if _stands_alone(that) and _is_clause(that) and not _REPLY.match(then) and begins not in "EcouG":
            word = "if" if match["word"] == "If" else "when"
            yield Form(asked(_what_then(that, then, word), word, that), "condition")
    elif match := _AIM.match(text):
        first, then = match["do"].split()[0].lower(), match["then"].split()[0]
        if first in verbs.BASE_VERBS and _stands_alone(match["do"]) and (then == "you" or then in _COMMANDS):
            yield Form(asked("How do you", match["do"]), "aim")


def _what_then(that: str, then: str, word: str) -> str:
    if advice := _ADVICE.match(then):
        modal = advice["modal"]
        return f"What {'should' if ' ' in modal else modal.replace('may', 'can')} you do"
    if then.split()[0].lower() in _COMMANDS:
        return "What should you do"
    tagged = tag(that, that)
    finite = [low for low, tag_ in zip(tagged.lows, tagged.tags, strict=True) if tag_ in "BHMVY"]
    if word == "if":
        return "What would happen" if finite[:1] == ["were"] else "What happens"
    past = bool(finite) and (finite[0] in ("was", "were", "had", "did") or finite[0] in verbs.PAST_ONLY)
    return "What happened" if past else "What happens"


def _stands_alone(words: str) -> bool:
    """Return whether a clause or an aim names what it is about."""
    telling = [word for word in content_words(words) if (word.isalpha() and len(word) > 1) or "_" in word]
    return len(words.split()) <= MAX_CONDITION and not _PRONOUN.search(words) and len(telling) > 1


def _is_clause(words: str) -> bool:
    """Return whether words begin with a subject and have a verb."""
    tags = tag(words, words).tags
    if tags[-1] in "DPTcoOS" or tags.endswith("PJ"):
        return False  # cut
    return tags[0] in "DXNJUQR" and bool(set(tags) & set("BHMYVE"))


def _is_of_person(clause: Clause) -> bool:
    """Return whether the subject is a person, by itself or by what it is said to be."""
    first = re.split(r"\b(?:of|who|that|which|in|for|from|with|to|at)\b|,", clause.behind)[0].split()
    return clause.names_person or (bool(first) and first[-1].lower() in ROLES)
