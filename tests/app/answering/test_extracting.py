"""Answers in the sources' words: which sentences are chosen, how they are put together, which names must be there."""

from __future__ import annotations

import pytest
from word_encoder import WordEncoder

from propcite.app.answering.extracting.candidates import Candidate, find
from propcite.app.answering.extracting.choosing import choose, nearest
from propcite.app.answering.extracting.composing import compose, direct_words
from propcite.app.answering.finding import found_passages
from propcite.app.answering.naming import described_in, documents_named, named_in, names_in
from propcite.attribution.english import Form
from propcite.attribution.propcite import PropCite
from propcite.attribution.questions.reader import QuestionReader
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import PassageSplitter, passage_from_text
from propcite.retrieval.text import Document, Heading, Passage, Sentence, Span

LIST = passage_from_text(
    "list",
    "Releases are supported in three stages:\n- At least three years by the security team.\n"
    "- Two more years by volunteers.\n- Paid support after that.\n\nIt is announced on the mailing list.",
    "Support",
    "support",
)
COST = passage_from_text("cost", "The barrier was planned in 2018. It cost 212 million euros.", "Audit", "audit")
PLAN = passage_from_text("plan", "The barrier was to cost 190 million euros.", "Plan of 2018", "plan")


def candidate(passage: Passage, number: int, probability: float = 0.9, words: str = "", sure: float = 0.0) -> Candidate:
    start = passage.text.find(words) if words else 0
    span = Span(start, start + len(words)) if words else None
    return Candidate(passage, number, probability, span, sure)


def test_an_item_comes_with_the_sentence_that_opens_its_list() -> None:
    assert compose([candidate(LIST, 2)], naming=False) == (
        "Releases are supported in three stages:\n- Two more years by volunteers."
    )


def test_a_sentence_that_opens_a_list_comes_with_its_items() -> None:
    assert compose([candidate(LIST, 0)], naming=False).split("\n") == [
        "Releases are supported in three stages:",
        "- At least three years by the security team.",
        "- Two more years by volunteers.",
        "- Paid support after that.",
    ]


def test_items_of_a_list_are_never_fused() -> None:
    text = compose([candidate(LIST, 1), candidate(LIST, 3)], naming=False)
    assert "team.\n" in text
    assert "team. Paid" not in text


def test_a_pronoun_comes_with_the_sentence_before_it() -> None:
    assert compose([candidate(COST, 1)], naming=False) == "The barrier was planned in 2018. It cost 212 million euros."


def test_documents_are_named_where_they_answer_differently() -> None:
    text = compose([candidate(PLAN, 0), candidate(COST, 1)], naming=True)
    assert text.split("\n\n") == [
        "From “Plan of 2018”:",
        "The barrier was to cost 190 million euros.",
        "From “Audit”:",
        "The barrier was planned in 2018. It cost 212 million euros.",
    ]


def test_sentences_stand_in_the_order_of_their_document() -> None:
    passage = passage_from_text("p", "One is red. Two is blue. Three is green.", "", "d")
    assert compose([candidate(passage, 2), candidate(passage, 0)], naming=False) == "One is red. Three is green."


def test_a_row_reads_as_a_sentence() -> None:
    row = passage_from_text("t", "Rent | 900 euros | monthly", "", "d")
    assert compose([candidate(row, 0)], naming=False) == "Rent: 900 euros, monthly."


@pytest.mark.parametrize(
    ("words", "sure", "direct"),
    [
        ("212 million euros", 0.9, "212 million euros."),
        ("212 million euros", 0.2, ""),
        ("It cost 212 million euros", 0.9, ""),  # nearly the whole sentence
        ("", 0.9, ""),
    ],
)
def test_an_answer_begins_with_the_words_that_were_asked_for(words: str, sure: float, direct: str) -> None:
    assert direct_words(candidate(COST, 1, words=words, sure=sure), "How much did it cost?") == direct


