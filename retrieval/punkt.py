"""Find where sentences begin in a paragraph, with nltk's Punkt and our own word lists; nothing is downloaded.

A decision depends only on the words around a stop, so it costs the same in any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Protocol

from propcite.retrieval.text import Span

# A name or an example follows these words: no sentence ends here, whatever comes next.
NEVER_LAST = frozenset(
    """
    adm brig capt cmdr cmdt col cpl cpt dr fr gen gov hon lt maj messrs mr mrs ms mx pfc pres prof profs pvt rep reps
    rev rt sen sens sgt supt e.g eg i.e ie cf viz vs v esp incl
    hr frau hrn dipl ing z.b d.h bzw vgl sog insb u.a mme mlle mgr p.ex c.-à-d av sra srta sig dott dhr mevr bijv ph
    """.split()
)

# Abbreviations that may also end a sentence: the next word decides (one of STARTERS begins a sentence).
ABBREVIATIONS = frozenset(
    """
    abr acad al appl approx assn assoc asst attn aug ave avg biol blvd bros bull cap cca cdr cent cert chem chron circ
    co comm comp conf cong corp cts dec dept dev diss dist div doc ed eds edn enc encl eng ens esq est ext feb ff fl
    ft govt grad hist hosp ibid illus inc inst int intl introd jan jr jun jul lab lib lit ltd mag math mfg misc mt mtn
    mus nat natl nov obs oct op orig oxf penn phil phys pop pref prelim proc prob pseud pt publ pubs rd rec ref refs
    reg repr repub rept resp ret rpt sci sect sep sept ser soc spec sq sr st ste stat suppl syn tech temp tel trans
    transl treas ult univ ver plc gmbh pty bhd ala ariz ark calif colo conn del fla ga ill ind kan ky mass mich minn
    miss mo mont nev okla ore pa tenn tex va vt wash wis wyo
    abb anm aufl ausg bd begr bes betr bsp dez ebd eigtl einschl evtl geb gegr ges ggf hrsg jh jhd kath lfd mio mrd
    nachm okt std str tsd vorm zit zt zzgl boul env éd hab janv févr juil réf sté avda excmo pág págs ud uds vda
    """.split()
)

# In lower case these are everyday words or word endings; only capitalized they are abbreviations.
SHORT_WITH_CAPITAL = frozenset(
    """
    adm ala ark aug ave brig bull cap cent chap chem col comm comp conf cong dec del dev dist doc eng ens fr ga gen
    gov hist hon hosp hr ill ind ing int kan lab lib lit lt mag maj mass math mgr miss mo ms mx nat nov obs oct op ore
    pa ph pop pref pres prob proc pt rec ref reg rep reps ret rev rt sect sen sens sep ser sig spec st stat str tab
    tech temp tex trans va wash
    """.split()
)

# Abbreviations only before a number: otherwise "No." and "Fig." are words or answers.
BEFORE_NUMBER = frozenset(
    """
    no nos nr fig figs vol vols ch chap chaps sec secs sect sects art arts p pp pg pgs par para paras eq eqs eqn eqns
    ex exs tab tabs pl v vv c ca cca col cols l ll n nn b d f ff r op bk bd abb abs kap ziff rn s num núm lib pt pts ph
    tel ext jan feb mar apr jun jul aug sep sept oct nov dec okt dez approx est circa ed
    """.split()
)

MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar jänner februar märz mai juni juli oktober dezember januari februari maart augustus marts maj desember
    """.split()
)
DAYS = frozenset("mon tue tues wed thu thur thurs fri sat sun".split())

