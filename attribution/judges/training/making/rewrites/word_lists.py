"""Words that turn a sentence wrong when one stands in the place of another."""

from __future__ import annotations

from collections.abc import Iterable

_OPPOSITES = """
larger/smaller higher/lower greater/smaller bigger/smaller older/younger earlier/later better/worse longer/shorter
faster/slower stronger/weaker heavier/lighter wider/narrower deeper/shallower warmer/colder richer/poorer
increase/decrease increased/decreased increases/decreases increasing/decreasing rose/fell gained/lost gains/loses
won/lost wins/loses highest/lowest largest/smallest biggest/smallest oldest/youngest best/worst earliest/latest
longest/shortest fastest/slowest strongest/weakest maximum/minimum began/ended begins/ends begin/end opened/closed
opens/closes accepted/rejected accepts/rejects allowed/prohibited allows/prevents allow/prevent supported/opposed
supports/opposes supporters/opponents success/failure successful/unsuccessful successfully/unsuccessfully
internal/external major/minor public/private legal/illegal possible/impossible positive/negative bought/sold
buys/sells imported/exported imports/exports ancient/modern urban/rural northern/southern eastern/western
north/south east/west northeast/southwest northwest/southeast winter/summer upper/lower offense/defense
offensive/defensive attack/defend attacked/defended strong/weak rich/poor wide/narrow deep/shallow always/never
agree/disagree agreed/refused include/exclude includes/excludes included/excluded created/destroyed built/demolished
arrived/departed arrives/departs majority/minority promoted/demoted strengthened/weakened expanded/reduced
improved/worsened encouraged/discouraged approved/rejected approves/rejects appointed/dismissed hired/fired
victory/defeat victories/defeats friend/enemy allies/enemies advantage/disadvantage advantages/disadvantages
active/passive permanent/temporary partial/complete partially/completely frequent/rare similar/different
identical/different safe/dangerous voluntary/compulsory mandatory/optional domestic/foreign primary/secondary
liberal/conservative before/after above/below inside/outside predecessor/successor precedes/follows
preceded/followed ancestors/descendants ancestor/descendant buyer/seller winner/loser absorbs/emits absorbed/emitted
freezes/melts attracts/repels inhibits/activates inhibited/activated inhibit/activate upregulated/downregulated
upregulation/downregulation activation/inhibition increase/reduction enhances/reduces enhanced/reduced
enhance/reduce acute/chronic benign/malignant fatal/harmless recessive/dominant maternal/paternal anterior/posterior
dorsal/ventral proximal/distal intracellular/extracellular prenatal/postnatal
"""
_RELATED = """
directed/produced/wrote directs/produces/writes director/producer/writer/editor founder/chairman
composer/singer/conductor author/translator/illustrator professor/student written/directed/produced/illustrated
founded/acquired/sued owned/managed/rented invented/patented/improved published/written/translated
built/funded/demolished builds/funds captured/defended/destroyed killed/injured/arrested elected/nominated
starred/directed composed/performed/recorded painted/sold/bought guitarist/drummer/bassist architect/owner
mayor/governor captain/coach actor/director male/female men/women boys/girls father/mother fathers/mothers
son/daughter sons/daughters brother/sister brothers/sisters husband/wife uncle/aunt nephew/niece
grandson/granddaughter grandfather/grandmother king/queen prince/princess actor/actress employer/employee
employers/employees teachers/students parents/children doctor/patient host/guest lender/borrower landlord/tenant
"""
OPPOSITES: dict[str, list[str]] = {}
RELATED: dict[str, list[str]] = {}


def _fill(table: dict[str, list[str]], groups: Iterable[str]) -> None:
    for group in groups:
        words = group.split("/")
        for word in words:
            table.setdefault(word, []).extend(w for w in words if w != word)


_fill(OPPOSITES, _OPPOSITES.split())
_fill(RELATED, _RELATED.split())

PREPOSITIONS = {
    "before": "after",
    "after": "before",
    "until": "after",
    "above": "below",
    "below": "above",
    "inside": "outside",
    "outside": "inside",
    "during": "before",
    "without": "with",
    "against": "for",
    "into": "out of",
    "onto": "off",
    "towards": "away from",
    "behind": "in front of",
    "despite": "because of",
    "because": "although",
    "although": "because",
}
QUANTIFIERS = {
    "most": ("all",),
    "some": ("all", "most"),
    "many": ("all", "most", "few"),
    "several": ("all", "most"),
    "few": ("many", "most"),
    "half": ("all", "most"),
    "no": ("some", "many"),
    "all": ("none", "few"),
}
UNCOUNTED = {  # for what is no subject: "there were some differences" in other numbers
    "some": ("no",),
    "many": ("few", "no"),
    "several": ("no",),
    "few": ("many",),
    "no": ("some", "many"),
}
FREQUENCIES = {
    "often": "always",
    "sometimes": "always",
    "usually": "always",
    "typically": "always",
    "frequently": "always",
    "occasionally": "always",
    "rarely": "often",
    "seldom": "often",
    "never": "sometimes",
    "mostly": "entirely",
    "mainly": "exclusively",
    "largely": "entirely",
    "partly": "entirely",
    "partially": "entirely",
    "primarily": "exclusively",
    "predominantly": "exclusively",
}
HEDGES = frozenset(
    "possibly perhaps probably apparently reportedly allegedly supposedly presumably nearly almost likely".split()
)
MODALS = frozenset("may might could".split())
SAYING = frozenset(
    "say claim argue believe suggest think report allege propose speculate hypothesize assume contend maintain "
    "fear hope suspect estimate assert predict imply".split()
)
SELECTIVE = frozenset(  # adjectives that say which one, or take back what the noun says
    "other such same own former many more most first last only different few several fake alleged next previous "
    "potential possible proposed failed virtual honorary deputy assistant vice partial false artificial toy "
    "unsuccessful unfinished future attempted supposed apparent likely past ex- left right northern southern "
    "eastern western upper lower so-called main chief second third new late early less fewer least little much "
    "enough various certain high low old long short mock near counterfeit imaginary fictional fictitious "
    "purported would-be acting interim rival opposite further additional full half entire whole total single good "
    "great able large small big key important wide general".split()
)