@pytest.mark.parametrize(
    ("words", "direct"),
    [
        ("32 volts", "9 to 32 volts."),
        ("200 metres", "At most 200 metres."),
        ("600", "600."),  # from 200 to 600: only the end is asked for
        ("64 boats", "64 boats."),
        ("30 days", "30 days before the storm."),
        ("gale 8) and hail", "Gale 8."),
        ("red_lamp", "red_lamp."),
        ("euros (a loan", "Euros."),
    ],
)
def test_the_words_that_open_an_answer_are_whole(words: str, direct: str) -> None:
    text = (
        "The sensor needs 9 to 32 volts and a cable of at most 200 metres, its limit was raised from 200 to 600 by the "
        "works, which pay for storm (from gale 8) and hail in euros (a loan of the town), not for "
        "more than 64 boats, where red_lamp is lit 30 days before the storm."
    )
    sensor = passage_from_text("sensor", text, "Sensor", "sensor")
    assert direct_words(candidate(sensor, 0, words=words, sure=0.9), "Which is meant?") == direct


def test_only_a_detail_or_a_row_opens_an_answer() -> None:
    cost = candidate(COST, 1, words="212 million euros", sure=0.9)
    questions = ("How much did it cost?", "Did it cost much?", "Why did it cost so much?", "What are its costs?")
    assert [question for question in questions if direct_words(cost, question)] == ["How much did it cost?"]
    assert direct_words(cost, "When was it finished?") == ""  # no date
    crew = passage_from_text("crew", "On the first voyage Ada, Bo and Cy sailed with the harbour master.", "", "crew")
    assert direct_words(candidate(crew, 0, words="Ada, Bo and Cy", sure=0.9), "Who were its crew?") == "Ada, Bo and Cy."


def test_a_question_for_several_things_gets_the_whole_list() -> None:
    text = (
        "It has two kinds of gates:\n- Sluices, of oak. They are old.\n- Barriers, of steel.\n"
        "It costs much:\n- Paint.\n- Oil."
    )
    passage = passage_from_text("gates", text, "Gates", "gates")
    gates = "It has two kinds of gates:\n- Sluices, of oak.\n- Barriers, of steel."
    old, steel = (n for n, s in enumerate(passage.sentences) if s.span.of(text).strip().endswith(("old.", "steel.")))
    assert compose([candidate(passage, steel), candidate(COST, 1)], naming=False, form=Form.SEVERAL) == gates
    assert compose([candidate(passage, 0)], naming=False, form=Form.SEVERAL) == gates
    assert "steel" not in compose([candidate(passage, old)], naming=False, form=Form.SEVERAL)
    assert compose([candidate(passage, steel)], naming=False) == "It has two kinds of gates:\n- Barriers, of steel."


def test_a_list_with_two_of_the_sentences_that_explain_is_quoted_whole() -> None:
    text = "Mounting\n\n1. Lower the sensor.\n2. Fix the cable.\n3. Close the tube.\n\nIt is grey."
    mounting = split(text, ["Mounting"])[0]
    steps = [candidate(mounting, n) for n in (1, 2)]
    whole = "- Lower the sensor.\n- Fix the cable.\n- Close the tube."
    assert compose(steps, naming=False, form=Form.EXPLANATION) == whole
    assert compose(steps[:1], naming=False, form=Form.EXPLANATION) == "Lower the sensor."


def test_the_label_of_an_item_comes_with_what_it_says() -> None:
    text = "It has:\n- Offline maps. Regions can be saved. They are small.\n- A clock.\n\nIt is grey."
    passage = passage_from_text("maps", text, "Tessera", "maps")
    whole = "It has:\n- Offline maps. Regions can be saved.\n- A clock."
    assert compose([candidate(passage, 0)], naming=False, form=Form.SEVERAL) == whole
    assert compose([candidate(passage, 1)], naming=False) == "It has:\n- Offline maps. Regions can be saved."


def test_a_lone_item_and_what_goes_on_are_no_list() -> None:
    text = "Wishes\n\n1. The city wants sprinklers. That adds 85,000 euros.\n2. It wants a park."
    wishes = split(text, ["Wishes"])[0]
    adds = candidate(wishes, 2)
    assert compose([adds], naming=False) == "The city wants sprinklers. That adds 85,000 euros."