# Words that begin sentences and are in lower case elsewhere.  No surnames or particles of names (do, see, will, de,
# la): "J. De Niro" must stay whole.
STARTERS = frozenset(
    """
    a about above according accordingly additionally after afterwards all almost along alongside already also although
    altogether among an and another any anyone are as aside at based because been before behind being below beneath
    beside besides between beyond both but by can compared consequently conversely could currently dating depending
    despite did does due during each earlier either else especially even eventually ever every everyone everything
    except finally first firstly following for former formerly from furthermore generally given had has have having he
    hence her here his historically how however i i'm i've i'd if in indeed initially inside instead into is it it's
    its itself just last lastly late later like likewise many meanwhile moreover most much my near nearly neither
    never nevertheless next nobody none nonetheless nor no not nothing notwithstanding now nowadays occasionally of
    often on once one only or originally other others otherwise our ours out outside over overall perhaps possibly
    previously prior recently regardless second secondly several shall she she's should similarly since so some
    somebody someone something sometimes soon specifically subsequently such than that that's the their them
    themselves then thereafter there there's therefore these they they're third this those though through throughout
    thus together toward towards typically ultimately under unfortunately unless unlike until up upon usually various
    was we we're were what whatever when whenever where whereas wherever whether which while who whoever whom whose
    why with within without would yet you you're your
    aber als andere auch auf aus außerdem bei beide bis daher damit danach dann darauf darum dabei dagegen dass dazu
    denn dennoch deshalb diese dieser dieses doch dort durch ein eine einer einem einen eines er es für hier ich ihr
    ihre im ja jede jeder jedoch jetzt kein keine mit nach nachdem nicht nun nur ob obwohl oder schon sein seine seit
    seitdem sie sind sobald sogar sondern sonst sowie später trotzdem und unser unter viele vom vor während wann warum
    weil wenn wer wie wir wird wo zudem zuerst zum zur zwar zwischen zuletzt
    ainsi alors après aucun aucune aussi aujourd'hui auparavant autre autres avant avec car ce cela celui cependant
    ces cet cette ceux chaque comme dans depuis donc elle elles en enfin ensuite entre est et il ils je leur leurs
    lors lorsque mais malgré même nous où par parce parmi pendant peu plus plusieurs pour pourtant puis quand quelques
    qui quoi sans selon si sous sur tandis toutefois tous tout toute très un une vers voici voilà vous
    además ahora algunos antes aquí así aunque cada como con cuando después donde durante él ella ellos entonces entre
    esta este esto estos hasta luego mientras muchos nosotros nunca otra otro para pero por porque pues que según sin
    sino sobre también tras una unos usted yo
    """.split()
)

# A German ordinal follows these: "der 2. Weltkrieg", "am 3. Oktober".
ARTICLES = frozenset("der die das den dem des am im vom zum zur beim ins seit ab bis einen einem".split())

# Names that end in an exclamation mark.
MARKED_NAMES = frozenset("yahoo jeopardy wham oklahoma yum".split())

# "5 p.m. John left": a stop after the time ends the sentence unless the time goes on.
CLOCK = frozenset("a.m p.m am pm".split())
TIME_GOES_ON = frozenset(
    """
    est edt et ct cst cdt mst mdt mt pst pdt pt gmt utc bst cet cest ist jst hst akst aest eastern central mountain
    pacific monday tuesday wednesday thursday friday saturday sunday local
    """.split()
)

# These begin a sentence even in lower case, as hurried writers type them: "it was late. he left".
SMALL_STARTERS = frozenset("he she it they we this these there however i i'm it's http https www".split())

# The letter after these is no initial: "World War I. Historians", "vitamin D. Cells".
LETTERED = frozenset("war vitamin hepatitis grade plan".split())

EAST_ASIAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0eff"  # scripts that use few spaces

