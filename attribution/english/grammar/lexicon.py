"""Closed word classes of English, and the open words that rules look at: all that the splitter knows besides verbs."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = words("""
    a an the his its their my our your some any each every no both all several many few another such these those this
    various numerous certain whose
""")
PREPOSITIONS = words("""
    in on at by for with from into onto over under about against between among amongst through throughout during without
    within across toward towards upon via despite near beyond behind beside besides alongside along around above below
    beneath inside outside off per as than like unlike including except following regarding concerning amid amidst atop
    circa versus until till since after before up down out aboard opposite past worth plus minus
""")
SUBJECTS = words("he she it they we i you there who one everyone someone anyone nobody everybody something nothing")
PLURAL_SUBJECTS = words("they we i you these those")
OBJECTS = words("him them us me himself herself itself themselves myself ourselves yourself her")
BE = words("is are was were am isn't aren't wasn't weren't isn’t aren’t wasn’t weren’t")
HAVE = words("has have had hasn't haven't hadn't hasn’t haven’t hadn’t")
MODALS = words("""
    will would can could may might shall should must do does did cannot can't couldn't won't wouldn't shouldn't don't
    doesn't didn't can’t couldn’t won’t wouldn’t shouldn’t don’t doesn’t didn’t
""")
CONTRACTED = words("he's she's it's they're we're i'm you're that's there's he’s she’s it’s they’re we’re i’m you’re")
SUBORDINATORS = words("""
    because although though while whereas when whenever if unless whether once wherever lest whilst how why what
""")
CONCESSIVE = words("although though while whereas whilst")
TWO_WAY = words("after before since until till as")  # a preposition, or a subordinator where a clause follows
RELATIVES = words("which who whom whose where")
ADVERBS = words("""
    also then later not never now often still soon once ever always already just only even thus therefore however hence
    instead again together twice almost nearly quite rather very too so far further furthermore moreover meanwhile
    subsequently eventually finally currently formerly previously originally mainly mostly largely partly best better
    well widely commonly sometimes usually typically generally perhaps maybe abroad afterward afterwards there here both
    either neither else indeed nevertheless nonetheless otherwise likewise similarly additionally first second third
    initially ultimately yet thereby thereafter long most more less least much today yesterday tomorrow altogether apart
    aside away back forward forth elsewhere everywhere somewhat possibly probably solely overall notably
""")
MONTHS = words("""
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec
""")
TIME_NOUNS = words("""
    year years month months week weeks day days decade decades century centuries morning evening night summer winter
    spring autumn fall season age ages eve birthday monday tuesday wednesday thursday friday saturday sunday era time
""")
NUMBER_WORDS = words("""
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen
    dozens half
""")
ADJECTIVES = words("""
    small large big great high low long short old new young good bad early late major minor main chief key single whole
    free open common rare rich poor strong weak hard soft hot cold warm cool dry wet deep wide narrow thick thin heavy
    light dark bright red blue green black white yellow brown grey gray orange pink purple fast slow quick true false
    real full empty clean clear safe simple complex different same other own certain several many few first second third
    last next former northern southern eastern western central north south east west upper lower inner outer human
    public modern ancient popular famous similar particular regular annual monthly weekly daily happy sad male female
    senior junior prime top bold brave calm cheap close dense dull fair fine flat fresh gentle healthy huge tiny
    tall kind loud mild near neat nice odd pale plain proud pure quiet rough round sharp sick smooth solid sour steep
    sweet swift tight tough vast wild wise unique dynamic prominent notable significant important independent ambitious
    talented poignant light-hearted controversial abstract accurate inaccurate appropriate inappropriate adequate
    inadequate private ultimate intimate delicate immediate innate literate elaborate desperate fortunate unfortunate