def test_what_a_document_names_in_its_opening_all_its_passages_name() -> None:
    opening = Passage("a", "Between Norvik and the customer.", "Service", "sla", sentences=(Sentence(Span(0, 32)),))
    text = "The Provider is not responsible for failures of the customer's own software."
    later = Passage("b", text, "Service › Exclusions", "sla", 40, sentences=(Sentence(Span(0, len(text))),))
    other = Passage("c", text, "Hosting › Exclusions", "other", 40, sentences=(Sentence(Span(0, len(text))),))
    passages = [opening, later, other]
    found = find(
        QuestionReader(), Retriever.over(WordEncoder(), passages), passages, ["What is Norvik not responsible for?"]
    )[0]
    likely = {candidate.passage.id: candidate.probability for candidate in found.candidates}
    assert likely["b"] > 1.5 * likely["c"]


def test_what_leads_to_a_question_answers_nothing() -> None:
    text = "Reviewer: You throw less away. How did you do it?\n\nAda Moor: We throw less away by guessing less."
    passage = passage_from_text("talk", text, "Interview", "talk")
    found = find(
        QuestionReader(),
        Retriever.over(WordEncoder(), [passage]),
        [passage],
        ["How did the bakery throw less away?"],
    )[0]
    assert [candidate.text for candidate in found.candidates] == ["Ada Moor: We throw less away by guessing less."]


def test_what_is_new_is_below_a_heading_that_says_so() -> None:
    text = "Fixed\n\nThe clock is right.\n\nHighlights\n\n- Maps can be saved.\n- Trips can be shared."
    passages = split(text, ["Fixed", "Highlights"], "Tessera 5.3")
    assert found_in(passages, "What is new in Tessera 5.3?")[:2] == ["- Maps can be saved.", "- Trips can be shared."]


def split(text: str, headings: list[str], title: str = "Plan of the harbour") -> list[Passage]:
    """Return the passages of a document with these lines as headings."""
    starts = (text.index(f"{line}\n") for line in headings)
    places = tuple(Heading(Span(at, at + len(line)), 2) for at, line in zip(starts, headings, strict=True))
    return PassageSplitter().split(Document(id="plan", text=text, title=title, headings=places))


RISKS = (
    "Risks\n\n- The pump may fail in winter.\n- Two divers retire this year.\n\nCosts\n\nThe pump costs 40,000 euros."
)
WARNING = passage_from_text(
    "w", "Take care. Do not open the gate\n\n- if it storms;\n- if the lamp is red.\n\nThe gate is old."
)


def test_a_heading_or_a_line_without_a_colon_opens_a_list_too() -> None:
    risks = split(RISKS, ["Risks", "Costs"])[0]
    items = "- The pump may fail in winter.\n- Two divers retire this year."
    assert compose([candidate(risks, 2)], naming=False, form=Form.SEVERAL) == items
    assert compose([candidate(risks, 2)], naming=False) == "Two divers retire this year."
    numbers = {s.span.of(WARNING.text).strip(): n for n, s in enumerate(WARNING.sentences)}
    whole = "Do not open the gate.\n- if it storms.\n- if the lamp is red."
    assert compose([candidate(WARNING, numbers["Do not open the gate"])], naming=False) == whole
    assert compose([candidate(WARNING, numbers["The gate is old."])], naming=False) == "The gate is old."


def found_in(passages: list[Passage], question: str) -> list[str]:
    """Return the sentences that are chosen to answer a question over these passages."""
    (found,) = find(QuestionReader(), Retriever.over(WordEncoder(), passages), passages, [question])
    return [one.text for one in choose(found.candidates)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What are the main risks of the plan?", ["- The pump may fail in winter.", "- Two divers retire this year."]),
        ("What does the plan say about risks?", ["- The pump may fail in winter.", "- Two divers retire this year."]),
        ("What are the costs?", ["The pump costs 40,000 euros."]),
        ("What are the risks of smoking?", []),
    ],
)
def test_what_a_question_asks_to_be_stated_is_read_below_its_heading(question: str, answer: list[str]) -> None:
    assert found_in(split(RISKS, ["Risks", "Costs"]), question) == answer


