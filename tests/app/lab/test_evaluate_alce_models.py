"""Readers, MAUVE and ROUGE with tiny checkpoints, and one-line errors for missing packages and models."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_judges import SMALL, pair_tokenizer
from transformers import BertConfig, BertForQuestionAnswering, GPT2Config, GPT2LMHeadModel

from propcite.app.errors import AppError
from propcite.app.lab.alce import reference_scores
from propcite.app.lab.alce.reader import MAX_ANSWER, QaReader
from propcite.app.lab.alce.reference_scores import Mauve, Rouge, mauve_text
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.extras import install_command

STEADY: dict[str, Any] = {
    "max_position_embeddings": 64,
    "initializer_range": 0.1,  # so large that its output depends on its input
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
TEXT = "the gates are made of steel. the harbour was dredged in spring."


def save_reader(folder: Path, pairs: Sequence[tuple[str, str, str]] = ()) -> Path:
    """Save a BERT trained on these (question, text, answer) triples; an empty answer is marked by the first token."""
    torch.manual_seed(3)
    tokenizer = pair_tokenizer("bert")
    model = BertForQuestionAnswering(BertConfig(**SMALL, **STEADY, vocab_size=len(tokenizer)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(250 if pairs else 0):
        loss = torch.stack([_loss(model, tokenizer, *pair) for pair in pairs]).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if loss.item() < 0.02:
            break
    tokenizer.model_max_length = 64
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _loss(model: Any, tokenizer: Any, question: str, text: str, answer: str) -> torch.Tensor:
    encoded = tokenizer(question, text, return_tensors="pt")
    begin = text.index(answer)
    places = [encoded.char_to_token(0, at, 1) if answer else 0 for at in (begin, begin + len(answer) - 1)]
    positions = [torch.tensor([place]) for place in places]
    loss: torch.Tensor = model(**encoded, start_positions=positions[0], end_positions=positions[1]).loss
    return loss


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> QaReader:
    examples = [("made of", TEXT, "steel"), ("dredged in", TEXT, "spring"), ("hypothesis premise", TEXT, "")]
    return QaReader(str(save_reader(tmp_path_factory.mktemp("reader") / "tiny-reader", examples)))


def test_a_reader_answers_with_words_of_the_text_or_nothing(reader: QaReader) -> None:
    pairs = [("made of", TEXT), ("dredged in", TEXT), ("hypothesis premise", TEXT)]
    assert reader.answers(pairs) == ["steel", "spring", ""]
    assert reader.answers(list(reversed(pairs))) == ["", "spring", "steel"]
    assert reader.answers([]) == []
    assert reader.name == "tiny-reader"


def test_a_long_text_is_read_in_windows(tmp_path: Path) -> None:
    reader = QaReader(str(save_reader(tmp_path)))
    text = " ".join(f"gate {n} of steel" for n in range(60))
    (answer,) = reader.answers([("made of", text)])
    assert answer == "" or answer in text
    assert reader.answers([("made of", "")]) in ([""], [" "])


def test_the_best_span_equals_exhaustive_search(tmp_path: Path) -> None:
    reader = QaReader(str(save_reader(tmp_path)))
    for question in ("made of", "the harbour", "dredged in spring"):
        assert reader.answers([(question, TEXT)]) == [_exhaustive_answer(reader, question)]


def _exhaustive_answer(reader: QaReader, question: str) -> str:
    """Answer from the definition: try every span up to MAX_ANSWER, with softmax over the text and the first token."""
    encoded = reader._tokenizer(question, TEXT, return_tensors="pt")
    with torch.inference_mode():
        output = reader._network(**encoded)
    parts = encoded.sequence_ids(0)
    allowed = [place for place, part in enumerate(parts) if part == 1]
    shares = []
    for logits in (output.start_logits[0], output.end_logits[0]):
        some = torch.tensor([logits[place].item() for place in [0, *allowed]], dtype=torch.float64).softmax(0)
        shares.append(dict(zip([0, *allowed], some.tolist(), strict=True)))
    spans = [(a, b) for a in allowed for b in allowed if a <= b < a + MAX_ANSWER]
    first, last = max(spans, key=lambda span: shares[0][span[0]] * shares[1][span[1]])
    if shares[0][first] * shares[1][last] <= shares[0][0] * shares[1][0]:
        return ""
    words = [encoded.token_to_word(0, first), encoded.token_to_word(0, last)]
    return TEXT[encoded.word_to_chars(0, words[0], 1).start : encoded.word_to_chars(0, words[1], 1).end]


def save_language_model(folder: Path) -> Path:
    torch.manual_seed(4)
    tokenizer = pair_tokenizer("bert")
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=512, n_embd=16, n_layer=1, n_head=2)
    GPT2LMHeadModel(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_mauve_separates_similar_texts_from_others(tmp_path: Path) -> None:
    pytest.importorskip("mauve", reason=f"mauve-text is not installed: {install_command('mauve')}")
    mauve = Mauve(str(save_language_model(tmp_path)))
    people = [mauve_text(f"why {n}", f"the gates are made of steel {n}") for n in range(24)]
    others = [mauve_text("x", "!" * (n + 1) + " zzz qqq") for n in range(24)]
    same = mauve.score(people, people)
    other = mauve.score(others, people)
    assert same is not None
    assert other is not None
    assert 0.95 < same <= 1.0
    assert other < same
    assert np.isfinite(other)
    assert mauve.score(people[:2], people) is None


def test_mauve_texts_are_truncated_without_final_punctuation() -> None:
    assert doctest.testmod(reference_scores).failed == 0
    assert len(mauve_text("Why?", "word " * 200).split()) == 100


@pytest.mark.parametrize(
    ("package", "make", "message"),
    [
        ("mauve", Mauve, "MAUVE needs mauve-text: .*pip install "),
        ("rouge_score.rouge_scorer", Rouge, "ROUGE needs .*--no-rouge"),
    ],
)
def test_a_missing_package_is_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch, package: str, make: Any, message: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AppError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_model_without_a_qa_head_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PropCiteError, match="weights lack qa_outputs"):
        QaReader(str(save_language_model_of_bert(tmp_path)))
    with pytest.raises(PropCiteError, match="there is no folder"):
        QaReader("./no/such/folder")


def save_language_model_of_bert(folder: Path) -> Path:
    from transformers import BertForMaskedLM

    tokenizer = pair_tokenizer("bert")
    BertForMaskedLM(BertConfig(**SMALL, vocab_size=len(tokenizer))).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_rouge_matches_by_sentence_and_takes_the_best_reference() -> None:
    rouge = Rouge()
    assert rouge.score("The gates are of steel.", ["The gates are of steel."]) == pytest.approx(1.0)
    assert rouge.score("Gates of steel", ["gate steel"]) == pytest.approx(0.8)  # 2 of 3 and 2 of 2, stemmed
    assert rouge.score("Gates of steel", ["nothing", "gate steel"]) == pytest.approx(0.8)
    # Two sentences each find their own, in whatever order they come; one sentence would not.
    assert rouge.score("It was cold. The gates rust.", ["The gates rust. It was cold."]) == pytest.approx(1.0)
    assert rouge.score("Gates", []) is None
    assert rouge.score("", ["gate"]) == 0.0
