"""Verbs of English and their forms; where a form is as often a noun, the words around it must decide."""

from __future__ import annotations

from itertools import chain

from propcite.attribution.english.grammar.lexicon import words

REGULAR = words("""
    abandon absorb accept accompany accomplish accuse achieve acknowledge acquire act adapt add address adjust admire
    admit adopt advise affect afford agree aim allow alter announce annoy appear apply appoint appreciate approach
    approve argue arise arrange arrest arrive ask assert assess assign assist associate assume assure attach attack
    attain attempt attend attract attribute author average avoid award ban base battle behave believe belong blame block
    boast border bounce brand broadcast burn calculate call campaign cancel capture care carry cast cause celebrate
    challenge champion change characterize charge chart chase check cite claim classify climb close co-found co-write
    coach collaborate collapse collect combine command commemorate commence comment commission commit communicate
    compare compete compile complain complete comprise compose compute concentrate concern conclude condemn conduct
    confirm connect conquer consider consist constitute construct consult consume contain continue contract contribute
    control convert convey convict convince cook cooperate coordinate cope correct correspond counter cover crash create
    criticize cross cultivate cure damage dance date debut decay decide declare decline decrease dedicate defeat defend
    define delay delegate deliver demand demolish demonstrate deny depart depend depict deploy derive descend describe
    design designate destroy detect deteriorate determine develop devote die differ direct disappear discover discuss
    display dissolve distinguish distribute divide divorce dominate donate double draft drop earn edit educate elect
    eliminate embrace emerge emphasize employ enable encode encounter encourage end endorse enforce engage enhance enjoy
    enlist ensure enter entitle equip escape establish estimate evaluate evolve examine exceed exchange exclude execute
    exercise exhibit exist expand expect experience explain explore export express extend face facilitate fail favor
    feature fill film finance finish fix flourish focus follow force form found function fund gain gather generate
    govern grab graduate grant guarantee guard guide happen head help highlight hire honor host identify ignore
    illustrate imagine immigrate impact implement imply import impose impress improve inaugurate incorporate increase
    indicate induce induct influence inform inhabit inherit initiate injure insist inspire install instruct integrate
    intend interact interest interpret interview introduce invade invent invest investigate invite involve isolate issue
    join judge jump justify kick kill label lack land last launch lie lift limit link list live locate look love lower
    maintain manage manufacture march mark marry master match matter mean measure melt mention merge migrate mount move
    multiply murder name narrate need negotiate nominate note notice number object obtain occupy occur offer open
    operate oppose orbit order organize originate oversee own paint participate pass peak perform permit persist
    persuade place plan plant play pledge point portray possess pour practice practise praise precede predict prefer
    premiere prepare present preserve press prevent print proceed process proclaim produce progress promise promote
    propose protect protest prove provide publish pull pump purchase pursue push qualify question quote race raise range
    rank rate reach react realize receive recognize recommend record recover recruit reduce refer reflect refuse regain
    regard register regulate reign reject relate release rely remain remark remember remove renew renounce repeat
    replace reply report represent request require rescue research resemble reside resign resist resolve respond restore
    restrict result resume retain retire return reveal reverse review revolve reward risk rule sample score scream
    search secure seem select sentence separate serve settle share shift sign signal simplify slow smile solve sound
    span spark specialize specify sponsor stand star start state stay stem stop store strengthen stretch struggle study
    submit succeed suffer suggest suit supervise supply support suppose surpass surrender surround survive suspect
    suspend switch symbolize target taste tend test testify thank threaten top total touch tour trace track trade train
    transfer transform translate transmit transport travel treat trigger try turn undergo unite update urge use utilize
    value vanish vary view violate visit voice volunteer vote wait walk want warn wash watch wear weigh welcome witness
    wonder work worry worship wound yield encompass overlap adjoin allege amend analyze analyse appeal attest bear bind
    bombard breach breed bypass characterise circulate clarify coin comply conceive concede confer conform confuse
    contend contest contradict contrast convene correlate criticise debate dictate digest discharge discontinue dispute
    disrupt drain dwell emigrate emit endure entail evoke expel exploit expose filter flee flow fuel fulfil fulfill harm
    harvest hunt ignite inhibit interfere intersect intervene invoke lobby localize loosen minimize mix modify monitor
    mutate omit overthrow penetrate perceive pioneer pollinate predate prescribe pronounce quit ratify rebuild recall
    reproduce revise rotate scale scatter secrete seize shed ship sink spawn specialise stabilize stimulate strike
    supplement suppress sustain tackle terminate thrive tolerate trap typify underlie vaccinate vibrate warrant withdraw
    headquarter reinforce recur mature deposit freeze boil evaporate condense erupt fly converge diverge overlook
    populate colonize annex cede depose crown ordain canonize co-star co-author abuse accelerate accumulate activate
    adhere administer advance age aggravate alert align allocate alleviate alternate amount amplify anticipate apologize
    appease approximate ascend aspire assemble assault assimilate attenuate audit augment authorize automate avert await
    balance bake bark bathe bend bless bloom boost bother bow brush bud buffer bury calm calibrate carve cater cease
    center centre certify chair cheer chew circle cleanse cling clog cluster collide commute compensate complement
    complicate compress compromise conceal configure confine confront conserve console consolidate constrain contaminate
    cool copy corrode counteract couple crack crawl creep cripple cruise crush cull curb curl cycle dampen decode
    decompose deduct defect defer degrade deliberate delight denote denounce deplete depress deprive destabilize detach
    detail deter devastate diagnose differentiate diffuse dig dilate dilute dim diminish dip disable discard disclose
    discourage disguise dismiss dispatch disperse displace distort distract diversify divert dock document drag drift
    drown dry dump duplicate echo edge elaborate elevate elicit elongate embark embed embody empower empty encircle
    enclose encrypt endanger endow engulf enlarge enrich enrol enroll ensue entertain enumerate equal equate eradicate
    erode err escalate escort etch evacuate evade evict exacerbate exaggerate excel excite exclaim excrete exempt exert
    exhaust expedite expire explode extinguish extract fade falter fascinate fasten fatten faint ferment fertilize
    finalize fit flag flash flatten flip float flood fluctuate fold forage forecast foresee forge format formulate
    foster fracture frame frighten frustrate furnish fuse gauge generalize germinate glide glow grade graze greet grind
    grip guess halt hamper handle hatch haul heal heat hedge herald hesitate hinder hinge hop house hover humiliate
    hydrate illuminate imitate immerse impair impede impeach impart imprison improvise incite incline incubate incur
    indict infect infer infest inflate inflict infringe inhale inject innovate inquire insert inspect instigate insulate
    insult insure intensify intercept interrupt intimidate intrigue invert iterate jeopardize knock lag lament lapse
    laugh leak lean leap lecture legalize lengthen lighten linger liquidate listen litigate lock lodge log loop loot
    lubricate magnify mandate manifest manipulate map mask mate maximise maximize mediate meditate memorize mentor mimic
    mine mirror mobilize moderate modernize modulate molest motivate mourn narrow nest nod nourish nurture obey oblige
    obscure obstruct offend offset ooze orchestrate orient ornament oscillate outline outnumber outperform outrank
    override overturn oxidize pack parse partner patent pause peel perish persecute pertain phrase pierce plague plead
    please plot plunge poison polish poll pollute pop pose postpone pray preach preclude predominate preempt preside
    presume prevail probe proliferate prolong prompt propagate propel prosecute prosper prune publicize puncture punish
    purify quantify query quench radiate rally ramp reactivate realise reassure rebel recede recite recline reconcile
    reconstruct recycle redeem redefine redirect redistribute refine refrain refresh refute regenerate rehabilitate
    reinstate reiterate rejoin relax relay relieve relinquish relocate remedy remind render renovate rent reopen repay
    soothe thin
    repel replenish replicate repress rescind reshape resonate respect respire retreat retrieve reunite revert revive
    revoke revolt rinse rip roam roar roll rub ruin rupture rush salvage saturate save scan schedule scrape screen
    scrutinize seal season seat segment sense serialize shade shape sharpen shatter shelter shield shorten shout shrug
    shuffle sip skip slide slip smell smoke snap soak soar solidify sort spare spill splash spoil spray sprout squeeze
    stab stabilise stack staff stage stain stall stamp starve steer sterilize stipulate stir straddle strain streamline
    stress strip stumble subdivide subside substitute subtract sue summarize summon supersede surge swallow swap sway
    sweat swell swirl sympathize synchronize synthesize synthesise systematize tag tailor tap tax tease tempt thicken
    tie tighten tilt toast toss tow tower transcend transcribe transit transition tread trim triumph trouble tuck tumble
    tutor twist unfold unify unlock unveil uphold upload upgrade uproot upset usher utter validate vaporize verify vest
    veto visualize void vow warm warp waste water weaken wean whisper widen wipe wire wish withstand wrap wreck yearn
    zoom download decrypt debug deallocate metabolize hydrolyze catalyze catalyse phosphorylate
""")
NOUN_VERBS = words("""
    act address aim approach arrest attack attempt attribute author average award ban base battle blame block border
    brand broadcast campaign care cast cause challenge champion change charge chart check claim close coach command
    comment commission concern conduct contact contract control counter cover crash cross cure damage dance date debut
    decline decrease defeat delay delegate demand design display divide divorce double draft drop earn end escape
    estimate exchange exercise exhibit experience export express face favor feature fill film finance finish fix flow
    focus force form fuel function fund gain grant guarantee guard guide harvest head help highlight honor host impact
    import increase influence interest interview invite issue judge jump kick label lack land last launch lie lift limit
    link list live look love march mark master match matter measure mention mix monitor mount move murder name need note
    notice number object offer open orbit order own paint pass peak permit pioneer place plan plant play pledge point
    practice practise premiere present press print process progress project promise protest pump purchase push question
    quote race range rank rate reach record reign release remark report request research resort result return review
    reward risk rule run sample scale score search sentence set ship shift show sign signal sound span spark sponsor
    stand star start state stay stem stop store strike struggle study suit supply support surrender suspect switch
    target taste test top total touch tour trace track trade train transfer transport trap travel treat trigger turn
    update use value view visit voice volunteer vote wait walk wash watch welcome witness wonder work worship wound
    yield drink drive fall feed fight fly hold hurt leave meet read ride rise sleep speak stick sting swim think throw
    win write spread split contrast contest debate dispute lobby supplement transmit deposit crown abuse age advance
    alert amount approximate assault audit balance bark bow brush bud buffer center centre chair cheer circle cluster
    commute compliment compromise copy couple crack crawl cruise cycle defect detail dip disguise dispatch document drag
    drift dump echo edge equal escort exhaust fit flag flash flip float flood fold forecast forge format fracture frame
    fuse gauge glow grade grip guess halt handle hatch haul heat hedge hop house insult laugh leak leap lecture lock
    lodge log loop map mandate manifest mask mate mentor mine mirror nest orient outline pack partner patent pause peel
    phrase plague plot poison polish poll pop pose probe prompt query rally ramp rebel relay remedy rent respect retreat
    revolt roll ruin rupture rush save scan schedule scrape screen seal season seat segment sense shade shape shelter
    shield shout slide slip smell smoke snap sort spill splash spray sprout squeeze stab stack staff stage stain stall
    stamp strain stress strip substitute surge swallow swap tag tailor tap tax tie toast toss tow tower transit
    transition triumph trouble twist upgrade void vow warp waste water wire wish wrap wreck cool dry empty download
    install spin bend crush moderate alternate deliberate elaborate separate duplicate
""")
_IRREGULAR = """
    arise/arose/arisen become/became/become begin/began/begun bind/bound/- bite/bit/bitten bleed/bled/- blow/blew/blown
    break/broke/broken breed/bred/- bring/brought/- build/built/- buy/bought/- catch/caught/- choose/chose/chosen
    come/came/come deal/dealt/- dig/dug/- draw/drew/drawn drink/drank/drunk drive/drove/driven eat/ate/eaten
    fall/fell/fallen feed/fed/- feel/felt/- fight/fought/- find/found/- flee/fled/- fly/flew/flown
    forbid/forbade/forbidden forget/forgot/forgotten forgive/forgave/forgiven freeze/froze/frozen get/got/gotten
    give/gave/given go/went/gone grow/grew/grown hang/hung/- hear/heard/- hide/hid/hidden hold/held/- keep/kept/-
    know/knew/known lay/laid/- lead/led/- learn/learnt/- leave/left/- lend/lent/- lose/lost/- make/made/- mean/meant/-
    meet/met/- overcome/overcame/overcome oversee/oversaw/overseen overthrow/overthrew/overthrown pay/paid/-
    rebuild/rebuilt/- rewrite/rewrote/rewritten ride/rode/ridden ring/rang/rung rise/rose/risen run/ran/run say/said/-
    see/saw/seen seek/sought/- sell/sold/- send/sent/- shake/shook/shaken shine/shone/- shoot/shot/- show/showed/shown
    shrink/shrank/shrunk sing/sang/sung sink/sank/sunk sit/sat/- sleep/slept/- speak/spoke/spoken spend/spent/-
    spin/spun/- stand/stood/- steal/stole/stolen stick/stuck/- strike/struck/stricken strive/strove/striven
    swear/swore/sworn sweep/swept/- swim/swam/swum swing/swung/- take/took/taken teach/taught/- tear/tore/torn
    tell/told/- think/thought/- throw/threw/thrown undergo/underwent/undergone understand/understood/-
    undertake/undertook/undertaken wake/woke/woken wear/wore/worn weave/wove/woven win/won/- withdraw/withdrew/withdrawn
    write/wrote/written co-write/co-wrote/co-written bear/bore/born hurt/hurt/- cut/cut/- put/put/- set/set/- hit/hit/-
    withhold/withheld/- uphold/upheld/- foresee/foresaw/foreseen mislead/misled/- undo/undid/undone
    override/overrode/overridden outgrow/outgrew/outgrown cling/clung/- creep/crept/- fling/flung/- foretell/foretold/-
    overhear/overheard/- overtake/overtook/overtaken redo/redid/redone remake/remade/- repay/repaid/-
    retell/retold/- slide/slid/- spill/spilt/- weep/wept/-
    withstand/withstood/- bend/bent/- outsell/outsold/- overspend/overspent/- underpay/underpaid/-
    spread/spread/- split/split/- read/read/- cost/cost/- shut/shut/- let/let/- quit/quit/-
"""
IRREGULAR = tuple(tuple(entry.split("/")) for entry in _IRREGULAR.split())
BASE_OF_FORM = {
    form: base for base, *forms in reversed(IRREGULAR) for form in forms if form not in {"-", "lay", "bore"}
}
OTHER_BASES = words("include be have do used sign try apply study marry carry die lie occupy identify")
REPORTING = words("""
    say says said state states stated claim claims claimed argue argues argued believe believes believed think thinks
    thought report reports reported announce announces announced suggest suggests suggested know knows knew explain
    explains explained note notes noted write writes wrote declare declares declared show shows showed shown find finds
    found mention mentions mentioned confirm confirms confirmed deny denies denied tell tells told reveal reveals
    revealed indicate indicates indicated observe observes observed conclude concludes concluded realize realizes
    realized agree agrees agreed insist insists insisted fear fears feared hope hopes hoped doubt doubts doubted allege
    alleges alleged recommend recommends recommended mean means meant assert asserts asserted estimate estimates
    estimated predict predicts predicted propose proposes proposed demonstrate demonstrates demonstrated speculate
    speculates speculated emphasize emphasizes emphasized hypothesize hypothesized saying
""")
EVENTS = words("""
    born died passed dies released premiered held played opened launched founded established published built completed
    married graduated killed buried inaugurated aired recorded filmed signed elected appointed formed created performed
    served worked lived raised educated debuted debut erupted occurred located happened broadcast arrested executed
    baptized assassinated crowned incorporated discovered invented introduced discontinued place retired sank crashed
    landed fought defeated awarded inducted named moved joined enrolled taught studied
""")


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _gerund(base: str) -> str:
    return base[:-1] + "ing" if base.endswith("e") and not base.endswith(("ee", "oe")) else base + "ing"


