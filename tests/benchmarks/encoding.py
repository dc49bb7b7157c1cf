"""Speed of inference engines for passages on this processor, and whether they rank like the shipped one.

    python -m tests.benchmarks.encoding rank_dev.jsonl.gz [--rows 120] [--rounds 3] [--threads 1] [--texts 16]

The base network encodes passages of some rows of each source, sorted by length, in batches.  The engines take turns, so
that other work on the machine affects all of them alike; the median of the rounds counts.  P@1 is that of sentences for
the base's queries in float32.  ONNX Runtime, OpenVINO and nncf are measured if they are installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.bundled import BASE, bundled_model
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.int8 import compiled_forward
from propcite.retrieval.encoding.trained_networks import load_with_markers
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Passage

WINDOW = 512
Arrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # ids and mask, (b, n)
Engine = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], Any]  # -> states (b, n, d)


def sample(path: Path, rows: int) -> list[dict[str, Any]]:
    """Return so many rows of each source with passages that fit into one window."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["positive_sentence_ids"] and sum(len(s.split()) for s in row["sentences"]) < WINDOW // 2:
                by_source.setdefault(row["source"], []).append(row)
    rng = random.Random(0)
    return [row for group in by_source.values() for row in rng.sample(group, min(len(group), rows))]


def tokenize(passages: Sequence[Passage], tokenizer: Any) -> list[tuple[list[int], npt.NDArray[np.int32]]]:
    """Return each passage's token ids with their offsets in its text."""
    texts = []
    for passage in passages:
        head = f"{passage.title}. " if passage.title else ""
        encoded = tokenizer(head + passage.text, return_offsets_mapping=True, truncation=True, max_length=WINDOW)
        offsets = np.asarray(encoded["offset_mapping"], np.int32) - len(head)
        offsets[(offsets[:, 0] < 0) | (offsets[:, 0] >= offsets[:, 1])] = -1
        texts.append((encoded["input_ids"], offsets))
    return texts


