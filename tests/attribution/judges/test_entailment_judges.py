"""Published judges on tiny checkpoints in their formats, compared with a slow reference written out here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tiny_judges as tiny
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification, AutoTokenizer, BertModel

from propcite.attribution.citations import Label
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case, Judge
from propcite.attribution.judges.chunks import chunks
from propcite.attribution.judges.classifier import Classifier
from propcite.attribution.judges.entailment import TOO_LONG, EntailmentJudge, EntailmentModel, PieceScore, Row
from propcite.attribution.judges.labels import LabelPositions, label_positions
from propcite.attribution.judges.published_judges import PublishedName, published_judge
from propcite.attribution.judges.t5 import T5Classifier, entails, minicheck_t5, true_t5
from propcite.retrieval.extras import install_command
from propcite.retrieval.sentences import split_sentences

GATES = "The harbour gates are made of steel."
SPRING = "The harbour was dredged in spring."
CASES = [
    Case(GATES, (GATES,)),
    Case("The gates are steel.", (SPRING, GATES)),
    Case("It was dredged.", (SPRING,)),
    Case("Steel was made in the harbour in spring 2014, of all places.", (GATES, " ", SPRING)),
    Case(GATES, (SPRING * 3,)),
]
FORM = "premise: {} hypothesis: {}"
TAUGHT = {
    FORM.format(GATES, GATES): "1",
    FORM.format(SPRING, SPRING): "1",
    FORM.format(GATES, SPRING): "0",
    FORM.format(SPRING, GATES): "0",
}
NLI = ("contradiction", "entailment", "neutral")
LONG = " ".join([*([SPRING] * 14), GATES, *([SPRING] * 4)])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return a function that builds folders of checkpoints, each once."""
    folders: dict[object, str] = {}

    def make(save: Callable[..., Path], *arguments: Any, **options: Any) -> str:
        key = (save, repr(arguments), repr(options))
        if key not in folders:
            folders[key] = str(save(tmp_path_factory.mktemp("judges") / f"tiny{len(folders)}", *arguments, **options))
        return folders[key]

    return make


def softmax(logits: Sequence[float]) -> list[float]:
    total = sum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / total for logit in logits]


def slow_t5(folder: str, text: str) -> float:
    """Return the probability of "1" for one text after one step."""
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        ids = tokenizer(text, return_tensors="pt").input_ids
        logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    return softmax([logits[3].item(), logits[209].item()])[1]


def slow_classes(folder: str, *texts: str) -> list[float]:
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        batch = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt")
        logits: list[float] = model(**batch).logits[0].tolist()
    return logits


def probabilities(judge: Judge, cases: Sequence[Case] = CASES) -> list[float]:
    return [verdict.probability for verdict in judge.judge(cases)]


def test_true_gets_premise_and_hypothesis(made: Callable[..., str]) -> None:
    folder = made(tiny.save_t5)
    judge: Judge = published_judge("true", folder, precision="float32")
    assert judge.name == f"true/{Path(folder).name}"
    slow = [slow_t5(folder, FORM.format(" ".join(case.evidence), case.claim)) for case in CASES]
    assert probabilities(judge) == pytest.approx(slow, abs=1e-4)
    assert len({round(p, 3) for p in slow}) > 2


def test_true_answers_with_the_tokenizers_tokens_for_1_and_0(made: Callable[..., str]) -> None:
    assert true_t5(made(tiny.save_t5)).answers == [tiny.ZERO, tiny.ONE]


def test_a_trained_true_gives_verdicts_and_alces_decisions(made: Callable[..., str]) -> None:
    folder = made(tiny.save_t5, TAUGHT)
    judge = published_judge("true", folder, precision="float32")
    pairs = [(GATES, GATES), (SPRING, SPRING), (GATES, SPRING), (SPRING, GATES)]
    verdicts = judge.judge([Case(claim, (evidence,)) for evidence, claim in pairs])
    assert [verdict.label for verdict in verdicts] == [Label.SUPPORTED] * 2 + [Label.UNSUPPORTED] * 2
    assert isinstance(judge.model, T5Classifier)
    assert [entails(judge.model, *pair) for pair in pairs] == [True, True, False, False]