_BASES = REGULAR | OTHER_BASES | NOUN_VERBS | frozenset(entry[0] for entry in IRREGULAR)
BASE_VERBS = _BASES - {"used", "be"}
THIRD_PERSON = {_third(base): base for base in BASE_VERBS}
PAST_ONLY = frozenset(past for _, past, participle in IRREGULAR if participle not in ("-", past))
PAST_OR_PARTICIPLE = frozenset(past for base, past, participle in IRREGULAR if participle == "-" and past != base)
PARTICIPLES = frozenset(
    chain((p for base, past, p in IRREGULAR if p not in ("-", past, base)), words("known born done been"))
)
NOT_PAST = words("""
    red bed seed need feed speed breed shed wed bred fed led hundred kindred sacred naked wicked rugged embed indeed
    exceed proceed succeed weed deed greed reed creed hatred unmanned talented so-called
""")
NOT_GERUND = words("""
    king ring spring string thing sing bring during nothing something everything anything wing evening morning ceiling
    building wedding sibling being ping ming feeling meaning hearing beijing boeing
""")
SAME_FORMS = words("cut put set hit cost read let spread split shut hurt quit cast broadcast")
NEVER_PASSIVE = words("""
    moved died lived worked graduated returned arrived traveled travelled remained appeared happened occurred attended
    studied belonged existed emerged competed participated resigned retired debuted went starred stayed succeeded failed
    dealt toured rose fell grew continued began became joined peaked earned gained ran sang wrote migrated emigrated
    immigrated
    settled lasted served
""")
NAMING = words("""
    named called awarded elected appointed considered given made declared crowned voted dubbed titled renamed
""")
_PASTS = {base: past for base, past, _ in IRREGULAR}
GERUNDS = {_gerund(base): base for base in BASE_VERBS}
_DOUBLED = words("set cut put hit run win begin get stop plan star ban swim sit spin trap ship drop shed rob")
GERUNDS |= {base + base[-1] + "ing": base for base in _DOUBLED}


