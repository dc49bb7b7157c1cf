"""Decide whether a sentence states anything that a source could support; talk about the conversation does not."""

from __future__ import annotations

import re

from propcite.attribution.english import content_words, tag, verbs

MAX_HEADING_WORDS = 8  # a longer line without a verb is a broken sentence and may state something

_SOURCE = (  # "the data do not show" is a claim, "the provided data do not show" is not
    r"(?:(?:the|these|this|those|any|your|my|our|its|all|of)\s){0,3}"
    r"(?:(?:provided|given|available|retrieved|supplied|cited|above|uploaded)\s(?:\w+\s)?"
    r"(?:texts?|materials?|articles?|files?|library|results|references|information|data|content|documents?|passages?"
    r"|sources?|context|excerpts?)"
    r"|documents?|passages?|sources?|collections?|context|excerpts?|corpus|search\sresults)"
)
_SAYS = (
    r"(?:say|mention|contain|state|specify|provide|include|discuss|address|give|cover|indicate|answer|have|describe"
    r"|explain|offer|reveal|tell|list|name|report|support|allow|refer|directly|explicitly|seem|appear|clearly)"
)
_NOT = r"(?:do(?:es)?\snot|don['’]t|doesn['’]t|did\snot|didn['’]t|cannot|can['’]t|never|fails?\sto)"

_ABSTENTION = re.compile(
    rf"^(?:{_SOURCE}\s(?:\w+\s){{0,4}}?{_NOT}\s{_SAYS}"
    rf"|(?:none|neither|nothing)\s(?:of|in)\s{_SOURCE}\b"
    rf"|(?:there\s(?:is|are|was|were)\s)?(?:no|not\sany|not\senough|insufficient)\s(?:\w+\s){{0,2}}"
    rf"(?:(?:information|mention|details?)\b|answer\s(?:in|given|found|to)\b)|no\s{_SOURCE}\s{_SAYS}"
    rf"|i\s(?:\w+\s){{0,2}}?(?:not|unable|cannot|can['’]t|couldn['’]t|don['’]t|didn['’]t|won['’]t)\s"
    rf"(?:\w+\s){{0,3}}?(?:find|found|determine|answer|locate|say|know|have|see|tell|provide|verify|confirm|sure|help|identify)\b"
    rf"|(?:it|this|that)\s(?:is|was)\s(?:not\s(?:clear|stated|mentioned|specified|given|said|described))\b"
    rf"|i['’]m\s(?:not\ssure|unable|afraid|sorry)|i\sam\s(?:not\ssure|unable|afraid|sorry)|sorry\b|unfortunately,?\si\b"
    rf"|{_SOURCE}\s(?:are|is)\s(?:silent|unclear|insufficient|not\s(?:clear|sufficient|enough)))"
)
_NOT_STATED = re.compile(
    rf"(?:\b(?:can)?not|n['’]t)\s(?:\w+\s){{0,2}}?(?:mentioned|stated|specified|given|found|covered|discussed|described|provided"
    rf"|included|addressed|answered|determined|clear)\s(?:in|by|from|anywhere\sin)\s{_SOURCE}\b"
)
_CONVERSATION = re.compile(
    r"^(?:i\shope|let\sme|let['’]s|feel\sfree|please\b|would\syou|do\syou|thank\syou|thanks\b(?!\sto\b)|you['’]re\swelcome|you\sare"
    r"\swelcome|as\san\sai|i['’]m\s(?:happy|glad|here)|i\sam\s(?:happy|glad|here|an\sai)|happy\sto\shelp|glad\sto\shelp"
    r"|i(?:['’]ll|\swill|['’]d|\swould|\scan|\scould)\s(?:be\shappy|be\sglad|help|try|now|also\s(?:help|provide)|provide"
    r"|summari[sz]e|explain|answer|start|list|give|need)"
    r"|if\syou(?:['’]d|\swould)?\s(?:like|have|need|want)\b[^.]{0,80}\b(?:question|help|let\sme|ask|more\sinformation|further"
    r"|detail|know|clarif)"
    r"|(?:that|this|it)(?:['’]s|\sis)\s(?:a|an|such\sa)\s(?:really\s|very\s)?(?:great|good|excellent|interesting|complex"
    r"|broad|difficult|tricky)\s(?:question|topic|request)|(?:great|good|excellent|interesting)\squestion"
    r"|is\sthere\sanything|anything\selse|hope\sthis|hope\sthat|here\syou\sgo|no\sproblem|based\son\syour\squestion)"
)
_LEAD_IN = re.compile(
    r"^(?:here(?:['’]s|\sis|\sare)\b|below\s(?:is|are)\b|the\sfollowing\s(?:is|are)\b|in\swhat\sfollows\b|what\si\sfound\b"
    r"|based\son\b[^:]{0,80}:$|from\s[“\"].{1,300}[”\"]:$)|\b(?:as\sfollows|the\sfollowing|are\sthese|see\sbelow|listed\sbelow)\b[^:]{0,60}:$"
)
_EXCLAMATION = re.compile(r"(?:what\san?\s|how\s)(?:[\w'’-]+\s){0,3}[\w'’-]+!+$")
_TRANSITION = re.compile(
    r"^(?:in\s(?:summary|conclusion|short|brief|other\swords|addition|contrast|fact|general|detail|particular|sum)"
    r"|to\s(?:summari[sz]e|sum\sup|conclude|begin(?:\swith)?|start(?:\swith)?|recap)|overall|for\s(?:example|instance)"
    r"|however|therefore|thus|hence|first(?:ly|\sof\sall)?|second(?:ly)?|third(?:ly)?|next|then|finally|lastly|additionally"
    r"|moreover|furthermore|also|besides|note|that\ssaid|on\sthe\sother\shand|on\sthe\sone\shand|as\sa\sresult"
    r"|with\sthat\ssaid|in\sany\scase|and|but|so|or|yes|no|ok|okay|sure|certainly|absolutely|right|hi|hello|hey|greetings"
    r"|welcome|dear\s\w+|good\s(?:morning|afternoon|evening|day)|hi\sthere|hello\sthere|hey\sthere|cheers|goodbye|bye"
    r"|best\sregards|regards|sincerely|correct|indeed)(?:,\s\w+)?[\s:,.!;–—-]*$"
)
_FRAME = re.compile(
    rf"^(?:according\sto|based\son|from|in|per)\s{_SOURCE}(?:\s(?:provided|given|above|supplied))?\s?,\s"
)
_BUT = re.compile(r"(?:,|;)?\s(?:but|however|although|though|yet|while|whereas)\s|;\s")
_HEADINGS = frozenset(
    "overview summary introduction background conclusion conclusions finding findings result discussion reference"
    " references source sources detail details key main note notes history cause causes symptom symptoms treatment"
    " treatments step steps feature features benefit benefits advantage advantages disadvantage disadvantages pros cons"
    " example examples context limitation limitations method methods answer question questions definition definitions"
    " part section chapter appendix contents abstract takeaway takeaways point points reason reasons tip tips next"
    " faq impact impacts types uses explanation analysis recommendation recommendations".split()
)
_NUMBERED = re.compile(r"^(?:step|section|chapter|part|figure|table|phase|option|question|answer|point|no\.?)\s\d+\W*$")
_MARKS = re.compile(r"\[\d{1,3}(?:[,;–-]\s?\d{1,3})*\]|[*_`#>|~•]+|^\s*(?:[-+]|\(?\d{1,3}[.)])\s+")
_QUESTION_WORD = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may)\b"
)
_MARKDOWN_HEADING = re.compile(r"\s*#{1,6}\s")
_OPENER = re.compile(r"^(?:sure|yes|no|ok|okay|certainly|absolutely|of\scourse|well|also|and|but|so)[,!.]?\s")
_DIGIT = re.compile(r"\d")