@pytest.mark.parametrize("evidence", [GATES, f"Title: steel\n{SPRING}\n{GATES}", LONG, "</s>", ""])
def test_alces_decision_is_what_the_model_generates(made: Callable[..., str], evidence: str) -> None:
    for folder in (made(tiny.save_t5), made(tiny.save_t5, TAUGHT)):
        model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
        ids = tokenizer(f"premise: {evidence} hypothesis: {GATES}", return_tensors="pt").input_ids
        output = tokenizer.decode(model.generate(ids, max_new_tokens=10)[0], skip_special_tokens=True)
        assert entails(true_t5(folder, precision="float32"), evidence, GATES) == (output == "1")


def test_minicheck_gets_document_end_token_and_claim(made: Callable[..., str]) -> None:
    folder = made(tiny.save_t5)
    judge = published_judge("minicheck", folder, precision="float32")
    slow = [slow_t5(folder, f"predict: {' '.join(case.evidence)}</s>{case.claim}") for case in CASES]
    assert probabilities(judge) == pytest.approx(slow, abs=1e-4)
    assert judge.model.max_evidence == judge.model.window - 300 == 1748


@pytest.mark.parametrize("family", ["roberta", "deberta"])
def test_minicheck_as_a_classifier_uses_its_second_label(made: Callable[..., str], family: str) -> None:
    folder = made(tiny.save_classifier, ["LABEL_0", "LABEL_1"], family)
    judge = published_judge("minicheck", folder, precision="float32")
    end = {"roberta": "</s>", "deberta": "[SEP]"}[family]
    slow = [softmax(slow_classes(folder, f"{' '.join(case.evidence)}{end}{case.claim}"))[1] for case in CASES]
    assert probabilities(judge)[:3] == pytest.approx(slow[:3], abs=1e-4)
    assert judge.model.window == {"roberta": 64, "deberta": 2048}[family]


@pytest.mark.parametrize("family", ["bert", "roberta", "deberta"])
@pytest.mark.parametrize(
    "labels", [NLI, ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), ("neutral", "Contradiction", "entail")]
)
def test_a_cross_encoder_gives_support_and_contradiction(
    made: Callable[..., str], family: str, labels: tuple[str, ...]
) -> None:
    folder = made(tiny.save_classifier, labels, family, positions=128)
    verdicts = published_judge("nli", folder, precision="float32").judge(CASES)
    names = [label.lower()[:6] for label in labels]
    slow = [slow_classes(folder, " ".join(case.evidence), case.claim) for case in CASES]
    entailed = [softmax(logits)[names.index("entail")] for logits in slow]
    assert [verdict.probability for verdict in verdicts] == pytest.approx(entailed, abs=1e-4)
    contradicts = [logits.index(max(logits)) == names.index("contra") for logits in slow]
    assert [verdict.label is Label.CONTRADICTED for verdict in verdicts] == contradicts


def test_a_cross_encoder_can_give_every_label(made: Callable[..., str]) -> None:
    folders = [made(tiny.save_classifier, NLI[n:] + NLI[:n], "bert", positions=128) for n in range(3)]
    labels = {v.label for folder in folders for v in published_judge("nli", folder, precision="float32").judge(CASES)}
    assert {Label.SUPPORTED, Label.CONTRADICTED} <= labels


def test_two_labels_and_one_logit(made: Callable[..., str]) -> None:
    two = made(tiny.save_classifier, ["entailment", "not_entailment"])
    slow = [softmax(slow_classes(two, " ".join(case.evidence), case.claim))[0] for case in CASES[:3]]
    assert probabilities(published_judge("nli", two, precision="float32"), CASES[:3]) == pytest.approx(slow, abs=1e-4)
    one = made(tiny.save_classifier, ["LABEL_0"])
    slow = [1 / (1 + math.exp(-slow_classes(one, " ".join(case.evidence), case.claim)[0])) for case in CASES[:3]]
    assert probabilities(published_judge("nli", one, precision="float32"), CASES[:3]) == pytest.approx(slow, abs=1e-4)