# Repetitions over long runs are possessive: a text of a million dots or brackets takes linear time.
_FREE = "。！？｡．।॥؟۔።။"  # these end a sentence without a space after them
_CLOSERS = "\\)\\]}\"'`”’»«›‹」』）】〉》〕］｝"
_FACES = "\U0001f600-\U0001f64f\U0001f910-\U0001f92f\U0001f970-\U0001f97a"
_CITED = (
    r"\[(?:\^?\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,20}|\^?[a-z]{1,2}|sic|edit|[a-z]{2,14}\sneeded|"
    r"(?i:doc|document|source|ref|note|nb|fn|n|p|pp|page|passage)s?[.:]?\s?\d{1,4})\]|[¹²³⁰-⁹]|【\d[^】\s]{0,20}】"
)
_STOP = re.compile(
    rf"(?P<stop>\.(?:[ \u00a0]\.)++|[.!?…‼⁇⁈⁉{_FREE}]++)"
    rf"(?P<tail>(?:[{_CLOSERS}]|(?:[“‘]|[*_]{{1,3}}|[ \u00a0\u202f](?:''|[»)\]}}”]))(?=\s|$)|\s?(?:[{_FACES}]|{_CITED})"
    rf"|(?<=[^\W\d]\.)\d{{1,2}}(?=\s))*+)(?P<space>\s*+)"
)
_FOLLOWING = re.compile(r"[\s\"'“”‘’«»‹›„‚`(\[{¿¡*_#$€£~—–-]*+((?:[^\W_]\.(?!\w))|[^\W_][\w'’&-]*+)?")
_NEVER_FIRST = ",;:)]}+=/%&"
_WORD_EDGE = re.compile(r".*[—–/(\[{\"“‘«»„‚`¿¡*_]")
_MARKER = re.compile(r"[#>\s(•*-]{0,8}(?:\d{1,3}(?:\.\d{1,3}){0,4}|[^\W\d_]|[ivxIVX]{1,5})")
_ALPHANUMERIC = re.compile(r"[^\W_]")
_TO_LAST_ALPHANUMERIC = re.compile(r".*[^\W_]", re.DOTALL)
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.-?)+[^\W\d_]{1,3}")
_NUMBER = re.compile(r"[IVXLC]{2,}|[A-Z]{0,6}-?\d.*|[A-Z]")
_SEEN_SMALL = 1 << 5  # Punkt's flag for "lower case inside a sentence"


class _Abbreviations(set[str]):
    """A set that also contains every dotted run of letters: U.S, J.R.R, z.B, Ph.D."""

    def __contains__(self, word: object) -> bool:
        return super().__contains__(word) or (isinstance(word, str) and _DOTTED.fullmatch(word) is not None)


class _Contexts(dict[str, int]):
    """Contexts of words, 0 for unknown ones; Punkt's defaultdict would store each of them forever."""

    def __missing__(self, word: str) -> int:
        return 0


class _Punkt(Protocol):
    def text_contains_sentbreak(self, text: str) -> bool: ...

    def tokenize(self, text: str) -> list[str]: ...


@cache
def _punkt() -> _Punkt:
    return _build(ABBREVIATIONS | SHORT_WITH_CAPITAL)


@cache
def english_punkt() -> _Punkt:
    """Return plain Punkt with our word lists, without the rules of this module."""
    return _build(NEVER_LAST | ABBREVIATIONS | SHORT_WITH_CAPITAL)


def _build(abbreviations: frozenset[str]) -> _Punkt:
    # Imported late: nltk takes a second to load.
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = _Abbreviations(abbreviations)
    parameters.sent_starters = set(STARTERS)
    parameters.ortho_context = _Contexts(dict.fromkeys(STARTERS, _SEEN_SMALL))
    parameters.collocations = (
        {(word, "##number##") for word in BEFORE_NUMBER}
        | {(day, month) for day in DAYS for month in MONTHS}
        | {("ph", "d")}
    )
    punkt: _Punkt = PunktSentenceTokenizer(parameters)
    return punkt


def sentence_starts(text: str, block: Span) -> Iterator[int]:
    """Yield where sentences after the first begin in the block; each has at least one letter or digit."""
    has_case: bool | None = None
    start = checked = block.start
    has_words = False
    words = _TO_LAST_ALPHANUMERIC.match(text, block.start, block.end)
    last = words.end() if words else block.start
    for stop in _STOP.finditer(text, block.start, block.end):
        has_words = has_words or _ALPHANUMERIC.search(text, checked, stop.start()) is not None
        checked = stop.start()
        if not has_words or stop.end() >= last:
            continue
        if has_case is None:
            has_case = any(map(str.isupper, text[block.start : block.end]))
        if _is_end(text, stop, Span(start, block.end), has_case):
            yield stop.end()
            start = checked = stop.end()
            has_words = False