def test_of_a_section_that_asks_the_question_the_likeliest_sentence_answers() -> None:
    text = (
        "What the float is used for\n\nThe float has a red lamp. It belongs to the north gate. It is used to measure "
        "the tide.\n\nWho we share it with\n\n- The pilots, for their plans\n- The school, in summer"
    )
    passages = split(text, ["What the float is used for", "Who we share it with"], "Float")
    assert found_in(passages, "What is the float used for?")[:1] == ["It is used to measure the tide."]
    shared = found_in(passages, "Who is the float shared with?")
    assert shared == ["- The pilots, for their plans", "- The school, in summer"]


def test_a_title_in_capitals_answers_nothing() -> None:
    title = passage_from_text("t", "REQUIREMENTS OF THE COURSE (GEO 214)\n\nIt has two parts.", "Course")
    assert "REQUIREMENTS OF THE COURSE (GEO 214)" not in found_in([title], "What are the requirements of GEO 214?")


def test_sentences_with_pronouns_come_with_all_up_to_the_one_that_names_something() -> None:
    float_ = passage_from_text("f", "It rained. The float has a lamp. It is red. It is used at night.")
    assert compose([candidate(float_, 3)], naming=False) == "The float has a lamp. It is red. It is used at night."


def test_a_short_sentence_is_no_fragment() -> None:
    passage = passage_from_text("who", "Companies cannot apply. Ask Ms Moor.", "Call › Who can apply", "who")
    assert compose([candidate(passage, 0)], naming=False) == "Companies cannot apply."


def test_a_fragment_comes_with_its_heading() -> None:
    passage = passage_from_text("p", "How long it waits. Default: 300", "Settings › GateDelay [minutes] [flags]", "d")
    assert compose([candidate(passage, 1)], naming=False) == "GateDelay: Default: 300."
    hours = passage_from_text("p", "9 to 17", "Museum › 2. Opening hours", "d")
    assert compose([candidate(hours, 0)], naming=False) == "Opening hours: 9 to 17."


def test_what_only_refers_elsewhere_comes_with_no_sentence() -> None:
    passage = passage_from_text("p", "See the entry on gates. It is off by default.\n=====\nMore is on.", "", "d")
    assert compose([candidate(passage, 1)], naming=False) == "It is off by default."


def test_a_sentence_that_opens_an_example_comes_with_it() -> None:
    passage = passage_from_text(
        "p", "The gate is closed like this:\n\n    gate close --now\n\nIt takes an hour.", "", "d"
    )
    assert compose([candidate(passage, 0)], naming=False) == "The gate is closed like this: gate close --now."
    table = passage_from_text("t", "These are its gates:\n\nTable 2.1. Gates\n\nNorth | oak", "Old gates › Kinds", "d")
    assert compose([candidate(table, 0)], naming=False) == "These are its gates:"


def test_only_sentences_that_answer_are_chosen() -> None:
    assert choose([]) == []
    assert choose([candidate(COST, 1, 0.2)]) == []
    likely, less = candidate(COST, 1, 0.9), candidate(LIST, 1, 0.3)
    assert choose([likely, less]) == [likely]


def test_where_nothing_answers_the_likeliest_sentence_may_come_near() -> None:
    assert choose([candidate(COST, 1, 0.5)]) == []
    assert nearest([candidate(COST, 1, 0.5), candidate(COST, 0, 0.4)]) == [candidate(COST, 1, 0.5)]
    assert nearest([candidate(COST, 1, 0.2)]) == nearest([]) == []


def test_what_says_the_same_is_chosen_once_and_what_differs_too() -> None:
    again = passage_from_text("again", "In the end the barrier did cost 212 million euros.", "", "other")
    first = candidate(COST, 1, 0.9, "212 million euros")
    second, third = candidate(again, 0, 0.88, "212 million euros"), candidate(PLAN, 0, 0.85, "190 million euros")
    assert choose([first, second, third]) == [first, third]
    assert choose([first, third], limit=1) == [first]


def test_beside_a_sentence_with_words_of_the_question_comes_none_without() -> None:
    shares = candidate(COST, 1, 0.9)
    other = passage_from_text("other", "The ferry takes 85 people.", "Ferry", "ferry")
    assert choose([shares, candidate(other, 0, 0.8)], question="How much did it cost?") == [shares]
    assert len(choose([shares, candidate(other, 0, 0.8)], question="How much was paid?")) == 2
    costs = passage_from_text("costs", "Costs\n\n85,000 euros a year.", "Plan › Costs", "costs")
    named = candidate(costs, len(costs.sentences) - 1, 0.8)
    assert choose([shares, named], question="How much did it cost?") == [shares, named]


