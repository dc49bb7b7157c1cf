from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.propositions.readable import insertions, readable, with_antecedent, without_marks
from retrieval.text import Span

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


@pytest.mark.parametrize(("context", "text", "wanted"), INSERTED)
def test_a_sure_antecedent_is_inserted(context: list[str], text: str, wanted: str) -> None:
    assert with_antecedent(text, context) == wanted


@pytest.mark.parametrize(("context", "text"), UNCHANGED)
def test_nothing_is_inserted_where_it_is_not_sure(context: list[str], text: str) -> None:
    assert with_antecedent(text, context) == text


def cut(sentence: str, *words: str) -> list[Span]:
    spans: list[Span] = []
    for each in words:
        start = sentence.index(each, spans[-1].end if spans else 0)
        spans.append(Span(start, start + len(each)))
    return spans


READ = [
    (
        "Marie Curie, who was born in Warsaw, won two prizes.",
        ["Marie Curie", "won two prizes"],
        "Marie Curie won two prizes.",
    ),
    (
        "Marie Curie, who was born in Warsaw, won two prizes.",
        ["Marie Curie", "born in Warsaw"],
        "Marie Curie was born in Warsaw.",
    ),
    ("Marie Curie, born in Warsaw, won.", ["Marie Curie", "born in Warsaw"], "Marie Curie was born in Warsaw."),
    ("The books, written by Katsu, sold well.", ["The books", "written by Katsu"], "The books were written by Katsu."),
    ("The firm, based in Leeds, was sold.", ["The firm", "based in Leeds"], "The firm is based in Leeds."),
    ("Tom sings and dances.", ["Tom", "and dances"], "Tom dances."),
    ("The dam, and the road, were built.", ["The dam,", "were built"], "The dam were built."),
    ("Water boils at 100 °C [1].", ["Water boils at 100 °C [1]."], "Water boils at 100 °C."),
    ("- **Water** boils [2, 3] at 100 °C.", ["- **Water** boils [2, 3] at 100 °C."], "Water boils at 100 °C."),
    ("It rained, and the match was cancelled.", ["and the match was cancelled"], "The match was cancelled."),
    ("He came from Leeds, England, in 1990.", ["He came from Leeds", "England"], "He came from Leeds, England."),
    ("The well-known U.S. firm failed.", ["The well", "known U.S", "firm failed"], "The well-known U.S. firm failed."),
    ("It is a red and an old car.", ["It is a", "old car"], "It is an old car."),
    ("Vitamin A, like B, is vital.", ["Vitamin A", "is vital"], "Vitamin A is vital."),
    ("It took an entire hour.", ["It took an", "hour"], "It took an hour."),
    ("An old union fell.", ["An", "union fell"], "A union fell."),
    ("Tom painted the house, a barn.", ["Tom painted the house", "a barn"], "Tom painted the house, a barn."),
    ("The car driven by Tom won.", ["The car driven by Tom"], "The car driven by Tom."),
    ("The law (passed in 1990) failed.", ["The law (", "failed"], "The law failed."),
    ("The law (passed in 1990) failed.", ["passed in 1990)"], "Passed in 1990."),
    ("[The firm] said so.", ["[The firm] said so."], "The firm said so."),
    ("See [the report](http://a.b/c) of 1990.", ["See [the report](http://a.b/c) of 1990."], "See the report of 1990."),
    ("iPhone sales rose...", ["iPhone sales rose..."], "iPhone sales rose."),
    ("It rose to -3 °C;", ["-3 °C;"], "-3 °C."),
    ("Is it true?", ["Is it true?"], "Is it true?"),
    ("Ada Hall’s book sold.", ["Ada Hall", "’s book sold"], "Ada Hall’s book sold."),
    ('He wrote "Siva" in 1990.', ['"Siva" in 1990'], '"Siva" in 1990.'),
    ('He said "no', ['He said "no'], "He said no."),
    ("...", ["..."], ""),
    ("Der Fluss, der lang ist, ist tief.", ["Der Fluss", "ist tief"], "Der Fluss ist tief."),
    ("Αθήνα, πρωτεύουσα.", ["Αθήνα,"], "Αθήνα."),
]


@pytest.mark.parametrize(("sentence", "words", "wanted"), READ)
def test_spans_read_as_a_sentence(sentence: str, words: list[str], wanted: str) -> None:
    assert readable(sentence, cut(sentence, *words)) == wanted


def test_a_proposition_takes_its_antecedent_from_the_sentences_before() -> None:
    sentence = "He was born in Brno [1] and wrote nine novels."
    spans = cut(sentence, "He", "wrote nine novels.")
    assert readable(sentence, spans, ["Karel Novak was a Czech writer."]) == "[Karel Novak] wrote nine novels."


def test_what_stands_before_in_the_sentence_counts() -> None:
    alone = "Ines Duarte studied in Porto, and she moved to Canada."
    assert readable(alone, cut(alone, "she moved to Canada")) == "[Ines Duarte] moved to Canada."
    two = "Ines Duarte taught Eva Green, and she moved to Canada."
    assert readable(two, cut(two, "she moved to Canada"), ["Ana Reis is a poet."]) == "She moved to Canada."


def test_spans_may_come_unsorted_overlap_or_end_after_the_sentence() -> None:
    assert readable("Ada won a cup.", [Span(4, 40), Span(0, 5), Span(90, 99)]) == "Ada won a cup."
    assert readable("Ada won.", []) == ""


def test_insertions_are_told_from_brackets_of_the_sentence() -> None:
    text = "[The barrier] cost €2 [sic] in 1990 [1]."
    assert [span.of(text) for span in insertions(text)] == ["[The barrier]"]
    assert without_marks(text) == "The barrier cost €2 [sic] in 1990 [1]."
    for plain in ("It cost [sic] €2.", "[1] It cost €2.", "", "[", "[] a", "[The barrier]cost"):
        assert insertions(plain) == []
        assert without_marks(plain) == plain


WORDS = st.sampled_from(
    "He She It They His Her Its Their This These Ada Hall Karel Novak the bridge sensors is was cost born in and , . ["
    " ] ( )"
    ' de ** [1] " who that Leeds 1990 founded by of a ; : ? \0 ’s €'.split(" ")
)
SENTENCES = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def in_order(wanted: Sequence[str], held: Sequence[str]) -> bool:
    rest = iter(held)
    return all(word in rest for word in wanted)


@given(SENTENCES, st.lists(SENTENCES, max_size=4))
def test_the_words_of_the_text_stay_in_order(text: str, context: list[str]) -> None:
    said = with_antecedent(text, context)
    if said != text:
        (mark,) = insertions(said)
        assert mark.start == 0
        assert in_order(words_of(said[mark.end :]), words_of(text))
        assert len(words_of(text)) - len(words_of(said[mark.end :])) <= 2
        assert any(word in " ".join(context) for word in words_of(mark.of(said)))
        assert with_antecedent(said, context) == said


@given(
    SENTENCES, st.lists(st.tuples(st.integers(0, 70), st.integers(0, 30)), max_size=4), st.lists(SENTENCES, max_size=3)
)
def test_any_spans_of_any_string_give_a_text(sentence: str, pairs: list[tuple[int, int]], context: list[str]) -> None:
    spans = [Span(start, start + size) for start, size in pairs]
    text = readable(sentence, spans, context)
    assert text == text.strip()
    assert text == "" or re.search(r"\w", text)
    assert not insertions(readable(sentence, spans))
