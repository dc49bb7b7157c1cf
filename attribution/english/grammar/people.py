"""Closed classes by which pronouns find their nouns: people, things that are none, verbs of becoming and moving."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex

CLAUSAL = lex.words("that who whom whether if when how why until till because where")
IMPERSONAL = lex.words(
    "seem seems seemed appear appears appeared happens"
    " happened turns turned follows followed rains rained snows snowed snowing raining take takes took taken remains"
    " remained makes made feels felt looks looked helps helped matters mattered depends depended pays paid pity shame"
    " question matter time fact day night morning evening mistake pleasure honour honor duty degrees o'clock pm am"
    " tradition custom responsibility job role goal aim possible way"
)
SHORT_OF_FACT = lex.words(
    "said thought believed known reported estimated hoped expected argued claimed suggested shown found noted agreed"
    " decided assumed understood considered recommended called"
)
FAMILY = {"his": "he", "her": "she", "its": "it", "their": "they", "him": "he", "them": "they"}
HE = frozenset("he him his himself".split())
SHE = frozenset("she her hers herself".split())
MEN = lex.words(
    "father brother husband son king prince uncle grandfather grandson nephew man boy sir mr mr. lord duke emperor"
    " pope baron businessman chairman widower"
)
WOMEN = lex.words(
    "mother sister wife daughter queen princess aunt grandmother granddaughter niece woman girl lady mrs mrs. ms ms."
    " miss dame duchess empress baroness actress businesswoman widow heiress"
)
ROLES = (
    lex.PERSONS
    | MEN
    | WOMEN
    | lex.words(
        "nurse neighbour neighbor soldier worker servant lodger farmer priest monk nun banker detective tenant author"
        " minister director manager chief judge officer coach captain partner friend colleague rival doctor"
        " scientist lawyer artist composer poet architect engineer painter producer governor mayor senator general"
        " assistant successor predecessor winner opponent driver pilot boss editor critic child baby heir pharaoh shah"
        " professor physicist chemist researcher philosopher historian dr dr. prof prof. chancellor secretary ceo"
        " economist surgeon patient bishop monarch ruler fellow agent biologist novelist journalist cricketer"
        " footballer musician dancer comedian wrestler boxer mentor tutor lover fiance boyfriend girlfriend twin"
        " guest host spouse victim suspect defendant plaintiff owner user visitor person"
    )
)
THINGS = lex.words(  # words of names that are no person's; none that is a surname too, as hall, park, church
    "university college school institute academy award awards prize museum company corporation corp corp. inc inc."
    " ltd ltd. group bank party club league cup championship series ministry department council court cathedral bridge"
    " tower river mount mountain island islands sea ocean road station airport hospital library theatre theater center"
    " centre society association union committee commission agency army navy force festival album film films show"
    " magazine journal press times news records entertainment studios pictures games television radio network system"
    " project program programme act treaty war battle revolution republic kingdom empire state states city county"
    " province district region valley palace parliament congress senate government foundation hotel harbor harbour"
    " line railway olympics best new united national royal international korea arabia america africa york zealand"
    " francisco angeles motors airlines bbc gallery orchestra band art arts science sciences studies history"
    " engineering medicine grand year order medal team building fund"
)
PARTICLES = lex.words("bin ibn al de van von der den di da la le el du dos of")
PLACED = lex.words("in at from near across into within around throughout under through on of via outside")
ALIAS = lex.words("is was as born named called née né nicknamed known")
LISTING = lex.words("including include includes included like featuring")
BECOMING = lex.words("become became becomes becoming as remain remains remained be been is are was were")
MOVING = lex.words("moved returned emigrated went relocated back travelled traveled fled came tour trip ambassador")
UNITS = lex.words(
    "metres meters metre feet foot km kilometres kilometers miles mile percent euros dollars pounds hectares acres"
    " tonnes tons degrees hours hour minutes minute seconds people inhabitants residents kg litres m million billion"
    " times storeys"
)


QUANTITY = lex.words("most more least less only even almost nearly both either neither")
SINGLE = lex.words("is was has does")