def _is_end(text: str, stop: re.Match[str], rest: Span, has_case: bool) -> bool:
    mark, tail, cut = stop["stop"], stop["tail"], stop.end()
    before = text[max(rest.start, stop.start() - 48) : stop.start()]
    after = _FOLLOWING.match(text, cut, rest.end)
    following = (after and after[1]) or text[cut]
    if text[cut] == "`" and text[cut : cut + 2] != "``":
        following = "`"  # code: its case says nothing
    if mark[-1] in _FREE:
        # 「行く。」と言った: the sentence continues after the quotation.
        return not (mark == "．" and following[0].isdecimal()) and not (tail and text[cut] in "とっ")
    if not stop["space"]:
        return _is_end_without_space(before, mark, tail, following, text[cut])
    if mark == "." and len(before) < 20 and _MARKER.fullmatch(before):
        return False
    words = before.split()
    word = _WORD_EDGE.sub("", words[-1]) if words and not before[-1].isspace() else ""
    if tail[:1].isdecimal() and word.lower() in BEFORE_NUMBER:
        return False
    return ends_sentence(words[-2] if len(words) > 1 else "", word, mark + tail, following, has_case)


def _is_end_without_space(before: str, mark: str, tail: str, following: str, character: str) -> bool:
    """Decide a stop without a space after it: "It rained.[1]Then", "It rained.Then", "真的吗?他"."""
    if re.match(f"[{EAST_ASIAN}]", character):
        return mark[-1] in "!?" or (mark == "." and re.search(f"[{EAST_ASIAN}]$", before) is not None)
    if "]" in tail:
        return following[0].isupper()
    is_word = re.search(r"(?:^|\s)[^\W\d_A-Z]{3,}$", before) is not None
    return is_word and following[0].isupper() and following.lower() in STARTERS


@lru_cache(maxsize=1 << 15)
def ends_sentence(previous: str, word: str, stop: str, following: str, has_case: bool = True) -> bool:
    """Return whether a sentence ends after `word` and its `stop`, between the words `previous` and `following`.

    In a text without capitals (`has_case` is False) a small letter after the stop says nothing.

    >>> ends_sentence("met", "Dr", ".", "Smith"), ends_sentence("at", "noon", ".", "Smith")
    (False, True)
    """
    low, next_low = word.lower(), following.lower()
    if following in _NEVER_FIRST:
        return False
    if has_case and following == next_low and following[:1].islower():
        is_plain = stop == "." and low not in ABBREVIATIONS and _LONG_WORD.fullmatch(word) is not None
        return is_plain and next_low in SMALL_STARTERS
    if "!" in stop or "?" in stop:
        return low not in MARKED_NAMES or next_low in STARTERS
    is_ellipsis = stop.startswith(("...", "…", ". ."))
    if not word[-1:].isalnum() or (is_ellipsis and word.islower() and has_case):
        return True  # "Open Up and Say... Ahh!" has a capital before its dots
    return _is_end_of_word(previous, word, is_ellipsis, following, has_case)


def _is_end_of_word(previous: str, word: str, is_ellipsis: bool, following: str, has_case: bool) -> bool:
    low, next_low = word.lower(), following.lower()
    is_small = has_case and word[0].islower() and low in SHORT_WITH_CAPITAL
    is_numbered = following[0].isdecimal() or (low in BEFORE_NUMBER and _NUMBER.fullmatch(following) is not None)
    if low in NEVER_LAST and not is_small:
        return word.isupper() and next_low in STARTERS  # "she has MS. The doctor"
    if low in CLOCK:
        return next_low not in TIME_GOES_ON
    # "There are two: 1. It rains", "der 2. Weltkrieg", "am 3. Oktober"
    is_ordinal = previous[-1:] in (":", ";") or previous.lower() in ARTICLES or next_low in MONTHS
    if is_ordinal and word.isdecimal() and len(word) <= 2:
        return False
    if (is_small and not (is_numbered and low in BEFORE_NUMBER)) or (len(word) == 1 and previous.lower() in LETTERED):
        return True
    # "J. A. Smith": a second initial is not the article "a".
    after = "1" if is_numbered else "Name" if following[1:] == "." else following
    return _punkt().text_contains_sentbreak(f"{word}{'...' if is_ellipsis else '.'} {after}")
