"""Replacing a leading pronoun by its antecedent, only where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.english import inserted_spans, with_antecedent, without_brackets

INSERTED = [
    (
        ["The Lantern Point flood barrier is 6.4 metres high."],
        "It cost €221.4 million.",
        "[The Lantern Point flood barrier] cost €221.4 million.",
    ),
    (
        ["Karel Novak was a Czech writer."],
        "His first novel appeared in 1951.",
        "[Karel Novak's] first novel appeared in 1951.",
    ),
    (["Marie Curie was born in Warsaw in 1867."], "She won two Nobel Prizes.", "[Marie Curie] won two Nobel Prizes."),
    (["Dr. Anna Berg is a Swedish surgeon."], "She works in Lund.", "[Dr. Anna Berg] works in Lund."),
    (
        ["Lanny Flaherty is an American actor.", "Flaherty has also worked in theater."],
        "He is known for his deep voice.",
        "[Lanny Flaherty] is known for his deep voice.",
    ),
    (
        ["Ines Duarte is a chemist.", "She studied in Porto.", "She moved to Canada in 1998."],
        "She holds four patents.",
        "[Ines Duarte] holds four patents.",
    ),
    (
        ["The Danube is the second longest river in Europe."],
        "It flows through ten countries.",
        "[The Danube] flows through ten countries.",
    ),
    (
        ["The Danube is the second longest river in Europe.", "It is 2,850 km long."],
        "Its delta lies in Romania.",
        "[The Danube's] delta lies in Romania.",
    ),
    (["The sensors were installed in 2019."], "They cost 300 euros each.", "[The sensors] cost 300 euros each."),
    (
        ["The sensors were installed in 2019."],
        "Their batteries last three years.",
        "[The sensors'] batteries last three years.",
    ),
    (
        ["Anna Berg and Tom Hall were married in 1990."],
        "They live in Leeds.",
        "[Anna Berg and Tom Hall] live in Leeds.",
    ),
    (
        ["Sir Oliver Grant is a British judge."],
        "He was appointed in 2004.",
        "[Sir Oliver Grant] was appointed in 2004.",
    ),
    (["Elbrus is a mountain in Russia."], "It is 5,642 metres high.", "[Elbrus] is 5,642 metres high."),
    (
        ["A new bridge was opened in 1990."],
        "It carries 40,000 vehicles a day.",
        "[The new bridge] carries 40,000 vehicles a day.",
    ),
    (["In 2016 the museum was closed."], "It reopened two years later.", "[The museum] reopened two years later."),
    (["Wendy is a South Korean singer."], "She was born in Seoul.", "[Wendy] was born in Seoul."),
    (
        ["Kang Ji-hwan (born Jo Tae-gyu in 1977) is a South Korean actor."],
        "He made his debut in 1999.",
        "[Kang Ji-hwan] made his debut in 1999.",
    ),
    (
        ["Alma Katsu is a novelist.", "Katsu's books have been translated into a dozen languages."],
        "Her latest appeared in 2022.",
        "[Alma Katsu's] latest appeared in 2022.",
    ),
    (
        ["Osama bin Khalid was born in Riyadh, Saudi Arabia."],
        "He studied economics.",
        "[Osama bin Khalid] studied economics.",
    ),
    (["Helium is a chemical element."], "It was discovered in 1868.", "[Helium] was discovered in 1868."),
    (["The vaccine was approved in 2021."], "It is given in two doses.", "[The vaccine] is given in two doses."),
    (
        ["The University of Leeds was founded in 1904."],
        "It has 38,000 students.",
        "[The University of Leeds] has 38,000 students.",
    ),
    (
        ["Acme Corporation was founded in 1921."],
        "Its headquarters are in Ohio.",
        "[Acme Corporation's] headquarters are in Ohio.",
    ),
    (["The treaty was signed in Vienna in 1815."], "It ended the war.", "[The treaty] ended the war."),
    (
        ["The Alma Bridge was opened in 1974."],
        "This bridge carries two tram lines.",
        "[The Alma Bridge] carries two tram lines.",
    ),
    (["Aspirin is a drug."], "This drug reduces fever.", "[Aspirin] reduces fever."),
    (["Wilson disease is a rare disorder."], "It affects the liver.", "[Wilson disease] affects the liver."),
    (["Bees are insects."], "They live in colonies.", "[Bees] live in colonies."),
    (
        ["Tiffany Cole is a comedian.", 'Some of her films include "Girls Trip" and "Night School".'],
        "She has won an Emmy.",
        "[Tiffany Cole] has won an Emmy.",
    ),
    (["James Watts was an engineer."], "His workshop stood in Glasgow.", "[James Watts's] workshop stood in Glasgow."),
    (
        ['"Slow River" is a song by the Danish group Lark.'],
        "It was released in 1991.",
        '["Slow River"] was released in 1991.',
    ),
    (
        ["**Marie Dubois** was a French architect [1]."],
        "She designed forty schools.",
        "[Marie Dubois] designed forty schools.",
    ),
]

UNCHANGED = [
    ([], "It cost €221.4 million."),
    (["The bridge is 90 metres long."], "It is raining in Leeds."),
    (["The bridge is 90 metres long."], "It is clear that the bridge was expensive."),
    (["The bridge is 90 metres long."], "It was in 1990 that the work began."),
    (["The bridge is 90 metres long."], "It took four years to build the road."),
    (["The bridge is 90 metres long."], "It seems too short."),
    (["The bridge is 90 metres long."], "It is believed to be the oldest in Europe."),
    (["The bridge is 90 metres long."], "It was Tom Hall who designed the piers."),
    (["The bridge is 90 metres long."], "It's made of steel."),
    (["The bridge is 90 metres long."], "They cost 300 euros."),
    (["The sensors were installed in 2019."], "It cost 300 euros."),
    (["The bridge is 90 metres long."], "She designed it."),
    (["The firm bought a factory in Leeds."], "It employs 300 people."),
    (["The Romans conquered the Gauls."], "They spoke Latin."),
    (["Anna Berg met Maria Lopez in 1990."], "She was a surgeon."),
    (["Anna Berg and Maria Lopez worked in Lund."], "She was a surgeon."),
    (["Tom Hall married Eva Green in 1990."], "She was an actress."),
    (["Tom Hall succeeded Karel Novak."], "He resigned in 1990."),
    (["Tom Hall is a judge.", "His brother moved to Leeds."], "He died in 1990."),
    (["The president praised the minister."], "He resigned in 1990."),
    (["Anna Berg runs the firm.", "Maria Lopez joined in 1990."], "She doubled its sales."),
    (["Marie Curie was born in Warsaw."], "I admire her work."),
    (["Marie Curie was born in Warsaw."], "We do not know the date."),
    (["Marie Curie was born in Warsaw."], "You may find her notebooks in Paris."),
    (["Marie Curie was born in Warsaw."], '"She was a genius," said a colleague.'),
    (["Karel Novak was a Czech writer."], "He or she must sign the form."),
    (["Karel Novak was a Czech writer."], "His was the best of the year."),
    (["Was Karel Novak a Czech writer?"], "He was born in Brno."),
    (["The roof of the hall was repaired in 1990."], "It is made of copper."),
    (["The tower stands on a hill."], "It is 30 metres high."),
    (["Prices fell and wages rose in 1931."], "This led to unrest."),
    (["Recent work suggests that it was painted in 1513."], "It was bought by the king."),
    (["The church's roof was repaired in 1990."], "It is visited by thousands."),
    (["Karel Novak war ein Schriftsteller aus Brno."], "Es war kalt und dunkel."),
    (["De brug is 90 meter lang."], "Her en der is het water op de weg."),
    (["Karel Novak was ill, Tom Hall said."], "He died in 1990."),
    (["According to Tom Hall, Karel Novak was ill."], "He died in 1990."),
    (["Tom Hall founded the firm in 1980."], "It was sold in 1990."),
    (["The museum is in a former mill."], "It was built in 1820."),
    (["The dog chased the cat."], "It ran away."),
    (["Ada Hall was a poet.", "She lived with a nurse."], "She died in 1990."),
    (["Nikola Tesla was shy.", "Robert Johnson admired him."], "His secretary agreed."),
    (["Harley Gray meets a cowboy-looking fellow."], "He has lost a game."),
    (["The Ottoman Empire's situation was difficult."], "Its population was 26 million."),
    (["Mrs. Anna Berg is a Swedish surgeon."], "He works in Lund with his wife."),
    (["Karel Novak is a judge."], "He beat Karel Novak in the final."),
]


@pytest.mark.parametrize(("context", "text", "replaced"), INSERTED)
def test_a_certain_antecedent_is_inserted(context: list[str], text: str, replaced: str) -> None:
    assert with_antecedent(text, context) == replaced


@pytest.mark.parametrize(("context", "text"), UNCHANGED)
def test_an_uncertain_antecedent_is_not_inserted(context: list[str], text: str) -> None:
    assert with_antecedent(text, context) == text


def test_insertions_are_distinguished_from_brackets_of_the_sentence() -> None:
    text = "[The barrier] cost €2 [sic] in 1990 [1]."
    assert [span.of(text) for span in inserted_spans(text)] == ["[The barrier]"]
    assert without_brackets(text) == "The barrier cost €2 [sic] in 1990 [1]."
    for plain in ("It cost [sic] €2.", "[1] It cost €2.", "", "[", "[] a", "[The barrier]cost"):
        assert inserted_spans(plain) == []
        assert without_brackets(plain) == plain


WORDS = st.sampled_from(
    "He She It They His Her Its Their This These Ada Hall Karel Novak the bridge sensors is was cost born in and , . ["
    " ] ( )"
    ' de ** [1] " who that Leeds 1990 founded by of a ; : ? \0 ’s €'.split(" ")
)
SENTENCES = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def is_subsequence(words: Sequence[str], of: Sequence[str]) -> bool:
    rest = iter(of)
    return all(word in rest for word in words)


@given(SENTENCES, st.lists(SENTENCES, max_size=4))
def test_the_words_of_the_text_stay_in_order(text: str, context: list[str]) -> None:
    replaced = with_antecedent(text, context)
    if replaced != text:
        (inserted,) = inserted_spans(replaced)
        rest = words_of(replaced[inserted.end :])
        assert inserted.start == 0
        assert is_subsequence(rest, words_of(text))
        assert len(words_of(text)) - len(rest) <= 2
        assert any(word in " ".join(context) for word in words_of(inserted.of(replaced)))
        assert with_antecedent(replaced, context) == replaced