@pytest.mark.parametrize(
    ("names", "positions"),
    [
        (("contradiction", "entailment", "neutral"), LabelPositions(1, 0)),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), LabelPositions(0, 1)),
        (("not-entailment", "Entailment"), LabelPositions(1)),
        (("hallucinated", "consistent"), LabelPositions(1)),
        (("LABEL_0",), LabelPositions(0)),
    ],
)
def test_labels_are_recognised_by_their_names(names: Sequence[str], positions: LabelPositions) -> None:
    assert label_positions(dict(enumerate(names))) == positions


@pytest.mark.parametrize(
    "names",
    [("LABEL_0", "LABEL_1", "LABEL_2"), ("entailment", "entailed"), ("positive", "negative"), NLI[::2], ("a",) * 9],
)
def test_unknown_labels_raise_and_name_the_setting(names: Sequence[str]) -> None:
    with pytest.raises(AttributionError, match=r"^the labels of m do not say .* set judge_labels to their") as failure:
        label_positions(dict(enumerate(names)), model="m")
    assert "\n" not in str(failure.value)


def test_the_setting_names_the_labels(made: Callable[..., str]) -> None:
    unnamed = made(tiny.save_classifier, ["LABEL_0", "LABEL_1", "LABEL_2"])
    named = made(tiny.save_classifier, NLI)
    with pytest.raises(AttributionError, match="set judge_labels"):
        published_judge("nli", unnamed)
    mapped = published_judge("nli", unnamed, labels=[" Contradiction", "entailment ", "neutral"])
    assert mapped.judge(CASES[:3]) == published_judge("nli", named).judge(CASES[:3])
    with pytest.raises(AttributionError, match="has the 3 labels LABEL_0, LABEL_1, LABEL_2: name as many"):
        published_judge("nli", unnamed, labels=["entailment", "neutral"])


@given(st.text("ab .!?\n🌊", max_size=80), st.integers(1, 20))
def test_pieces_fit_and_join_to_the_text(text: str, room: int) -> None:
    pieces = chunks(text, lambda piece: len(piece) <= room)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= room for piece in pieces)
    assert not any(len(a + b) <= room for a, b in pairwise(pieces))


@given(st.lists(st.sampled_from([GATES, SPRING, "It rained."]), min_size=1, max_size=12), st.integers(40, 90))
def test_pieces_end_at_the_end_of_sentences(sentences: list[str], room: int) -> None:
    text = " ".join(sentences)
    ends = {span.end for span in split_sentences(text)}
    at = 0
    for piece in chunks(text, lambda piece: len(piece) <= room):
        at += len(piece)
        assert at in ends


@pytest.mark.parametrize("form", ["bert", "t5", "joined"])
def test_long_evidence_is_judged_in_pieces_and_the_best_one_counts(made: Callable[..., str], form: str) -> None:
    if form == "t5":
        model: Any = minicheck_t5(made(tiny.save_t5), precision="float32", window=60)
    elif form == "joined":
        folder = made(tiny.save_classifier, ["LABEL_0", "LABEL_1"], "roberta")
        model = Classifier(folder, labels=["no_entailment", "entailment"], joined=True, precision="float32")
    else:
        model = Classifier(made(tiny.save_classifier, NLI), precision="float32")
    pieces = chunks(LONG, lambda piece: len(model.row(piece.strip(), GATES)["input_ids"]) <= model.window)
    assert len(pieces) > 2
    scores = [model.score([model.row(piece.strip(), GATES)])[0] for piece in pieces]
    (verdict,) = EntailmentJudge(model).judge([Case(GATES, (LONG,))])
    assert verdict.probability == pytest.approx(max(score.support for score in scores), abs=1e-4)