def test_beside_the_row_that_was_asked_for_comes_no_other_row() -> None:
    rows = "Frequency = Rare; Effects = tremor.\nFrequency = Uncommon; Effects = hair loss."
    table = passage_from_text("t", rows, "Leaflet", "leaflet")
    both = [candidate(table, 0, 0.9, "tremor"), candidate(table, 1, 0.85, "hair loss")]
    assert choose(both, question="Which effects are rare?") == both[:1]
    assert choose(both, question="Which effects does it have?") == both


def test_names_are_found_with_their_versions() -> None:
    assert [name.text for name in names_in("Does Python 3.11 or the MPL allow “soft keywords” since May?")][:2] == [
        "Python 3.11",
        "MPL",
    ]
    assert names_in("how long is it supported?") == []


def test_a_passage_names_what_stands_in_it_or_in_its_title() -> None:
    licence = passage_from_text("m", "Each contributor grants a licence.", "Mozilla Public License 2.0")
    mpl, gpl, mozilla = (names_in(f"What does {name} say?") for name in ("the MPL", "the GPL", "Mozilla's text"))
    assert named_in(licence, mpl) == set(mpl)
    assert named_in(licence, gpl) == set()
    assert named_in(licence, mozilla) == set(mozilla)


def test_settings_and_options_are_names() -> None:
    question = "What is the default of max_wal_size, with --quiet or -x, in well-known cases?"
    assert [name.text for name in names_in(question)] == ["max_wal_size", "--quiet"]
    assert [name.text for name in names_in("What does the option `--no-deps` do?")] == ["--no-deps"]


def test_a_passage_describes_the_identifier_that_it_stands_below() -> None:
    names = names_in("What is the default of checkpoint_timeout?")
    own = passage_from_text("a", "The default is five minutes.", "Manual › checkpoint_timeout (integer)")
    other = passage_from_text("b", "It warns before checkpoint_timeout.", "Manual › checkpoint_warning (integer)")
    assert (described_in(own, names), described_in(other, names)) == (set(names), set())
    assert named_in(other, names) == set(names)
    assert described_in(passage_from_text("c", "It is long.", "Ada"), names_in("Who is Ada?")) == set()


def test_words_joined_by_capitals_are_a_setting_where_the_question_says_so() -> None:
    (setting,) = names_in("What is the default of the option ExitPolicy?")
    assert (setting.text, setting.is_identifier) == ("ExitPolicy", True)
    assert not any(name.is_identifier for name in names_in("Who uses NetHack?"))


def test_passages_below_a_heading_that_asks_the_question_are_found_and_answer() -> None:
    about = [
        passage_from_text(f"p{n}", f"Should I choose a strong password {n} for my repository, and how?", "Use")
        for n in range(12)
    ]
    asked = PassageSplitter().split(
        Document(
            id="faq",
            text="How do I choose a strong password?\nMake it long, above all. Each more letter helps more than signs.",
            title="FAQ",
            headings=(Heading(Span(0, 34), 2),),
        )
    )
    collection = Retriever.over(WordEncoder(), [*about, *asked])
    question = "How should I choose a strong password for my repository?"
    assert "faq:0" not in {hit.passage.id for hit in collection.search(question, k=4)}
    passages = [hit.passage for hit in found_passages(collection, question, 4)]
    assert "faq:0" in {passage.id for passage in passages}
    (found,) = find(QuestionReader(), collection.only({p.id: {} for p in passages}), passages, [question])
    best = choose(found.candidates)[0]
    assert (best.passage.id, best.text) == ("faq:0", "Make it long, above all.")


@pytest.mark.parametrize(
    "lines",
    [
        "- How the gates are opened\n- How the gates are painted",
        "4.4 The gates are opened by hand . . . . . . . 12\n4.5 The gates are painted . . . . . . 13",
    ],
)
def test_a_line_of_contents_answers_nothing(lines: str) -> None:
    contents = passage_from_text("toc", lines, "Gates", "gates")
    body = passage_from_text("body", "They are opened by hand.", "Gates › How the gates are opened", "gates")
    collection = Retriever.over(WordEncoder(), [contents, body])
    (found,) = find(QuestionReader(), collection, [contents, body], ["How are the gates opened?"])
    texts = [one.text for one in found.candidates]
    assert not [text for text in texts if "opened" in text and text in " ".join(lines.split())]
    assert "They are opened by hand." in texts


