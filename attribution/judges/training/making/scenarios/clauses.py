"""Subjects with statements about them: "base third-person past rest", of which none bears on another."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import topics

# What things do or are, as a rule.
GENERAL: Final = topics("""
the drug | lower lowers lowered blood pressure | cause causes caused drowsiness | protect protects protected the liver | interfere interferes interfered with blood thinners | improve improves improved memory
the vaccine made by {c} | prevent prevents prevented severe illness | protect protects protected infants | trigger triggers triggered mild fever | remain remains remained stable at room temperature
the protein | regulate regulates regulated cell growth | bind binds bound to calcium | slow slows slowed tumour growth | contribute contributes contributed to inflammation
the new version of the driver | support supports supported older cards | reduce reduces reduced memory use | require requires required a restart | break breaks broke some scripts
the cache | survive survives survived a crash | double doubles doubled the response time | store stores stored passwords | need needs needed a separate disk
the lake near {p} | contain contains contained traces of mercury | freeze freezes froze every winter | attract attracts attracted rare birds | supply supplies supplied the city with water
the glacier above {p} | feed feeds fed three rivers | lose loses lost a metre of ice each year | cover covers covered an old road | contain contains contained volcanic ash
the contract with {c} | bind binds bound the heirs | cover covers covered flood damage | violate violates violated competition law | allow allows allowed early termination
the tax in {p} | hurt hurts hurt small shops | favour favours favoured large families | discourage discourages discouraged saving | finance finances financed the new tram line
the manuscript from {p} | describe describes described a real journey | quote quotes quoted a lost poem | contain contains contained errors by a later copyist | mention mentions mentioned a comet
the portrait in {p} | show shows showed the artist's wife | hide hides hid an earlier sketch | belong belongs belonged to the city | date dates dated from the seventeenth century
the new stadium in {p} | attract attracts attracted families | disturb disturbs disturbed the neighbours | earn earns earned a profit | use uses used solar power
the dialect of {p} | preserve preserves preserved medieval sounds | lack lacks lacked a future tense | borrow borrows borrowed words from Dutch | change changes changed from street to street
the alloy | resist resists resisted corrosion | conduct conducts conducted heat well | shrink shrinks shrank when cooled | contain contains contained nickel
the bat species | migrate migrates migrated in autumn | feed feeds fed on moths | live lives lived for thirty years | carry carries carried the virus
""")  # noqa: E501

# Subjects of which a condition such as "it is cold" may make sense.
CONDITIONAL: Final = tuple(
    topic
    for topic in GENERAL
    if topic.subject.startswith(
        ("the drug", "the protein", "the new version", "the cache", "the alloy", "the bat", "the vaccine")
    )
)

# What someone did once: the verbs' past is also their participle.
DEEDS: Final = topics("""
{c} | build builds built a plant in {p} | close closes closed two warehouses | buy buys bought a rival | hire hires hired 300 engineers | sell sells sold its ferry line
the city of {p} | build builds built a second bridge | ban bans banned diesel cars | restore restores restored the old theatre | sell sells sold the waterworks | open opens opened a night shelter
{a} | publish publishes published a memoir | translate translates translated the poems | found founds founded a school in {p} | sell sells sold the family house | climb climbs climbed the north face
the government | abolish abolishes abolished the salt tax | extend extends extended the railway to {p} | ban bans banned lead paint | recognise recognises recognised the new republic | raise raises raised the pension age
the army | cross crosses crossed the river | capture captures captured {p} | burn burns burned the stores | release releases released the prisoners
the studio | reshoot reshoots reshot the final scene | film films filmed a sequel in {p} | replace replaces replaced the composer | cut cuts cut twenty minutes from the film
the developers | rewrite rewrites rewrote the parser | remove removes removed the old interface | add adds added dark mode | move moves moved the code to a public server
the hospital in {p} | close closes closed its maternity ward | test tests tested the new scanner | hire hires hired forty nurses | publish publishes published its death rates
the court | hear hears heard the appeal | order orders ordered a retrial | release releases released the files | fine fines fined {c}
the museum in {p} | return returns returned the bronzes | buy buys bought a Vermeer | catalogue catalogues catalogued its coins | lend lends lent the armour to {c}
the club | sign signs signed a new goalkeeper | rebuild rebuilds rebuilt the east stand | sell sells sold its captain | appoint appoints appointed a woman as coach
""")  # noqa: E501

# What members of a group do.
GROUPS: Final = topics("""
schools in {p} | close closes closed early that day | receive receives received a grant | teach teaches taught Latin | report reports reported a shortage of teachers
patients | report reports reported headaches | complete completes completed the study | return returns returned to work within a year | develop develops developed a rash
employees of {c} | join joins joined the strike | work works worked from home | accept accepts accepted the offer | receive receives received a bonus
critics | praise praises praised the acting | compare compares compared the film to a play | dislike dislikes disliked the ending | mention mentions mentioned the music
houses in the old town of {p} | survive survives survived the fire | belong belongs belonged to merchants | lack lacks lacked running water | stand stands stood empty
plugins | support supports supported the new format | need needs needed a licence key | slow slows slowed the start | send sends sent data to {c}
players | criticise criticises criticised the coach | wear wears wore black armbands | come comes came from abroad | miss misses missed the first training
judges | side sides sided with the plaintiff | write writes wrote a separate opinion | cite cites cited the older case | retire retires retired the same year
islands | belong belongs belonged to the crown | have has had a harbour | lose loses lost their forests | export exports exported wool
samples | contain contains contained lead | test tests tested positive | come comes came from {p} | show shows showed signs of decay
""")  # noqa: E501

# Events, and what rose or fell after them.
EVENTS: Final = topics("""
the price reform | increase increases increased the number of strikes | lower lowers lowered the demand for coal | raise raises raised the sales of bicycles
the new bridge in {p} | increase increases increased traffic in the suburbs | lower lowers lowered the fares of the ferry | raise raises raised rents along the river
the ban on smoking | lower lowers lowered the number of heart attacks | increase increases increased the trade of street cafes | cut cuts cut cinema attendance
coffee drinking | lower lowers lowered the risk of gout | raise raises raised blood pressure | cut cuts cut sleeping time
the arrival of {c} | raise raises raised wages in {p} | cut cuts cut the number of small shops | increase increases increased the noise at night
the change of coach | increase increases increased the number of goals | cut cuts cut the number of injuries | raise raises raised ticket sales
the update | increase increases increased the number of crashes | cut cuts cut the start time | raise raises raised the battery use
the drought | raise raises raised the price of bread | cut cuts cut the number of storks | increase increases increased the number of fires
shift work | raise raises raised cholesterol | increase increases increased the divorce rate | cut cuts cut the birth rate
""")  # noqa: E501
