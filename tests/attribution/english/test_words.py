"""Numbers are normalized, and words are compared as a reader would compare them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.english.words import (
    NUMBER_WITH_UNIT,
    SCALES,
    content_words,
    missing_numbers,
    negation_differs,
    numbers,
    opposed_words,
    other_unit,
    plain_share,
    share_found,
    stands_in,
    underived_numbers,
)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("", ""),
        ("no number at all", ""),
        ("14 gates", "14"),
        ("Fourteen gates", "14"),
        ("007, 7.0 and 7", "7"),
        ("0.50 and .5", "0.5"),
        ("3,000 and 3000", "3000"),
        ("$1,250.50", "1250.5"),
        ("1,2 and 3", "1 2 3"),
        ("in 2019, 50 came", "2019 50"),
        ("2019-2020", "2019 2020"),
        ("1990–95 and 1990-1995", "1990 1995"),
        ("2024-05 and 2024-03", "2024 5 3"),
        ("COVID-19", "19"),
        ("version v2 of gpt4", ""),
        ("-5 °C and −7 °C", "-5 -7"),
        ("10% and 10 percent", "10"),
        ("twenty-five, twenty five and 25", "25"),
        ("Thirty one days", "31"),
        ("one of them, one by one", ""),
        ("a hundred, one hundred and 100", "100"),
        ("two hundred and fifty", "250"),
        ("one million two hundred thousand and fifty", "1200050"),
        ("1.2 million, 1,200,000 and 1200 thousand", "1200000"),
        ("two million and 14 gates", "2000000 14"),
        ("three hundred. Two thousand left", "300 2000"),
        ("hundreds of millions", ""),
        ("zero", "0"),
        ("٢٥", "25"),
        ("£52.1m, £52.1 million, £52.1 m and 52.1m euros", "52100000"),
        ("$5bn, $5 billion, $5B and 5bn", "5000000000"),
        ("£940k, 940k and 940,000", "940000"),
        ("a 3m wall, 5b", "3 5"),
        ("480 000, 480\u202f000, 480\u00a0000 and 480\u2009000", "480000"),
        ("12 480 000 people", "12480000"),
        ("in 2019 480 came", "2019 480"),
        ("in 2019 480\u202f000 came", "2019 480000"),
        ("1 200 30", "1 200 30"),
        ("1.200.000 and 1,200,000", "1200000"),
        ("1.200 and version 1.2.3", "1.2"),
        ("half of the first gate", ""),
        ("half a million, half-million, 0.5 million and 500,000", "500000"),
        ("one and a half million, 1.5 million", "1500000"),
        ("two and a half years, 2.5 years", "2.5"),
        ("a dozen, one dozen and twelve", "12"),
        ("two dozen, half a dozen, dozens", "24 6"),
        ("the twenty-first century, the 21st century", "21"),
        ("minus 5 degrees, −5 degrees", "-5"),
        ("10 minus 5", "10 5"),
        ("at 14:00, at 2 pm, at 2:00 p.m. and 2PM", "14:00"),
        ("at 9:15 and 09:15", "9:15"),
        ("it won 3:10, in 1 amp", "3:10 1"),
        ("1e400 9" + "9" * 60, None),
    ],
)
def test_numbers_are_normalized(text: str, stated: str | None) -> None:
    assert stated is None or numbers(text) == set(stated.split())


def test_months_count_as_numbers() -> None:
    assert numbers("in May") == numbers("of May") == {"month 5"}
    assert numbers("Jan 5") == numbers("5 January") == {"5", "month 1"}
    assert numbers("It may march on.") == set()


@pytest.mark.parametrize("date", ["31.12.2027", "31/12/2027", "31 December 2027", "2027-12-31", "December 31, 2027"])
def test_dates_are_normalized(date: str) -> None:
    assert numbers(f"by {date}.") == {"31", "month 12", "2027"}


def test_an_ambiguous_date_is_not_interpreted() -> None:
    assert numbers("by 05/06/2027") == {"5", "6", "2027"}


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
        ("50% of it burnt.", "Half of it burnt.", ""),
        ("50 percent of it burnt.", "It burnt by half.", ""),
        ("Half of it burnt.", "50% of it burnt.", ""),
        ("50 ships burnt.", "Half of the ships burnt.", "50"),
        ("50% of it burnt.", "It burnt.", "50"),
        ("The 2nd gate", "The second gate", ""),
        ("The second gate", "The 2nd gate", ""),
        ("The 2nd of 2 gates", "The second gate", "2"),
        ("The 20th gate", "The twentieth gate", ""),
        ("The 3rd gate", "The second gate", "3"),
        ("A second barrier", "A barrier", ""),
        ("It opens at 9 a.m.", "It opens at 9:00.", ""),
        ("It opens at 9:00.", "It opens at 9 a.m.", ""),
        ("It opens at 2:30.", "It opens at 14:30.", ""),
        ("It opens at 12:30 pm.", "It opens at 12:30.", ""),
        ("It opens at 14:30.", "It opens at 14:45.", "14:30"),
        ("It opens at 2:30 pm.", "It opens at 2:30 p.m.", ""),
        ("It opens at 2 pm.", "It opens at 2 am.", "14:00"),
        ("The twenty-first gate", "The 20th gate", "21"),
    ],
)
def test_a_number_in_another_form_is_not_missing(claim: str, evidence: str, missing: str) -> None:
    assert missing_numbers(claim, evidence) == set(missing.split())


@given(st.integers(0, 99))
def test_numbers_in_words_equal_those_in_digits(value: int) -> None:
    small = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    small += "seventeen eighteen nineteen"
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    ones = "" if value % 10 == 0 else "-" + small.split()[value % 10]
    spelt = small.split()[value] if value < 20 else tens[value // 10 - 2] + ones
    if value != 1:
        assert numbers(spelt) == numbers(spelt.upper()) == {str(value)}
    for scale, factor in SCALES.items():
        if value:
            assert numbers(f"{spelt} {scale}") == numbers(f"{value * factor:,}") == {str(value * factor)}


PARTS = (
    "two one hundred million thousandſ 14 3,000 1.5 200 £5m 7bn 31.12.2027 1.200.000 480 000 k - May Jan and twenty "
    "five $ % , . a percent days 14:30 ٥".split()
)
WRITTEN = st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join)


@given(st.one_of(WRITTEN, st.text(max_size=60)))
def test_every_number_can_be_quoted_with_its_unit(text: str) -> None:
    quoted = [match.group() for match in NUMBER_WITH_UNIT.finditer(text)]
    assert bool(numbers(text)) == any(numbers(words) for words in quoted)
    assert all(words in text for words in quoted)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("It cost $1,250.50 in 2024.", ["$1,250.50", "2024"]),
        ("It cost 410 million euros on 3 May 1998.", ["410 million euros", "3 May", "1998"]),
        ("Fourteen gates, 18 miles and −5 °C", ["Fourteen", "18 miles", "−5 °C"]),
        ("Two hundred and fifty ships in July 2019", ["Two hundred and fifty", "July 2019"]),
        ("No v2, no number", []),
        ("half a million euros, two and a half years", ["half a million euros", "two and a half years"]),
        ("at 9 a.m. of the twenty-first day", ["9 a.m.", "twenty-first"]),
        ("£52.1m or $5bn by 31.12.2027", ["£52.1m", "$5bn", "31.12.2027"]),
        ("480 000 people, 940k, 25/12/2027", ["480 000", "940k", "25/12/2027"]),
    ],
)
def test_numbers_are_quoted_with_their_units(text: str, quoted: list[str]) -> None:
    assert [match.group() for match in NUMBER_WITH_UNIT.finditer(text)] == quoted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The gates were raised in 2024.", "gate rais 2024"),
        ("It is what it was.", ""),
        ("The harbour’s and the harbor's ships", "harbour harbor ship"),
        ("", ""),
    ],
)
def test_content_words_are_stems_without_function_words(text: str, words: str) -> None:
    assert content_words(text) == words.split()


@pytest.mark.parametrize(
    ("claim", "evidence", "differs"),
    [
        ("The gates were closed.", "The gates were not closed.", True),
        ("The gates weren't closed.", "The gates were closed.", True),
        ("The gates weren’t closed.", "The gates were never closed.", False),
        ("The gates were closed.", "The gates were closed.", False),
        ("The gates were closed.", "Herring do not spawn here.", False),
        ("Nobody was hurt.", "No one was hurt.", False),
        ("Nobody was hurt.", "A guard was hurt.", True),
    ],
)
def test_a_single_negation_differs(claim: str, evidence: str, differs: bool) -> None:
    assert negation_differs(claim, evidence) == negation_differs(evidence, claim) == differs


OPPOSED = [
    ("Sales rose in May.", "Sales fell sharply in May.", ("rose", "fell")),
    ("The council approved the plan.", "The plan was rejected by the council.", ("approved", "rejected")),
    ("She won the gold medal.", "She won the silver medal.", ("gold", "silver")),
    ("The mill is north of the river.", "The mill stands south of the river.", ("north", "south")),
    ("The bridge opens at night.", "The bridge closes at night.", ("opens", "closes")),
    ("The law allows fishing.", "The law bans fishing.", ("allows", "bans")),
    ("He passed the exam.", "He failed the exam.", ("passed", "failed")),
    ("Sales rose in May.", "Sales rose in May and fell in June.", None),
    ("Sales did not rise in May.", "Sales fell in May.", None),
    ("Oslo lies north of Bergen.", "Bergen lies south of Oslo.", None),
    ("Ajax won against Feyenoord.", "Feyenoord lost against Ajax.", None),
    ("The first race was held in May.", "The race was held in the park last May.", None),
    ("The race starts in Oslo.", "The race, which ends in Bergen after a week, is held in Oslo.", None),
    ("Sales rose in May.", "Herring fell.", None),
]


@pytest.mark.parametrize(("claim", "evidence", "pair"), OPPOSED)
def test_opposed_words_on_the_same_topic_are_returned(claim: str, evidence: str, pair: tuple[str, str] | None) -> None:
    assert opposed_words(claim, evidence, share=0.6) == pair
    assert opposed_words(claim, claim, share=0.6) is None


@pytest.mark.parametrize(
    ("claim", "evidence", "pair"),
    [
        ("It is 3 miles long.", "It is 3 km long.", ("3 miles", "3 km")),
        ("It weighs 3 kg.", "It weighs three tonnes.", ("3 kg", "three tonnes")),
        ("It took 3 days.", "It took 3 weeks.", ("3 days", "3 weeks")),
        ("It is 5 °C.", "It is 5 °F.", ("5 °C", "5 °F")),
        ("It rose 5%.", "It rose 5 percentage points.", ("5%", "5 percentage points")),
        ("It is 3 m long.", "It is 3 metres long.", None),
        ("It is 3 miles long.", "It is 3 km off and 3 miles long.", None),
        ("It took 3 days.", "It is 3 km long.", None),
        ("It cost £3m.", "It is 3 km long.", None),
        ("It is 3 miles long.", "It is 4 km long.", None),
        ("It cost €5.", "It cost $5.", ("€5", "$5")),
        ("It cost 5 dollars.", "It cost five euros.", ("5 dollars", "five euros")),
        ("It cost $5m.", "It cost €5 million.", ("$5m", "€5 million")),
        ("It cost £5 million.", "It cost 5 million pounds.", None),
        ("It cost $5.", "It cost €4 ($5).", None),
        ("It cost $5.", "It cost €4.", None),
    ],
)
def test_another_unit_of_the_same_kind_is_returned(claim: str, evidence: str, pair: tuple[str, str] | None) -> None:
    assert other_unit(claim, evidence) == pair


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
        ("It was built in the 1980s.", "It was built in 1984.", set()),
        ("It was built in the 1980’s.", "It was built in 1989.", set()),
        ("It was built in the 1980s.", "It was built in 1990.", {"1980"}),
        ("It was built in the late 1800s.", "It was built in 1888.", set()),
        ("It is a 17th-century house.", "The house dates from 1640.", set()),
        ("It is a 17th-century house.", "The house dates from 1740.", {"17"}),
        ("It cost about 400 million euros.", "It cost 412 million euros.", set()),
        ("It cost about 400 million euros.", "It cost 500 million euros.", {"400000000"}),
        ("It cost $400 million.", "It cost $412 million.", {"400000000"}),
        ("Nearly forty ships sank.", "39 ships sank.", set()),
        ("Nearly forty ships sank.", "41 ships sank.", {"40"}),
        ("More than 250 ships sank.", "300 ships sank.", set()),
        ("More than 250 ships sank.", "230 ships sank.", {"250"}),
        ("More than 250 ships sank.", "3,000 ships sank.", {"250"}),
        ("Fewer than 20 ships sank.", "19 ships sank.", set()),
        ("At least $5m was lost.", "$5m was lost.", set()),
        ("It was built around 1900.", "It was built in 1890.", {"1900"}),
        ("2. The barrier has gates.", "The barrier has gates.", set()),
        ("The barrier has 2. It needs 3.", "The barrier has 2.", {"3"}),
    ],
)
def test_an_exact_number_satisfies_an_approximate_one(claim: str, evidence: str, missing: set[str]) -> None:
    assert missing_numbers(claim, evidence) == missing


@pytest.mark.parametrize(
    ("claim", "evidence", "differs"),
    [
        ("It is cheap.", "It is not only cheap, it is fast.", False),
        ("Act 47 of 1953 was a law.", "Act No. 47 of 1953 was a law.", False),
        ("The gates were closed.", "The gates were closed. The bridge was not closed to ships.", False),
        ("The gates were closed.", "The gates were not closed. The bridge was closed to ships.", True),
        ("You should ask why the cat does not use the box.", "You should ask why the cat leaves the box.", False),
        ("Salt is not sold there.", "Salt is neither sold nor bought there, which nobody knew.", False),
        ("No vessel was lost.", "A vessel was lost.", True),
    ],
)
def test_a_negation_counts_only_on_the_shared_topic(claim: str, evidence: str, differs: bool) -> None:
    assert negation_differs(claim, evidence) == differs


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
        ("COVID-19 closed the port.", "The virus closed the port.", set()),
        ("SARS-CoV-2 and EIDD-2801 were tested.", "The drug was tested.", set()),
        ("Blink-182 was formed in Poway.", "The band was formed in Poway.", set()),
        ("Three Billboards began filming in May.", "Filming began in May.", set()),
        ("Under § 14.2 the tenant pays.", "The tenant pays.", set()),
        ("It is under GPL-3.", "It is under GPL-2.", {"3"}),
        ("The mid-1990 law applies.", "The law applies.", {"1990"}),
        ("Three ships sank.", "Ships sank.", {"3"}),
        ("From May 19-28 it was open.", "It was open in May.", {"19", "28"}),
    ],
)
def test_a_number_within_a_name_counts_nothing(claim: str, evidence: str, missing: set[str]) -> None:
    assert missing_numbers(claim, evidence) == missing


def test_numbers_do_not_count_among_the_plain_words() -> None:
    assert plain_share("It is 3 m.", "It is 4 m.") == 1.0
    assert plain_share("It is 3.", "It is 4.") == 1.0
    assert plain_share("It is 3.", "They had 4 ships.") == 0.0
    assert stands_in("the gates rose", "Then the gates rose.")
    assert not stands_in("the gate", "Then the gates rose.")


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_the_share_found_is_of_the_first_set(claim: set[str], evidence: set[str]) -> None:
    share = share_found(claim, evidence)
    assert share == (sum(word in evidence for word in claim) / len(claim) if claim else 1.0)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_are_compared(one: str, other: str) -> None:
    numbers(one)
    content_words(one)
    negation_differs(one, other)
    missing_numbers(one, other)
    opposed_words(one, other, share=0.6)
    other_unit(one, other)


@pytest.mark.parametrize(
    ("claim", "evidence", "underived"),
    [
        ("They won by 14 points.", "They won 24–10.", ""),
        ("They won by 15 points.", "They won 24–10.", "15"),
        ("It took 27 years.", "From 1945 until 1972 it was abroad.", ""),
        ("Five of them came.", "Two Americans and three Frenchmen came.", ""),
        ("It was worth 5 million dollars.", "He got a five-year contract at $1 million a year.", ""),
        ("It is four times as large.", "One has 40 rooms, the other has 10.", ""),
        ("Women are 60% of them.", "Men are 40% of them.", ""),
        ("He saw twice 21, so 42.", "He saw 21.", ""),
        ("Three countries signed.", "France, Spain and Italy signed.", ""),
        ("Nine countries signed.", "France, Spain and Italy signed.", "9"),
        ("It opened in June.", "It opened in May.", "month 6"),
        ("It has 7 rooms.", "It has rooms.", "7"),
        ("It has rooms.", "", ""),
    ],
)
def test_a_number_follows_from_others_by_one_step(claim: str, evidence: str, underived: str) -> None:
    assert underived_numbers(claim, evidence) == {underived} - {""}


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_does_not_follow_is_missing_too(claim: str, evidence: str) -> None:
    assert underived_numbers(claim, evidence) <= missing_numbers(claim, evidence)
