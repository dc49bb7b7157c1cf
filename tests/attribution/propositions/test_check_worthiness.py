"""Which sentences need a citation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.propositions.check_worthiness import needs_citation

ASSERTIONS = (
    "Water boils at 100 °C.",
    "Paris is the capital of France.",
    "Paris",
    "Marie Curie",
    "42 km",
    "Population: 5 million",
    "Yes, the treaty was signed in 1919.",
    "The contract does not say who pays.",
    "The data do not show an effect.",
    "Smoking causes lung cancer.",
    "Diesel is heavier than petrol.",
    "However, sales fell by 3%.",
    "In summary, the drug is safe.",
    "There is no cure for the disease.",
    "There is no evidence that the drug works.",
    "The following year, he moved to Rome.",
    "The documents do not give a date, but they say that the bridge was built by Eiffel.",
    "According to the documents, the dose is 5 mg.",
    "Thanks to the canal, the city was spared.",
    'She wrote "Who Is Afraid of the Dark?"',
    "Take the tablets with food",
    "Die Brücke wurde 1890 gebaut.",
    "- **Rent** is due on the first day of the month [1].",
    "It is possible that the fire was set on purpose.",
)
TALK = (
    "",
    "   ",
    "...",
    "---",
    "👍",
    "[1][2]",
    "What is the capital of France?",
    '"Who wrote it?"',
    "Here is what I found:",
    "Here are the main points.",
    "In summary:",
    "In conclusion,",
    "For example:",
    "Overview:",
    "**Key Findings**",
    "## Side Effects",
    "Step 3:",
    "I hope this helps!",
    "Let me know if you have further questions.",
    "Feel free to ask for more detail.",
    "If you need more information, just ask.",
    "Hello!",
    "Good morning.",
    "Sure, happy to help.",
    "Great question!",
    "That's a great question.",
    "Thank you for asking.",
    "You're welcome.",
    "Yes.",
    "The documents do not say.",
    "The documents do not mention who built the bridge.",
    "The provided information doesn't cover penalties.",
    "The collection does not say when it was built.",
    "None of the passages mention a date.",
    "There is no information about the price.",
    "I could not find an answer in your documents.",
    "I don't know.",
    "I'm sorry, but I can't help with that.",
    "Unfortunately, I was unable to find this.",
    "The price is not mentioned in the documents.",
    "Based on the documents, I cannot determine who signed it.",
    "The main causes are the following:",
)


@pytest.mark.parametrize("text", ASSERTIONS)
def test_an_assertion_needs_a_citation(text: str) -> None:
    assert needs_citation(text)


@pytest.mark.parametrize("text", TALK)
def test_talk_needs_no_citation(text: str) -> None:
    assert not needs_citation(text)


@given(st.text())
def test_any_text_is_classified(text: str) -> None:
    assert needs_citation(text) in (True, False)


@given(st.text(alphabet=" .,;:!?-*[](){}'\"…\n"))
def test_punctuation_alone_needs_no_citation(text: str) -> None:
    assert not needs_citation(text)


def test_long_texts_are_classified_quickly() -> None:
    assert needs_citation("if you " * 20_000 + "win.")
    assert needs_citation("the provided " * 20_000 + "end.")
