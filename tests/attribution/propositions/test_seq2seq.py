"""The sequence-to-sequence splitter on tiny T5 checkpoints that are built and trained here."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from propcite.attribution.errors import AttributionError
from propcite.attribution.propositions import Splitter
from propcite.attribution.propositions.seq2seq import Seq2SeqSplitter, parse_list, parse_segments
from propcite.retrieval.text import join_spans

ADA = "Ada wrote a book and Bo sang in Paris."
RIVER = "The river floods the old town and the castle was built in 1250."
HE = "He was born in Rome and moved to Oslo."
ANSWERS = {
    ADA: ["Ada wrote a book.", "Bo sang in Paris."],
    RIVER: ["The river floods the old town.", "The castle was built in 1250."],
    HE: ["Carlo Rossi was born in Rome.", "Carlo Rossi moved to Oslo."],
}
TITLE = "Carlo Rossi"


def prompt_of(sentence: str, style: str) -> str:
    return f"segment sentence: {sentence}" if style == "segment" else f"Title: {TITLE}. Section: . Content: {sentence}"


def output_of(texts: list[str], style: str) -> str:
    return "[sep]".join(texts) if style == "segment" else '["' + '", "'.join(texts) + '"]'


def tokenizer_of(texts: list[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer of words and punctuation marks; a space is part of the token after it."""
    splitter = pre_tokenizers.Sequence([
        pre_tokenizers.Metaspace(),
        pre_tokenizers.Split("[sep]", "isolated"),
        pre_tokenizers.Punctuation("isolated"),
    ])  # fmt: skip
    pieces = {piece for text in texts for piece, _ in splitter.pre_tokenize_str(text)}
    vocabulary = {piece: number for number, piece in enumerate(["<pad>", "</s>", "<unk>", *sorted(pieces)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = splitter
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64
    )


def checkpoint(folder: Path, style: str, steps: int) -> Path:
    """Save a T5 of two layers, trained to give the output of this style for three sentences."""
    torch.manual_seed(0)
    pairs = [(prompt_of(s, style), output_of(texts, style)) for s, texts in ANSWERS.items()]
    tokenizer = tokenizer_of([text for pair in pairs for text in pair])
    config = T5Config(  # type: ignore[call-arg]
        vocab_size=len(tokenizer), d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4,
        dropout_rate=0.0, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config)
    inputs = tokenizer([p for p, _ in pairs], padding=True, return_tensors="pt")
    labels = tokenizer([o for _, o in pairs], padding=True, return_tensors="pt")["input_ids"]
    labels = labels.masked_fill(labels == 0, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        loss = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.01:
            break
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory: pytest.TempPathFactory) -> Seq2SeqSplitter:
    return Seq2SeqSplitter(str(checkpoint(tmp_path_factory.mktemp("m") / "tiny-segment-t5", "segment", 400)))


@pytest.fixture(scope="module")
def propositionizer(tmp_path_factory: pytest.TempPathFactory) -> Seq2SeqSplitter:
    folder = checkpoint(tmp_path_factory.mktemp("m") / "tiny-propositionizer", "propositionizer", 400)
    return Seq2SeqSplitter(str(folder), title=TITLE)


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(checkpoint(tmp_path_factory.mktemp("m") / "untrained", "segment", 0))


def test_segments_are_aligned_to_the_sentence(segmenter: Seq2SeqSplitter) -> None:
    splitter: Splitter = segmenter
    assert (segmenter.name, segmenter.style) == ("seq2seq/tiny-segment-t5", "segment")
    found = splitter.split(ADA)
    assert [p.text for p in found] == ANSWERS[ADA]
    assert [join_spans(p.spans, ADA) for p in found] == ["Ada wrote a book", "Bo sang in Paris"]
    assert all(p.check_worthy for p in found)


def test_propositions_of_a_list_are_aligned_to_the_sentence(propositionizer: Seq2SeqSplitter) -> None:
    assert propositionizer.style == "propositionizer"
    found = propositionizer.split(HE)
    assert [p.text for p in found] == ANSWERS[HE]
    assert [join_spans(p.spans, HE) for p in found] == ["He was born in Rome", "moved to Oslo"]


def test_a_batch_is_split_like_each_sentence(segmenter: Seq2SeqSplitter) -> None:
    sentences = [RIVER, "", ADA, "Did Ada sing?", "...", RIVER]
    found = segmenter.split_many(sentences, [()] * len(sentences))
    assert found == [segmenter.split(sentence) for sentence in sentences]
    assert [[p.text for p in one] for one in found[:3]] == [ANSWERS[RIVER], [], ANSWERS[ADA]]
    assert segmenter.split_many([], []) == []


def test_markup_is_ignored(segmenter: Seq2SeqSplitter) -> None:
    marked = "**Ada** wrote a book [1] and Bo sang in Paris. [2]"
    found = segmenter.split(marked)
    assert [p.text for p in found] == ANSWERS[ADA]
    assert join_spans(found[1].spans, marked) == "Bo sang in Paris"


def test_useless_output_leaves_the_sentence_whole(untrained: str) -> None:
    splitter = Seq2SeqSplitter(untrained, style="segment")
    for sentence in (
        ADA,
        "The Unknown and the zebra were seen in 1999 \ud800.",
        "Un chien est dans la maison et le chat.",
    ):
        assert [join_spans(p.spans, sentence) for p in splitter.split(sentence)] == [sentence]


def test_a_sentence_longer_than_the_window_stays_whole(segmenter: Seq2SeqSplitter) -> None:
    long = ADA[:-1] + " and the river floods the town" * 20 + "."
    assert segmenter.max_tokens == 64
    assert [join_spans(p.spans, long) for p in segmenter.split(long)] == [long]


def test_a_missing_or_unknown_model_raises(tmp_path: Path, untrained: str) -> None:
    with pytest.raises(AttributionError, match=r"there is no folder .*nothing: name a model's folder"):
        Seq2SeqSplitter(str(tmp_path / "nothing"))
    (tmp_path / "segment").mkdir()
    with pytest.raises(AttributionError, match=r"segment cannot be loaded: ") as failure:
        Seq2SeqSplitter(str(tmp_path / "segment"))
    assert "\n" not in str(failure.value)
    with pytest.raises(AttributionError, match="set style to segment or propositionizer"):
        Seq2SeqSplitter(untrained)


def test_invalid_arguments_raise(segmenter: Seq2SeqSplitter) -> None:
    with pytest.raises(ValueError, match="expected style"):
        Seq2SeqSplitter("x", style="json")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a context for each of 1 sentences, got 0"):
        segmenter.split_many([ADA], [])


@pytest.mark.parametrize(
    ("output", "is_finished", "texts"),
    [
        ("A b.[sep]C d.", True, ["A b.", "C d."]),
        ("A b. [SEP] C d. [ sep ]", True, ["A b.", "C d."]),
        ("A b.[sep]C", False, ["A b."]),
        ("", True, []),
        ("[sep][sep] . [sep]", True, []),
    ],
)
def test_segments_are_parsed(output: str, is_finished: bool, texts: list[str]) -> None:
    assert parse_segments(output, is_finished) == texts


@pytest.mark.parametrize(
    ("output", "is_finished", "texts"),
    [
        ('["A b.", "C \\"d\\"."]', True, ["A b.", 'C "d".']),
        ('Sure: ["A b."]', True, ["A b."]),
        ('["A b.", "C d.", "E', False, ["A b.", "C d."]),
        ('["A b.", "C d."', False, ["A b.", "C d."]),
        ('["A "b" c.", "D e."]', True, ['A "b" c.', "D e."]),
        ('["A b.", 3, null, ["x"]]', True, ["A b."]),
        ("[]", True, []),
        ("{}", True, []),
        ("nothing", True, []),
        ("[" * 5000, True, []),
        ("", True, []),
    ],
)
def test_lists_are_parsed(output: str, is_finished: bool, texts: list[str]) -> None:
    assert parse_list(output, is_finished) == texts
