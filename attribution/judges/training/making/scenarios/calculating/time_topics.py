"""What years, dates, ages and weekdays are told of, and what is claimed of them."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.calculating.figures import Topic

# From year {a} to year {b}: {n} years, {rough}.
YEARS: Final = (
    Topic(
        (
            "“{w}”, the first film of the series, came out in {a}.|{p} directed the sequel, released in {b}.",
            "The film “{w}” was released in {a} to good reviews.|Its sequel, with {p} in the lead, followed in {b}.",
            "After “{w}” ({a}), {p} waited a long time before making its sequel ({b}).",
        ),
        (
            "{span} went by between “{w}” and its sequel",
            "The sequel to “{w}” came out {span} after the first film",
            "Audiences had to wait {span} for a sequel to “{w}”",
            "{span} later, “{w}” was followed by a sequel",
            "“{w}” was released {span} before its sequel",
        ),
        ("The first film ran for {x} weeks in {c}.", "{q} wrote the music in {y} days."),
    ),
    Topic(
        (
            "{o} was founded in {c} in {a}.|In {b} the firm was taken over by {u}.",
            "Founded in {a}, {o} began as a small workshop.|It lost its independence when {u} bought it in {b}.",
            "{o} ({a}–{b}) was an independent company until its purchase by {u}.",
        ),
        (
            "{o} remained independent for {span}",
            "{span} after its foundation, {o} was bought by {u}",
            "{o}, which was taken over by {u}, had been independent for {span}",
            "The foundation of {o} and its takeover lie {span} apart",
        ),
        ("At first {o} employed {x} people.", "{u} also owned {y} shops at that time."),
    ),
    Topic(
        (
            "{p} was mayor of {c} from {a} until {b}.",
            "{p} took office as mayor of {c} in {a}.|The mayor was succeeded by {q} in {b}.",
            "Elected mayor of {c} in {a}, {p} stepped down in {b} in favour of {q}.",
            "Mayors of {c} included {p} ({a}–{b}), a former teacher.",
        ),
        (
            "{p} was mayor of {c} for {span}",
            "For {span}, {p} governed the city of {c}",
            "{p} spent {span} at the head of the city of {c}",
            "After {span} in office, {p} ceased to be mayor of {c}",
        ),
        ("The city council had {x} members.", "{r} had lost an election by {y} votes."),
    ),
    Topic(
        (
            "The illness was first described by {p} in {a}.|A vaccine against it was approved in {b}.",
            "In {a} {p} identified the cause of the disease.|It was not until {b} that a vaccine was found.",
            "Although {p} described the disease in {a}, no vaccine was available before {b}, when one was approved.",
        ),
        (
            "{span} passed between the work of {p} on the disease and the vaccine",
            "A vaccine became available {span} after the work of {p}",
            "It took {span} from the work of {p} until there was a vaccine",
            "The work of {p} came {span} before the vaccine",
        ),
        ("The first trial had {x} patients.", "The vaccine is given in {y} countries."),
    ),
    Topic(
        (
            "{c} won the national cup in {a}.|The club had to wait until {b} for its next title.",
            "The team from {c} lifted the cup in {a} and, for the next time, in {b}.",
            "A first triumph in {a} was followed by lean times, and {c} won its second cup only in {b}.",
        ),
        (
            "{c} won the cup again after {span}",
            "{span} lie between the two cups of {c}",
            "The supporters of {c} waited {span} for another cup",
            "In {b}, {c} took the cup again, {span} after the last win",
        ),
        ("The stadium was enlarged by {x} rows.", "{p} scored {y} goals for the club."),
    ),
    Topic(
        (
            "Work on the bridge near {c} began in {a}.|Trains have crossed it since its opening in {b}.",
            "The railway bridge at {c} was begun in {a} and opened to trains in {b}.",
            "Construction of the bridge at {c} ({a}–{b}) was led by {p}.",
        ),
        (
            "The bridge at {c} took {span} to build",
            "The bridge at {c} was under construction for {span}",
            "It was {span} after the start of work that the bridge at {c} was finished",
            "{span} of work were needed for the bridge at {c}",
        ),
        ("Its longest span measures {x} metres.", "{q} lent {y} workers for the project."),
    ),
)
ANCIENT: Final = (
    Topic(
        (
            "The king ruled from {a} to {b} BC.|His capital was {c}.",
            "He came to the throne in {a} BC, and he reigned until his death in {b} BC.",
            "During his reign ({a}–{b} BC) the king founded the port of {c}.",
            "The king, crowned in {a} BC, was overthrown in {b} BC.",
        ),
        (
            "The king ruled for {span}",
            "The reign of the king lasted {span}",
            "He was king for {span}",
            "After {span} on the throne, the reign of the king was over",
        ),
        ("He led {x} campaigns.",),
    ),
)
# From {d1} to {d2} of {m}.
DATES: Final = (
    Topic(
        (
            "The siege of {c} began on {d1} {m}.|The town surrendered on {d2} {m}.",
            "{c} was surrounded on {m} {d1}, and it fell on {m} {d2}.",
        ),
        (
            "{c} held out for {n:day}",
            "{n:day} after the siege began, {c} gave up",
            "The siege of {c} lasted {n:day}",
            "It took {n:day} until {c} fell",
        ),
        ("The garrison had {x} guns.",),
    ),
    Topic(
        (
            "The ship left {c} on {d1} {m}.|On {d2} {m} it reached {d}.",
            "Having sailed from {c} on {m} {d1}, the ship arrived in {d} on {m} {d2}.",
        ),
        (
            "The voyage from {c} to {d} took {n:day}",
            "The ship arrived in {d} {n:day} after leaving {c}",
            "{n:day} passed between the departure from {c} and the arrival in {d}",
            "It was at sea for {n:day} before it reached {d}",
        ),
        ("It carried {x} passengers.",),
    ),
    Topic(
        (
            "{p} was admitted to hospital on {m} {d1}.|On {m} {d2} the doctors let the patient go home.",
            "On {d1} {m} {p} was taken to hospital in {c}, and the treatment ended with the return home on {d2} {m}.",
        ),
        (
            "{p} went home after {n:day} in hospital",
            "{p} stayed in hospital for {n:day}",
            "{n:day} after being admitted, {p} left the hospital",
            "The hospital discharged {p} {n:day} after admission",
        ),
        ("The ward has {x} beds.",),
    ),
)
MONTHS_APART: Final = (
    Topic(
        (
            "{o} announced the merger in {m1} {a}.|It was completed in {m2} of the same year.",
            "The merger of {o} and {u}, made public in {m1} {a}, was completed in {m2} {a}.",
        ),
        (
            "{n:month} after it was announced, the merger of {o} was complete",
            "The merger of {o} took {n:month} from its announcement to its completion",
            "{n:month} lay between the announcement of the merger of {o} and its completion",
            "The merger of {o} was completed {n:month} after the announcement",
        ),
        ("The new group has {x} plants.",),
    ),
    Topic(
        (
            "{p} joined the club in {m1} {a}.|In {m2} {a} the contract was dissolved.",
            "The coach {p}, hired in {m1} {a}, was dismissed in {m2} of that year.",
        ),
        (
            "{p} was with the club for {n:month}",
            "{p} lasted {n:month} at the club",
            "The club parted with {p} after {n:month}",
            "{n:month} after coming to the club, {p} had to leave",
        ),
        ("The team won {x} matches.",),
    ),
)
AGES: Final = (
    Topic(
        (
            "{p} was born in {m1}{a} in {c}.|In {m2}{b} the physicist received the great prize.",
            "The physicist {p}, born in {m1}{a}, was awarded the great prize in {m2}{b}.",
        ),
        (
            "{p} was {n:year} old when the prize was awarded",
            "{p} received the prize at the age of {n}",
            "Aged {n}, {p} won the great prize",
            "The prize went to {p}, who was {n} at the time",
        ),
        ("{q} had received it {x} years before.",),
    ),
    Topic(
        (
            "{p}, born in {m1}{a}, studied law in {c}.|Parliament elected {p} prime minister in {m2}{b}.",
            "Born in {m1}{a}, {p} became prime minister of {k} in {m2}{b}.",
        ),
        (
            "{p} became prime minister at the age of {n}",
            "At {n}, {p} was elected prime minister",
            "{p} was {n:year} old on taking office",
            "The new prime minister, {p}, was {n:year} old",
        ),
        ("The government had {x} ministers.",),
    ),
    Topic(
        (
            "The singer {p} was born in {m1}{a}.|The first album, “{w}”, appeared in {m2}{b}.",
            "“{w}”, the first album by {p} (born in {m1}{a}), was published in {m2}{b}.",
        ),
        (
            "{p} was {n} when “{w}” came out",
            "{p} published “{w}” at the age of {n}",
            "At the age of {n}, {p} brought out the first album",
            "“{w}” is by {p}, who was then {n:year} old",
        ),
        ("The album has {x} songs.",),
    ),
)
# A year {a}: its decade {decade}, its century {century}, its half {half}.
PERIODS: Final = (
    Topic(
        ("The railway between {c} and {d} was opened in {a}.", "In {a} {c} and {d} were linked by a railway."),
        (
            "{c} and {d} were linked by a railway in the {decade}",
            "The railway to {d} dates from the {century} century",
            "A railway between {c} and {d} opened in the {half} half of the {century} century",
            "The {decade} saw the opening of the railway from {c} to {d}",
        ),
        ("The line has {x} stations.",),
    ),
    Topic(
        ("{p} painted “{w}” in {a}.", "“{w}” ({a}) is the best-known picture by {p}."),
        (
            "“{w}” was painted by {p} in the {decade}",
            "“{w}”, a picture by {p}, is a work of the {century} century",
            "{p}, who painted “{w}”, was active in the {half} half of the {century} century",
            "“{w}” belongs to the {decade}",
        ),
        ("It was shown in {x} cities.",),
    ),
    Topic(
        ("The university of {c} was founded in {a}.", "{c} has had a university since {a}, when {p} founded it."),
        (
            "The university of {c} goes back to the {century} century",
            "{c} got its university in the {decade}",
            "The foundation of the university of {c} falls in the {half} half of the {century} century",
            "In the {decade}, a university was founded in {c}",
        ),
        ("It has {x} institutes.",),
    ),
)
# Year {b} is told as {gap} year {a}.
SHIFTS: Final = (
    Topic(
        (
            "{p} won the championship in {a}.|{gap}, {q} took the title.",
            "In {a} the championship went to {p}, and {gap} it was won by {q}.",
        ),
        (
            "{q} won the championship in {b}",
            "In {b}, the champion was {q}",
            "{q} took the title of {b}",
            "The championship of {b} was won by {q}",
        ),
        ("{r} finished {x} points behind.",),
    ),
    Topic(
        (
            "{o} opened a factory in {c} in {a}.|{gap}, it opened another in {d}.",
            "A factory of {o} has stood in {c} since {a}; {gap}, the company built one in {d}.",
        ),
        (
            "The factory in {d} was opened in {b}",
            "In {b}, {o} opened a factory in {d}",
            "{o} began production in {d} in {b}",
            "The factory of {o} in {d} dates from {b}",
        ),
        ("The factory in {c} has {x} machines.",),
    ),
)
# {d1} {m} is a {day1}; {n} days later, on {d2}, it is a {day2}.
WEEKDAYS: Final = (
    Topic(
        (
            "The strike was called for {day1}, {d1} {m}.|It began on {d2} {m}.",
            "On {day1}, {m} {d1}, the drivers voted to strike.|The strike itself began on {m} {d2}.",
        ),
        (
            "The strike began on a {day2}",
            "The drivers went on strike on a {day2}",
            "It was on a {day2} that the strike began",
            "The first day of the strike was a {day2}",
        ),
        ("The union has {x} branches.",),
    ),
    Topic(
        (
            "The film was first shown on {day1}, {d1} {m}.|Cinemas in {c} got it {n} days later.",
            "The premiere took place on {m} {d1}, a {day1}.|In {c}, the film started on {m} {d2}.",
        ),
        (
            "The film started in {c} on a {day2}",
            "Cinemas in {c} first showed the film on a {day2}",
            "A {day2} was the day on which the film came to {c}",
            "It was a {day2} when people in {c} could first see the film",
        ),
        ("It was shown in {x} halls.",),
    ),
)
