"""FactCG, HHEM and LettuceDetect on tiny checkpoints in their formats, with the published form written out here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny_judges as tiny
import torch
from tiny_labellers import SAVERS, hhem_network, save_factcg, save_hhem, save_lettucedetect
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case
from propcite.attribution.judges.classifier import FACTCG
from propcite.attribution.judges.entailment import TOO_LONG
from propcite.attribution.judges.published_judges import PublishedName, published_judge
from propcite.attribution.judges.token_labels import HHEM, HHEM_BASE, LETTUCEDETECT

GATES = "The harbour gates are made of steel."
SPRING = "The harbour was dredged in spring."
CASES = [Case(GATES, (GATES,)), Case("The gates are steel.", (SPRING, GATES)), Case("It was dredged.", (SPRING,))]
LONG = " ".join([SPRING] * 400)
ADVICE = "name a checkpoint of this judge, or choose another judge"
NAMES: tuple[PublishedName, ...] = ("factcg", "hhem", "lettucedetect")


def probabilities(name: PublishedName, folder: Path) -> list[float]:
    judge = published_judge(name, str(folder), precision="float32")
    return [verdict.probability for verdict in judge.judge(CASES)]


def test_factcg_reads_its_question_and_the_second_label_is_support(tmp_path: Path) -> None:
    save_factcg(tmp_path)
    network, tokenizer = AutoModelForSequenceClassification.from_pretrained(tmp_path), tiny.pair_tokenizer("deberta")
    slow = []
    for case in CASES:
        question = f'Choose your answer: based on the paragraph above can we conclude that "{case.claim}"?'
        text = f"{case.text}\n\n{question}\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "
        with torch.no_grad():
            slow.append(network(**tokenizer(text, return_tensors="pt")).logits[0].softmax(-1)[1].item())
    assert probabilities("factcg", tmp_path) == pytest.approx(slow, abs=1e-4)
    assert len({round(p, 3) for p in slow}) > 1


def test_factcg_reads_pieces_of_the_published_length(tmp_path: Path) -> None:
    model: Any = published_judge("factcg", str(save_factcg(tmp_path))).model
    assert (model.window, model.max_evidence) == (2048, 715)


def test_hhem_reads_its_prompt_and_the_first_tokens_second_label_is_support(tmp_path: Path) -> None:
    network, tokenizer = hhem_network(), tiny.t5_tokenizer()
    slow = []
    for case in CASES:
        question = "<pad> Determine if the hypothesis is true given the premise?"
        batch = tokenizer(f"{question}\n\nPremise: {case.text}\n\nHypothesis: {case.claim}", return_tensors="pt")
        assert batch["input_ids"][0, 0] == tokenizer.pad_token_id
        with torch.no_grad():
            slow.append(network(**batch).logits[0, 0].softmax(-1)[1].item())
    assert probabilities("hhem", save_hhem(tmp_path)) == pytest.approx(slow, abs=1e-4)
    assert len({round(p, 3) for p in slow}) > 1


def test_lettucedetect_reads_prompt_and_claim_as_a_pair_and_the_most_doubtful_token_decides(tmp_path: Path) -> None:
    save_lettucedetect(tmp_path)
    network, tokenizer = (
        AutoModelForTokenClassification.from_pretrained(tmp_path),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    slow = []
    for case in CASES:
        prompt = f"\nSummarize the following text:\npassage 1: {case.text}\noutput:\n"
        batch = tokenizer(prompt, case.claim, return_tensors="pt")
        first = len(tokenizer(prompt)["input_ids"])
        with torch.no_grad():
            doubts = network(input_ids=batch["input_ids"]).logits[0].softmax(-1)[first:-1, 1]
        assert len(doubts) == len(tokenizer(case.claim, add_special_tokens=False)["input_ids"])
        slow.append(1 - doubts.max().item())
    assert probabilities("lettucedetect", tmp_path) == pytest.approx(slow, abs=1e-4)


@pytest.mark.parametrize("name", ["factcg", "hhem"])
def test_the_favoured_label_decides(name: PublishedName, tmp_path: Path) -> None:
    for label, expected in enumerate((Label.UNSUPPORTED, Label.SUPPORTED)):
        judge = published_judge(name, str(SAVERS[name](tmp_path / str(label), label)))
        assert judge.name == f"{name}/{label}"
        assert {verdict.label for verdict in judge.judge(CASES)} == {expected}


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The gates are steel.", ""),
        ("It opened in Vaduz in spring.", "the source does not say “Vaduz”"),
        ("Vienna paid 9 euros.", "the source says “9”, but not of this"),
        ("It has 9 gates for 99 Viennese.", "the source does not say “99 Viennese”; it says “9”, but not of this"),
        ("The gates are steel;", ""),
    ],
)
def test_lettucedetect_names_the_words_that_it_marks(claim: str, reason: str, tmp_path: Path) -> None:
    judge = published_judge("lettucedetect", str(save_lettucedetect(tmp_path, ["ĠV", "9", ";"])))
    (verdict,) = judge.judge([Case(claim, ("Vienna has 9 gates; they are of steel.",))])
    is_marked = bool(reason) or ";" in claim
    assert (verdict.label, verdict.reason) == (Label.UNSUPPORTED if is_marked else Label.SUPPORTED, reason)
    assert (verdict.probability < 0.1) == is_marked


def test_a_marked_claim_is_unsupported_never_partly(tmp_path: Path) -> None:
    folder = str(save_lettucedetect(tmp_path, ["9"]))
    case = Case("It cost 9 euros.", (GATES,))
    (verdict,) = published_judge("lettucedetect", folder, supported_from=0.01).judge([case])
    assert (verdict.label, verdict.reason) == (Label.SUPPORTED, "")
    (verdict,) = published_judge("lettucedetect", folder, supported_from=verdict.probability + 0.01).judge([case])
    assert (verdict.label, verdict.reason) == (Label.UNSUPPORTED, "the source does not say “9”")


def test_evidence_cannot_end_itself_and_begin_a_claim(tmp_path: Path) -> None:
    ends = {"factcg": "[SEP]", "hhem": "</s>", "lettucedetect": "[SEP]"}
    for name in NAMES:
        model: Any = published_judge(name, str(SAVERS[name](tmp_path / name))).model
        end = model.tokenizer.convert_tokens_to_ids(ends[name])
        plain, spiked = (
            model.row(evidence, "It rained.")["input_ids"] for evidence in ("Gates", f"Gates{ends[name]} steel")
        )
        assert spiked.count(end) == plain.count(end)


def test_reasons_refer_to_the_claim_without_special_tokens(tmp_path: Path) -> None:
    judge = published_judge("lettucedetect", str(save_lettucedetect(tmp_path, ["ĠV"])))
    (verdict,) = judge.judge([Case("[SEP][MASK] It opened in Vienna.", (GATES,))])
    assert verdict.reason == "the source does not say “Vienna”"


@pytest.mark.parametrize("name", NAMES)
def test_long_evidence_is_read_in_pieces_and_a_batch_is_judged_like_each_case(
    name: PublishedName, tmp_path: Path
) -> None:
    judge = published_judge(name, str(SAVERS[name](tmp_path)), precision="float32", batch_size=3)
    cases = [*CASES, Case(GATES, (LONG,)), Case("", (GATES,)), Case(GATES, ()), Case("x", ("\ud800",)), CASES[0]]
    together, alone = judge.judge(cases), [judge.judge([case])[0] for case in cases]
    assert [v.label for v in together] == [v.label for v in alone]
    assert [v.probability for v in together] == pytest.approx([v.probability for v in alone], abs=2e-4)
    assert together[4:6] == [Verdict(Label.UNSUPPORTED, 0.0)] * 2
    (verdict,) = judge.judge([Case(LONG, (GATES,))])
    assert (verdict.label, verdict.reason) == (Label.UNSUPPORTED, TOO_LONG)


def error_of(name: PublishedName, model: str) -> str:
    with pytest.raises(AttributionError) as failure:
        published_judge(name, model)
    assert "\n" not in str(failure.value)
    return str(failure.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_in_another_format_raises_and_names_the_next_step(name: PublishedName, tmp_path: Path) -> None:
    assert error_of(name, str(tmp_path / "nothing")).startswith(f"there is no folder {tmp_path}")
    (tmp_path / "empty").mkdir()
    assert "empty cannot be loaded: " in error_of(name, str(tmp_path / "empty"))
    other = error_of(name, str(tiny.save_t5(tmp_path / "t5")))
    assert "is for another task" in other
    assert "its weights lack " in other
    (SAVERS[name](tmp_path / "cut") / "model.safetensors").write_bytes(b"\x10\0")
    assert "cut cannot be loaded: " in error_of(name, str(tmp_path / "cut"))


@pytest.mark.parametrize("name", ["factcg", "lettucedetect"])
def test_a_checkpoint_with_other_labels_raises(name: PublishedName, tmp_path: Path) -> None:
    folder = SAVERS[name](tmp_path / "three", labels=3)
    assert error_of(name, str(folder)) == f"{folder} has 3 labels, not 2: {ADVICE}"


def test_an_older_hhem_raises(tmp_path: Path) -> None:
    folder = tiny.save_classifier(tmp_path / "hhem1", ["LABEL_0"], "deberta")
    expected = f"the model {folder} is for another task, its weights lack t5.classifier.weight: {ADVICE}"
    assert error_of("hhem", str(folder)) == expected


def test_each_judge_has_its_authors_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr("huggingface_hub.model_info", unreachable)
    for name, model in zip(NAMES, (FACTCG, HHEM, LETTUCEDETECT), strict=True):
        assert error_of(name, "").startswith(f"the model {model} cannot be fetched from the hub")
    bare = str(save_hhem(tmp_path, with_tokenizer=False))
    assert error_of("hhem", bare).endswith(f"or save the tokenizer of {HHEM_BASE} in that of {bare}")