""")
ADJECTIVE_ENDINGS = ("ous", "ful", "ive", "al", "ic", "able", "ible", "less", "ish", "ern", "esque", "ular")
NOUNS_LIKE_ADJECTIVES = words("""
    archive native executive detective relative representative initiative alternative objective perspective narrative
    cable table vegetable fish dish wish professional individual official criminal memorial tutorial trial serial
    intellectual manual ritual musical medical vocal animal festival hospital capital adhesive incentive directive
    preservative derivative additive cooperative collective motive olive operative locomotive journal arrival approval
    proposal survival rival metal signal terminal material general medal canal cardinal carnival cathedral removal
    denial referral principal tribunal funeral crystal mammal mineral chemical goal deal meal appeal total coral portal
    renewal withdrawal interval scandal disposal refusal burial numeral ideal federal music critic topic public logic
    clinic fabric mechanic traffic plastic epidemic pandemic academic republic classic graphic arithmetic statistic
    mosaic comic panic picnic magic arctic metric lyric relic attic ethic tactic mystic catholic alcoholic antibiotic
    characteristic diagnostic heretic skeptic polytechnic organic editorial credential commercial arsenal hal several
    loyal oral vessel
""")
TOGETHER = words("""
    between among amongst combination combinations mix mixture mixtures blend relationship relationships difference
    differences comparison conflict war border ratio merger union consist consists consisted composed comprised
    comprises comprise combine combines combined combining merge merged divided split range ranges ranging separate
    separated separates connect connects connected distinguish cross links link linked together both either neither
    marriage interaction interactions similarities fusion equal equals mixing pair couple respectively total sum
""")
DEMONYM_ENDINGS = ("ian", "ean", "ese", "ish", "ican", "ench", "utch", "eek", "eli", "aqi", "ani", "wiss", "elsh")
ABBREVIATIONS = words("""
    mr mrs ms dr st jr sr prof gen col lt sgt capt rev hon inc ltd co corp no vs vol fig etc u.s e.g i.e ca
""")
NOT_ADVERB = words("family only assembly supply reply july italy early fly ally rally anomaly monopoly lovely friendly")
COMPOUND_ENDINGS = (
    "level",
    "known",
    "term",
    "scale",
    "based",
    "born",
    "time",
    "year-old",
    "blooded",
    "speed",
    "quality",
    "free",
    "like",
)
PARTICLES = words("up down out off over along around past in on through")
FUNCTION_WORDS = (
    DETERMINERS
    | PREPOSITIONS
    | SUBJECTS
    | OBJECTS
    | BE
    | HAVE
    | MODALS
    | SUBORDINATORS
    | RELATIVES
    | words("yes even of to and or but not be been being nor yet so that also")
)
# Of German, French, Spanish, Italian, Dutch, Portuguese and Swedish; words that English has too are left out.
FOREIGN = words("""
    der das und ist nicht ein eine einer eines dem den von mit für auf wurde wird sich im zu bei aus nach auch sind le
    la les des du est dans une pour qui que sur avec par pas aux ont été cette sa il elle ce au el los las en una por
    con su es del al lo fue como más era pero sus di che gli della nel sono è alla dei un het een zijn op te dat niet
    voor o os um uma não na em ao dos och att som är på av för med till det
""")
PLACING = words("on in at during after following before since near from until aboard between around within off")
SHARED = words("by in at during near between throughout within")
REPEATED = words("as in on for at by from with against to")
PERSONS = words("""
    daughter son brother sister wife husband mother father child member singer actor actress writer author player leader
    politician founder man woman president teacher student nephew niece cousin grandson granddaughter
""")
ANSWERS = words("yes no correct indeed right true false")
DENYING = words("never hardly no neither few none nobody nothing nor not barely scarcely")
ONLY = words("only first second third last most least best worst next fourth fifth sixth youngest eldest")
NOT_SUPERLATIVE = words("""
    west northwest southwest forest guest interest request harvest protest conquest contest test chest priest rest quest
    modest honest arrest nest best est invest
""")
ABOUT = words("over about around nearly under roughly almost approximately some")
IN_TITLES = words("of the to a an and in on for with from at")  # small words between the capitals of a title