def base_of(gerund: str) -> str | None:
    """The verb of an -ing form, where it is known.

    >>> base_of("making"), base_of("winning"), base_of("transactivating"), base_of("morning")
    ('make', 'win', 'transactivate', None)
    """
    known = GERUNDS.get(gerund)
    if known is None and len(gerund) > 7:
        stem = gerund.removesuffix("ing")
        if stem.endswith(("at", "iz", "uc", "iv")):
            return stem + "e"
        if stem.endswith(("ify", "ish", "ct", "pt", "nt", "nd", "ld", "fy")):
            return stem
    return known


def past_of(base: str) -> str:
    """The past of a known verb.

    >>> past_of("become"), past_of("marry"), past_of("die"), past_of("plan")
    ('became', 'married', 'died', 'planned')
    """
    if base in _PASTS:
        return _PASTS[base]
    if base in {"be", "have", "do"}:
        return {"be": "was", "have": "had", "do": "did"}[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if base in _DOUBLED else base + "ed"


def third_of(base: str) -> str:
    """The third person of a known verb.

    >>> third_of("make"), third_of("carry"), third_of("have")
    ('makes', 'carries', 'has')
    """
    return "has" if base == "have" else _third(base)


STATES = words("""
    based located known situated used called named considered regarded found derived related associated composed made
    designed headquartered intended dedicated characterized caused produced inhabited owned operated surrounded placed
    set spoken divided distributed listed involved engaged concerned specialized comprised best married
""")
DONE = words("born founded established built discovered killed released published launched formed completed opened")
SENTENTIAL = words("""
    indicates indicated means meant suggests suggested implies implied leads led allows allowed makes made helps helped
    results resulted enables enabled ensures ensured shows showed proves proved causes caused affects affected explains
    explained reflects demonstrates highlights prevents prevented translates creates created gives gave
""")
EVENT_GERUNDS = words("""
    making causing resulting leading allowing giving bringing leaving creating meaning ensuring enabling marking
    prompting forcing converting depending regarding concerning using beginning starting ending followed including
    excluding ranging according following
""")