def test_passages_that_name_what_is_asked_about_come_into_the_answer() -> None:
    texts = [f"A licence grants patents to each contributor of work {n}." for n in range(12)]
    passages = [passage_from_text(f"p{n}", text, "Other licence") for n, text in enumerate(texts)]
    passages.append(passage_from_text("mpl", "Some patents are granted.", "Mozilla Public License"))
    collection = Retriever.over(WordEncoder(), passages)
    question = "Which patents does a licence such as the MPL grant each contributor?"
    found = found_passages(collection, question, 4)
    assert len(found) == 4
    assert "mpl" in {hit.passage.id for hit in found}
    assert "mpl" not in {hit.passage.id for hit in collection.search(question, k=4)}
    assert len(found_passages(collection, "which patents?", 4)) == 4


def test_in_a_conversation_half_of_the_passages_are_found_with_the_question_before() -> None:
    ferry = [passage_from_text(f"f{n}", f"The ferry of Alder leaves at {n}.", "Ferry") for n in range(1, 6)]
    limits = [passage_from_text(f"n{n}", f"The limit at night is {n} decibels.", "Noise") for n in range(1, 6)]
    collection = Retriever.over(WordEncoder(), [*ferry, *limits])
    alone = found_passages(collection, "What is the limit at night?", 4)
    together = found_passages(collection, "What is the limit at night?", 4, "When does the ferry of Alder leave?")
    assert {hit.passage.id[0] for hit in alone} == {"n"}
    assert {hit.passage.id[0] for hit in together} == {"n", "f"}
    assert len({hit.passage.id for hit in together}) == 4


def test_each_thing_that_a_question_asks_is_looked_for() -> None:
    ferry = [passage_from_text(f"f{n}", f"When does the ferry of Alder leave? It leaves at {n}.") for n in range(1, 6)]
    limit = passage_from_text("limit", "The limit is low.", "Noise")
    collection = Retriever.over(WordEncoder(), [*ferry, limit])
    question = "When does the ferry of Alder leave and what is the limit?"
    assert "limit" not in {hit.passage.id for hit in collection.search(question, k=4)}
    found = {hit.passage.id for hit in found_passages(collection, question, 4)}
    assert "limit" in found
    assert len(found) == 4


TITLE = "Vol. 2: What is it? An overview. › 4.2. Cost › What does it cost?"


def test_the_name_of_a_document_is_no_statement() -> None:
    plan = passage_from_text("plan", "The barrier was to cost 190 million euros.", TITLE, "plan")
    text = compose([candidate(plan, 0), candidate(COST, 1)], naming=True)
    assert text.startswith("From “Vol 2: What is it An overview”:\n\n")
    cited = PropCite.default().cite(text, [plan, COST])
    assert [fact.proposition.text for fact in cited.facts] == [
        "The barrier was to cost 190 million euros.",
        "The barrier was planned in 2018.",
        "It cost 212 million euros.",
    ]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("According to the Debian Manifesto, what is /usr/local for?", ["manifesto"]),
        ("What did constitution 1.4 say of the Committee?", ["old"]),
        ("What does the social contract 1.0 say?", ["first"]),
        ("What does the social contract say?", ["now"]),
        ("What did the social contract 2.0 say?", []),
        ("How do I subscribe to the mailing lists?", []),
        ("Which of mailing-lists.txt is for news?", ["lists"]),
    ],
)
def test_documents_are_named_by_the_words_of_their_files(question: str, named: list[str]) -> None:
    names = {
        "manifesto": ["debian-manifesto", "debian-manifesto.txt"],
        "old": ["constitution.1.4", "constitution.1.4.txt"],
        "first": ["social-contract.1.0", "social-contract.1.0.txt"],
        "now": ["social-contract", "social-contract.txt"],
        "lists": ["mailing-lists", "mailing-lists.txt"],
    }
    assert documents_named(question, names) == named