def record_rows(model: EntailmentModel, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list to which all later input of the network is added."""
    rows: list[Any] = []
    score = model.score

    def recording(batch: Sequence[Row]) -> list[PieceScore]:
        rows.extend(batch)
        return score(batch)

    monkeypatch.setattr(model, "score", recording)
    return rows


def test_minicheck_reserves_room_for_the_claim_as_published(
    made: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = minicheck_t5(made(tiny.save_t5), precision="float32", window=360)
    rows = record_rows(model, monkeypatch)
    EntailmentJudge(model).judge([Case("Steel.", (LONG,))])
    assert len(rows) > 2
    assert max(len(row["input_ids"]) for row in rows) <= 60 + len(model.row("", "Steel.")["input_ids"])


def test_no_word_of_evidence_or_claim_is_lost(made: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    judge = published_judge("nli", made(tiny.save_classifier, NLI))
    rows = record_rows(judge.model, monkeypatch)
    evidence = f"{LONG} {'steel' * 18} made in spring 1999."
    judge.judge([Case(GATES, (evidence,))])
    assert isinstance(judge.model, Classifier)
    tokenizer = judge.model.tokenizer
    texts = [tokenizer.decode(row["input_ids"]).replace("##", "").replace(" ", "").split("[SEP]") for row in rows]
    assert {claim for _, claim, _ in texts} == {GATES.lower().replace(" ", "")}
    letters = "".join(text.removeprefix("[CLS]") for text, _, _ in texts)
    assert sorted(letters) == sorted(evidence.lower().replace(" ", ""))
    assert all(len(row["input_ids"]) <= judge.model.window for row in rows)


def test_a_claim_that_leaves_no_room_for_evidence_is_reported(made: Callable[..., str]) -> None:
    for judge in (published_judge("nli", made(tiny.save_classifier, NLI)), published_judge("true", made(tiny.save_t5))):
        (verdict,) = judge.judge([Case(f"{GATES} " * 99, (GATES,))])
        assert (verdict.label, verdict.probability, verdict.reason) == (Label.UNSUPPORTED, 0.0, TOO_LONG)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_a_batch_is_judged_like_each_case(made: Callable[..., str], batch_size: int) -> None:
    cases = [*CASES, Case("", (GATES,)), Case(GATES, ()), Case(GATES, (" \n",)), Case("x", ("\ud800",)), *CASES[:2]]
    folders: dict[PublishedName, str] = {"true": made(tiny.save_t5), "nli": made(tiny.save_classifier, NLI)}
    for name, folder in folders.items():
        judge = published_judge(name, folder, precision="float32", batch_size=batch_size)
        together = judge.judge(cases)
        alone = [verdict for case in cases for verdict in judge.judge([case])]
        assert [v.label for v in together] == [v.label for v in alone]
        assert [v.probability for v in together] == pytest.approx([v.probability for v in alone], abs=2e-4)
        assert [v.probability for v in together[5:8]] == [0.0] * 3
        assert together[-2:] == together[:2]
        assert judge.judge([]) == []


def test_threads_get_the_same_verdicts(made: Callable[..., str]) -> None:
    judge = published_judge("nli", made(tiny.save_classifier, NLI), precision="float32")
    alone = judge.judge(CASES)
    with ThreadPoolExecutor(8) as pool:
        assert all(verdicts == alone for verdicts in pool.map(judge.judge, [CASES] * 24))


def test_the_threshold_decides_the_label(made: Callable[..., str]) -> None:
    folder = made(tiny.save_t5)
    (verdict,) = published_judge("true", folder).judge(CASES[:1])
    for threshold in (verdict.probability - 0.01, verdict.probability + 0.01):
        (other,) = published_judge("true", folder, supported_from=threshold).judge(CASES[:1])
        assert (other.label is Label.SUPPORTED) == (threshold < verdict.probability)


@pytest.mark.parametrize(
    ("scores", "label"),
    [
        ([PieceScore(0.9), PieceScore(0.1, True)], Label.SUPPORTED),
        ([PieceScore(0.4), PieceScore(0.1, True)], Label.CONTRADICTED),
        ([PieceScore(0.45, True)], Label.CONTRADICTED),
        ([PieceScore(0.4), PieceScore(0.1)], Label.PARTLY),
    ],
)
def test_the_scores_of_pieces_are_combined(made: Callable[..., str], scores: list[PieceScore], label: Label) -> None:
    judge = published_judge("nli", made(tiny.save_classifier, NLI))
    verdict = judge._verdict([{}] * len(scores), scores)
    assert (verdict.label, verdict.probability) == (label, scores[0].support)


def test_evidence_cannot_end_itself_and_begin_a_claim(made: Callable[..., str]) -> None:
    model = minicheck_t5(made(tiny.save_t5))
    row = model.row("The gates</s> are steel</s>", "spring </s> harbour")["input_ids"]
    assert row.count(1) == 2
    pairs = Classifier(made(tiny.save_classifier, NLI))
    assert pairs.row("the [SEP] gates [CLS]", "steel[SEP]")["input_ids"].count(pairs.tokenizer.sep_token_id) == 2


def test_overflow_raises_and_names_the_setting(made: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    judge = published_judge("true", made(tiny.save_t5))
    monkeypatch.setattr(judge.model, "score", lambda batch: [PieceScore(math.nan)] * len(batch))
    with pytest.raises(AttributionError, match="is not a number: set the precision to float32"):
        judge.judge(CASES)


def test_bfloat16_gives_similar_probabilities(made: Callable[..., str]) -> None:
    folder = made(tiny.save_t5)
    exact, rough = (probabilities(published_judge("true", folder, precision=p)) for p in ("float32", "bfloat16"))
    assert rough == pytest.approx(exact, abs=0.1)


def error_of(name: Any, model: str, **options: Any) -> str:
    with pytest.raises(AttributionError) as failure:
        published_judge(name, model, **options)
    assert "\n" not in str(failure.value)
    return str(failure.value)


@pytest.mark.parametrize("name", ["true", "minicheck", "nli"])
def test_a_folder_without_such_a_model_raises(name: str, tmp_path: Path, made: Callable[..., str]) -> None:
    assert error_of(name, str(tmp_path / "nothing")).startswith(f"there is no folder {tmp_path}")
    (tmp_path / "empty").mkdir()
    assert "empty cannot be loaded: " in error_of(name, str(tmp_path / "empty"))
    save = {"nli": lambda f: tiny.save_classifier(f, NLI)}.get(name, tiny.save_t5)
    (save(tmp_path / "cut") / "model.safetensors").write_bytes(b"\x10\0")
    assert "cut cannot be loaded: " in error_of(name, str(tmp_path / "cut"))
    assert "cannot be loaded: " in error_of(name, made(tiny.save_classifier, NLI), device="nowhere")


def test_a_model_for_another_task_raises(tmp_path: Path, made: Callable[..., str]) -> None:
    classifier, t5 = made(tiny.save_classifier, NLI), made(tiny.save_t5)
    assert "cannot be loaded: " in error_of("true", classifier)
    BertModel.from_pretrained(classifier).save_pretrained(tmp_path / "bare")
    tiny.pair_tokenizer("bert").save_pretrained(tmp_path / "bare")
    assert "is for another task: its weights lack classifier.bias" in error_of("nli", str(tmp_path / "bare"))
    assert "is for another task" in error_of("nli", t5)
    tiny.save_t5(tmp_path / "wordless", with_digits=False)
    assert "cannot write 0 and 1" in error_of("true", str(tmp_path / "wordless"))


def test_a_tokenizer_that_needs_sentencepiece_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.save_t5(tmp_path)
    (tmp_path / "tokenizer.json").rename(tmp_path / "spiece.model")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer"}')
    monkeypatch.setattr("propcite.attribution.checkpoints.find_spec", lambda _: None)
    assert error_of("true", str(tmp_path)).endswith(f"a sentencepiece model: {install_command('judges')}")


def test_a_hub_name_without_a_connection_raises_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("Name or service not known\nTry again")

    monkeypatch.setattr("huggingface_hub.model_info", unreachable)
    started = time.perf_counter()
    for name in ("true", "minicheck", "nli"):
        message = error_of(name, "")
        assert "cannot be fetched from the hub (Name or service not known): check its name" in message
        assert "nobody/nothing" in error_of(name, "nobody/nothing")
    assert time.perf_counter() - started < 5
    assert "there is no folder" in error_of("nli", "not a name!")


def test_invalid_arguments_raise(made: Callable[..., str]) -> None:
    with pytest.raises(ValueError, match="expected batch_size >= 1, got 0"):
        published_judge("true", made(tiny.save_t5), batch_size=0)