def batches(texts: Sequence[list[int]], size: int) -> list[tuple[list[int], Arrays]]:
    """Return batches of texts of similar length, each with their places."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    result = []
    for at in range(0, len(order), size):
        places = order[at : at + size]
        width = max(len(texts[i]) for i in places)
        ids, mask = np.zeros((len(places), width), np.int64), np.zeros((len(places), width), np.int64)
        for row, i in enumerate(places):
            ids[row, : len(texts[i])], mask[row, : len(texts[i])] = texts[i], 1
        result.append((places, (ids, mask)))
    return result


class States(torch.nn.Module):
    """The network with the signature that exporters need: two tensors in, one out."""

    def __init__(self) -> None:
        super().__init__()
        self.network = load_with_markers(bundled_model()).auto_model.eval()

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states


def by_torch(dtype: torch.dtype) -> Engine:
    network = States().to(dtype)

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Any:
        with torch.inference_mode():
            return network(torch.from_numpy(ids), torch.from_numpy(mask)).float().numpy()

    return run


def by_torch_int8() -> Engine:
    """Return torch's dynamic quantization: weights and inputs of each linear layer in eight bits."""
    from torch.ao import quantization

    network = quantization.quantize_dynamic(States(), {torch.nn.Linear: quantization.per_channel_dynamic_qconfig})

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Any:
        with torch.inference_mode():
            return network(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()

    return run


class TokenLinear(torch.nn.Module):
    """A linear layer in eight bits with one scale per token, so that a text does not depend on its batch."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        scale = linear.weight.abs().amax(1) / 127
        steps = (linear.weight / scale[:, None]).round().to(torch.int8)
        self.weight, self.scale, self.bias = torch.ops.onednn.qlinear_prepack(steps, None), scale, linear.bias
        self.zero = torch.zeros(len(scale), dtype=torch.int32)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        rows = states.reshape(-1, states.shape[-1])
        scale = torch.maximum(rows.amax(1, keepdim=True), rows.amin(1, keepdim=True).neg()).clamp(min=1e-9) / 127
        steps = (rows / scale).add_(128.5).to(torch.uint8)
        output = torch.ops.onednn.qlinear_pointwise(
            steps, 1.0, 128, self.weight, self.scale, self.zero, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return output.mul_(scale).add_(self.bias).reshape(*states.shape[:-1], -1)


def quantize_linear_layers(network: torch.nn.Module) -> None:
    for name, part in network.named_children():
        if isinstance(part, torch.nn.Linear):
            setattr(network, name, TokenLinear(part))
        else:
            quantize_linear_layers(part)


def by_torch_tokens() -> Engine:
    network = States().requires_grad_(False)
    quantize_linear_layers(network.network.encoder)

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Any:
        with torch.inference_mode():
            return network(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()

    return run


def by_onnx(folder: Path, threads: int, *, quantized: bool) -> Engine:
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    path = folder / "model.onnx"
    if not path.exists():
        example = (torch.ones(2, 32, dtype=torch.long), torch.ones(2, 32, dtype=torch.long))
        both = {0: torch.export.Dim("b"), 1: torch.export.Dim("n")}
        torch.onnx.export(
            States(), example, str(path), dynamo=True, verbose=False, external_data=False,
            input_names=["ids", "mask"], dynamic_shapes={"input_ids": both, "attention_mask": both},
        )  # fmt: skip
    if quantized:
        small = folder / "model.int8.onnx"
        quantize_dynamic(path, small, weight_type=QuantType.QInt8, per_channel=True)
        path = small
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [argument.name for argument in session.get_inputs()]
    return lambda ids, mask: session.run(None, dict(zip(names, (ids, mask), strict=True)))[0]


def by_openvino(threads: int, hint: str, calibration: Sequence[Arrays] = ()) -> Engine:
    import openvino

    example = {name: torch.ones(2, 32, dtype=torch.long) for name in ("input_ids", "attention_mask")}
    model = openvino.convert_model(States(), example_input=example)
    if calibration:
        import nncf

        dataset = nncf.Dataset([{"input_ids": ids, "attention_mask": mask} for ids, mask in calibration])
        model = nncf.quantize(model, dataset, model_type=nncf.ModelType.TRANSFORMER, subset_size=len(calibration))
    settings = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": threads}
    compiled = openvino.Core().compile_model(model, "CPU", settings)
    return lambda ids, mask: compiled([ids, mask])[0]


def by_our_int8() -> Engine:
    network = compiled_forward(States().network)

    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> Any:
        return network(torch.from_numpy(ids), torch.from_numpy(mask)).last_hidden_state.numpy()

    return run


def engines(folder: Path, threads: int, calibration: Sequence[Arrays], without: str) -> dict[str, Engine]:
    """Return the engines that are installed; print why another is left out."""
    loaded: dict[str, Engine] = {"torch float32": by_torch(torch.float32)}
    others: dict[str, Callable[[], Engine]] = {
        "torch bfloat16": lambda: by_torch(torch.bfloat16),
        "torch int8 (dynamic)": by_torch_int8,
        "torch int8, a scale a token": by_torch_tokens,
        "OpenVINO int8, a scale a token and 128 numbers": by_our_int8,
        "ONNX Runtime float32": lambda: by_onnx(folder, threads, quantized=False),
        "ONNX Runtime int8 (dynamic)": lambda: by_onnx(folder, threads, quantized=True),
        "OpenVINO float32": lambda: by_openvino(threads, "f32"),
        "OpenVINO bfloat16": lambda: by_openvino(threads, "bf16"),
        "OpenVINO int8, rest float32": lambda: by_openvino(threads, "f32", calibration),
        "OpenVINO int8, rest bfloat16": lambda: by_openvino(threads, "bf16", calibration),
    }
    for name, make in others.items():
        if without and without in name:
            continue
        try:
            loaded[name] = make()
        except Exception as error:  # not installed, or not able to load this network
            print(f"{name} is left out: {type(error).__name__} {str(error).splitlines()[:1]}")
    return loaded


def unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def is_correct(row: dict[str, Any], passage: Passage, tokens: TokenVectors, query: TokenVectors) -> bool:
    """Return whether the best sentence of a row's passage answers its query."""
    similarities = query.vectors @ tokens.vectors.T
    masks = [tokens.within([s.span]) for s in passage.sentences]
    scores = [float(similarities[:, mask].max(axis=1).sum()) if mask.any() else -1.0 for mask in masks]
    return int(np.argmax(scores)) in set(row["positive_sentence_ids"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=120, help="of each source")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--texts", type=int, default=16, help="in one batch")
    parser.add_argument("--without", default="", help="leave out engines whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = sample(options.file, options.rows)
    passages = [passage_from_sentences("", r["sentences"], str(r.get("title") or "")) for r in rows]
    encoder = Encoder(BASE, precision="float32")
    texts = tokenize(passages, encoder._model.tokenizer)
    work = batches([ids for ids, _ in texts], options.texts)
    total = sum(len(ids) for ids, _ in texts)
    queries = encoder.encode_queries([r["query"] for r in rows])
    print(f"{len(rows)} passages, {total} tokens, {options.threads} thread(s), {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        by_name = engines(Path(folder), options.threads, [arrays for _, arrays in work[::3]], options.without)
        for engine in by_name.values():
            engine(*work[0][1])
        times: dict[str, list[float]] = {name: [] for name in by_name}
        states: dict[str, dict[int, npt.NDArray[np.float32]]] = {name: {} for name in by_name}
        for _ in range(options.rounds):
            for name, engine in by_name.items():
                start = time.perf_counter()
                outputs = [(places, engine(*arrays)) for places, arrays in work]
                times[name].append(time.perf_counter() - start)
                states[name] = {
                    i: output[row, : len(texts[i][0])] for places, output in outputs for row, i in enumerate(places)
                }
    report(rows, passages, texts, queries, total, times, states)


def report(
    rows: Sequence[dict[str, Any]],
    passages: Sequence[Passage],
    texts: Sequence[tuple[list[int], npt.NDArray[np.int32]]],
    queries: Sequence[TokenVectors],
    total: int,
    times: dict[str, list[float]],
    states: dict[str, dict[int, npt.NDArray[np.float32]]],
) -> None:
    first = next(iter(times))
    exact = [unit(states[first][i]) for i in range(len(rows))]
    baseline = statistics.median(times[first])
    print(f"\n| engine | tokens/s | to {first} | P@1 | mean cosine | least |\n|---|---:|---:|---:|---:|---:|")
    for name, spent in times.items():
        vectors = [unit(states[name][i].astype(np.float32)) for i in range(len(rows))]
        cosines = np.concatenate([(a * b).sum(axis=1) for a, b in zip(exact, vectors, strict=True)])
        tokens = [TokenVectors(v, offsets) for v, (_, offsets) in zip(vectors, texts, strict=True)]
        hits = [is_correct(*row) for row in zip(rows, passages, tokens, queries, strict=True)]
        median = statistics.median(spent)
        print(
            f"| {name} | {total / median:,.0f} | {baseline / median:.2f} | {100 * np.mean(hits):.1f} "
            f"| {cosines.mean():.4f} | {cosines.min():.4f} |"
        )


if __name__ == "__main__":
    main()