def needs_citation(text: str) -> bool:
    """Return False for questions, exclamations, transitions, headings, greetings, abstentions and talk with the reader.

    >>> needs_citation("What a fine city!")
    False
    >>> needs_citation("Water boils at 100 °C."), needs_citation("Here is what I found:")
    (True, False)
    >>> needs_citation("It was the"), needs_citation("It was 12 m")
    (False, True)
    >>> needs_citation("The documents do not say."), needs_citation("The law does not say.")
    (False, True)
    """
    plain = " ".join(_MARKS.sub(" ", text).split())
    low = plain.lower()
    if not any(char.isalnum() for char in low) or _is_question(low) or _EXCLAMATION.match(low):
        return False
    low = low.lstrip("\"'“‘(«¿ ")
    if _TRANSITION.match(low) or _MARKDOWN_HEADING.match(text) or _is_cut_off(plain):
        return False
    low = _OPENER.sub("", low, count=1)
    if _CONVERSATION.match(low) or _LEAD_IN.search(low):
        return False
    return not (abstains(low) or _is_heading(plain, low))


def abstains(text: str) -> bool:
    """Return whether a text says that its sources do not say something, and states nothing else.

    >>> abstains("The documents do not say when it opens."), abstains("The law does not say when it opens.")
    (True, False)
    """
    claim = _FRAME.sub("", " ".join(text.lower().split()), count=1)
    return bool(_ABSTENTION.match(claim) or _NOT_STATED.search(claim)) and not _states_more(claim)


def _is_question(low: str) -> bool:
    """Return whether a sentence is a question; a question quoted at its end does not make it one."""
    bare = low.rstrip("\"'”’)» ")
    if not bare.endswith(("?", "？", "؟")):
        return False
    return len(bare) == len(low) or low[0] in "\"'“‘(«" or bool(_QUESTION_WORD.match(low))


def _states_more(low: str) -> bool:
    """Return whether an abstention goes on to state something: `does not give a date, but says that ...`."""
    return any(
        len(part.split()) > 2 and not (_ABSTENTION.match(part) or _NOT_STATED.search(part) or _CONVERSATION.match(part))
        for part in _BUT.split(low)
    )


def _is_cut_off(plain: str) -> bool:
    """Return whether a text ends before it states anything: "It is", where the writing stopped."""
    return not plain.endswith((".", "!", "…")) and not content_words(plain)


def _is_heading(plain: str, low: str) -> bool:
    """Return whether a text is a short line without a verb; a name or a number alone may be an answer instead."""
    words = low.rstrip(":").split()
    if plain.endswith((".", "!", "…")) or len(words) > MAX_HEADING_WORDS:
        return False
    if _NUMBERED.match(low):
        return True
    if _DIGIT.search(low) or (":" in low.rstrip(":") and not low.endswith(":")):
        return False
    if set(tag(plain, plain).tags) & set("BHMVEY"):
        return False
    if len(words) > 2 and words[0] in verbs.BASE_VERBS and not low.endswith(":"):
        return False  # "Choose a place for the lamp": an instruction of a list
    has_name = any(word[0].isupper() for word in plain.split()[1:] if word[0].isalpha())
    has_heading_word = bool({word.strip(",") for word in words} & _HEADINGS)
    return low.endswith(":") or has_heading_word or (len(words) > 1 and not has_name)
