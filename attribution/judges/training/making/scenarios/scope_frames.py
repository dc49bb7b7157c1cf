"""Wordings of statements that hold within limits: of a place, a group, a part, a study; and of details left open."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import (
    Frame,
    draw,
    false_claim,
    sentences,
    true_claim,
)
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import UNSUPPORTED, Scene, scene


@dataclass(frozen=True, slots=True)
class Scope:
    """What is said of {a} and {k} within the limits {n}, and elsewhere of {b} and {l} within the wider limits {w}.

    {m} are limits that the passage never names. `narrows`: what holds within {w} holds within {n} as well.
    """

    fields: str
    group: str
    said: tuple[str, ...]
    narrows: bool = False


def widened(kind: str, scopes: Sequence[Scope], names: Names, rng: random.Random) -> Iterator[Scene]:
    """Yield a scene of one scope: claims within its limits and beyond them."""
    scope = rng.choice(scopes)
    fields = draw(scope.fields, names, rng)
    other = {**fields, "a": fields["b"], "n": fields["w"], "k": fields["l"]}
    told = [sentences(rng.choice(scope.said), fields, rng), sentences(rng.choice(scope.said), other, rng)]
    rng.shuffle(told)
    if rng.random() < 0.4:
        told.insert(0, [scope.group])
    drafts = [
        true_claim(kind, rng.choice(scope.said), fields, rng),
        true_claim(kind, rng.choice(scope.said), other, rng),
        false_claim(kind, rng.choice(scope.said), {**fields, "n": fields["w"]}, rng, ("n",), UNSUPPORTED),
        false_claim(kind, rng.choice(scope.said), {**fields, "n": fields["m"]}, rng, ("n",), UNSUPPORTED),
    ]
    if scope.narrows and rng.random() < 0.5:
        drafts.append(true_claim(kind, rng.choice(scope.said), {**other, "n": fields["n"]}, rng))
    yield scene([one for group in told for one in group], *drafts)


def _scope(things: str, limits: str, group: str, *said: str, narrows: bool = False) -> Scope:
    return Scope(f"{things} {limits}" if "k,l=" in things else f"{things} k,l=-,+ {limits}", group, said, narrows)


_LIMITS: Final = (
    "n,m=Norway,Sweden,Poland,Spain w=Europe",
    "n,m=Japan,India,Nepal w=Asia",
    "n,m=Kenya,Ghana,Egypt w=Africa",
    "n,m=the_valley,the_capital w=the_country",
    "n,m=its_home_state,the_neighbouring_state w=the_world",
)
_YEARS: Final = "k,l=year:1950:2015"

SCOPES: Final = (
    *(
        _scope(
            "a,b=company k,l=brewer,publisher,builder,shipper,baker",
            limits,
            "Two firms lead the field.",
            "{a} is the largest {k} in {n}.",
            "The largest {k} in {n} is {a}.",
            "In {n}, {a} is larger than any other {k}.",
            "No {k} in {n} is larger than {a}.",
            "{a} is by far the largest {k} in {n}.",
        )
        for limits in _LIMITS
    ),
    _scope(
        "a,b=person k,l=eastern_peak,western_peak,south_face,old_tower",
        "n,m=Belgian_man,Belgian_priest,Belgian_teacher w=Belgian",
        "Two climbers drew attention.",
        "{a} was the first {n} to climb the {k}.",
        "The first {n} on the {k} was {a}.",
        "As the first {n}, {a} climbed the {k}.",
        "No {n} had climbed the {k} before {a} did.",
    ),
    _scope(
        f"a,b=person {_YEARS}",
        "n,m=football_player,tennis_player,swimmer w=athlete",
        "A magazine drew up the list.",
        "{a} was named the most marketable {n} of {k}.",
        "The title of most marketable {n} went to {a} in {k}.",
        "In {k}, {a} received the title of most marketable {n}.",
        "The most marketable {n} of {k} was {a}.",
    ),
    _scope(
        "a,b=work k,l=Herald,Tribune,Courier,Observer",
        "n,m=debut_novel,crime_novel,historical_novel w=novel",
        "The prizes were given out in spring.",
        "“{a}” was named the best {n} of the year by the {k}.",
        "The {k}'s best {n} of the year was “{a}”.",
        "The {k} chose “{a}” as the best {n} of the year.",
        "The prize of the {k} for the best {n} went to “{a}”.",
    ),
)

PARTS: Final = (
    _scope(
        f"a,b=person {_YEARS}",
        "n,m=the_premiere,the_last_night w=the_whole_season",
        "The theatre changed hands.",
        "{a} directed {n} in {k}.",
        "In {k}, {n} was directed by {a}.",
        "What {a} directed in {k} was {n}.",
        "The director of {n} in {k} was {a}.",
        narrows=True,
    ),
    _scope(
        f"a,b=month {_YEARS}",
        "n,m=the_north_of_the_country,the_south_of_the_country,the_coast w=the_whole_country",
        "The floods are well recorded.",
        "In {a} {k} the floods covered {n}.",
        "The floods of {a} {k} reached {n}.",
        "The area flooded in {a} {k} was {n}.",
        "It was {n} that was flooded in {a} {k}.",
    ),
    _scope(
        "a,b=surname k,l=blue,green,red,grey",
        "n,m=one_of_the_authors,one_of_the_translators w=the_only_author",
        "Both guides sold well.",
        "{a} is {n} of the {k} guide.",
        "The {k} guide has {a} as {n}.",
        "As {n} of the {k} guide, {a} gets a fee.",
        "{a} gets a fee as {n} of the {k} guide.",
    ),
    _scope(
        "a,b=company",
        "n,m=the_lower_court,the_district_court w=the_highest_court",
        "Two firms were on trial.",
        "{a} was acquitted by {n}.",
        "{n} found {a} not guilty.",
        "The acquittal of {a} came from {n}.",
        "It was {n} that acquitted {a}.",
    ),
    _scope(
        "a,b=person k,l=Polish,Czech,Dutch,Greek",
        "n,m=the_first_chapter,the_third_chapter,the_preface w=the_whole_book",
        "Two translators were at work.",
        "{a} translated {n} into {k}.",
        "{n} was put into {k} by {a}.",
        "The {k} version of {n} is by {a}.",
        "{a} made a {k} version of {n}.",
        narrows=True,
    ),
    _scope(
        "a,b=--fast,--safe,--deep,--purge",
        "n,m=the_last_backup,the_oldest_backup w=every_backup",
        "Two flags deal with old files.",
        "{a} deletes {n}.",
        "With {a}, {n} is deleted.",
        "To delete {n}, one sets {a}.",
        "The flag {a} removes {n}.",
        narrows=True,
    ),
)

SETTINGS: Final = (
    _scope(
        "a,b=the_drug,the_diet,the_vaccine,the_implant,the_herb k,l=inflammation,weight,blood_pressure,blood_sugar",
        "n,m=mice,rats,rabbits w=humans",
        "Two treatments were tested.",
        "In {n}, {a} reduced {k}.",
        "{a} was found to reduce {k} in {n}.",
        "It was in {n} that {a} reduced {k}.",
        "{k} in {n} was reduced by {a}.",
    ),
    _scope(
        "a,b=fever,headache,cough,fatigue",
        "n,m=at_the_first_visit,at_the_last_visit w=at_every_visit",
        "The patients were asked often.",
        "{a} was reported {n}.",
        "Patients complained of {a} {n}.",
        "There were complaints of {a} {n}.",
        "{n}, patients complained of {a}.",
        narrows=True,
    ),
    _scope(
        "a,b=the_salt,the_acid,the_oil,the_resin k,l=number:50:300",
        "n,m=under_standard_pressure,under_high_pressure,in_a_vacuum w=whatever_the_pressure",
        "Two substances were heated.",
        "{a} melts at {k} degrees {n}.",
        "{n}, the melting point of {a} is {k} degrees.",
        "It takes {k} degrees {n} to melt {a}.",
        "{a} turns liquid at {k} degrees {n}.",
        narrows=True,
    ),
    _scope(
        "a,b=tea,garlic,honey,fish_oil k,l=sleep,digestion,memory,mood",
        "n,m=a_sample_of_40_students,a_sample_of_12_nurses w=the_general_population",
        "Two studies appeared.",
        "{a} improved {k} in {n}.",
        "{k} improved with {a} in {n}.",
        "In {n}, {a} led to better {k}.",
        "It was in {n} that {a} improved {k}.",
    ),
    _scope(
        "a,b=tuna,beef,duck,squid",
        "n,m=when_seared,when_boiled,when_smoked w=however_it_is_cooked",
        "The chef bought two kinds.",
        "{a} stays tender {n}.",
        "{n}, {a} is tender.",
        "One can count on {a} being tender {n}.",
        "{a} does not become tough {n}.",
        narrows=True,
    ),
    _scope(
        "a,b=the_cache,the_index,the_log,the_queue k,l=shutdown,start,login,night",
        "n,m=on_Linux,on_Windows,on_macOS w=on_all_systems",
        "The release fixed two bugs.",
        "{a} is now cleared at {k} {n}.",
        "{n}, {a} is now cleared at {k}.",
        "The clearing of {a} at {k} works {n}.",
        "It is {n} that {a} is cleared at {k}.",
        narrows=True,
    ),
)


def _details(fields: str, of_a: str, of_b: str, again_a: str, again_b: str) -> Frame:
    """Return a frame in which the detail {d} is told of {a} and {e}, of another sort, of {b}."""
    evidence = (
        f"{of_a}. // {of_b}.",
        f"{again_b}; {of_a}.",
        f"{of_b}, and {again_a}.",
        f"The yearbook has two entries. // {again_a}. // {again_b}.",
    )
    claims = (f"{of_a}.", f"{of_b}.", f"{again_a}.", f"{again_b}.")
    false = tuple(claim.replace("{d}", "<{g}>").replace("{e}", "<{h}>") for claim in claims)
    return Frame(fields, "d e", evidence, claims, false=false, label=UNSUPPORTED)


_SORTS: Final = (
    "d,g=in_1921,in_1934,in_1948,in_1962,in_1987 e,h=for_reasons_of_health,to_save_money,after_a_quarrel,because_of_the_war",  # noqa: E501
    "d,g=in_the_capital,by_the_sea,in_the_mountains,near_the_border e,h=at_a_cost_of_two_million,for_300_pounds,with_a_loan_from_a_bank",  # noqa: E501
    "d,g=with_a_friend,with_two_partners,with_an_assistant e,h=in_March,in_May,in_July,in_autumn",
    "d,g=for_reasons_of_health,to_save_money,after_a_quarrel e,h=in_the_capital,by_the_sea,in_the_mountains",
)

DETAILS: Final = tuple(
    frame
    for sorts in _SORTS
    for frame in (
        _details(
            f"a,b=person {sorts}",
            "{a} founded a school {d}",
            "{b} opened a workshop {e}",
            "it was {d} that {a} founded a school",
            "it was {e} that {b} opened a workshop",
        ),
        _details(
            f"a,b=company {sorts}",
            "{a} opened a laboratory {d}",
            "{b} built a plant {e}",
            "a laboratory was opened {d} by {a}",
            "a plant was built {e} by {b}",
        ),
        _details(
            f"a,b=surname {sorts}",
            "{a} opened a clinic {d}",
            "{b} set up a law office {e}",
            "{a}'s clinic was opened {d}",
            "{b}'s law office was set up {e}",
        ),
        _details(
            f"a,b=place {sorts}",
            "the {a} orchestra made a recording {d}",
            "the {b} rowing club built a boathouse {e}",
            "a recording was made {d} by the {a} orchestra",
            "a boathouse was built {e} by the {b} rowing club",
        ),
    )
)
