"""What a GPU gives: encoding, the judge and exact search beside the card's own limits.

    python -m tests.benchmarks.gpu [--encoder FOLDER] [--tokens 8388608]

The limits are measured first: a copy in memory, and a product of two matrices of 8,192 rows in bfloat16.  Then come the
networks, in bfloat16 and without tokenizing: pairs per second of the judge, tokens per second of an encoder (by default
the bundled base).  Last is exact search: MaxSim of a query of 32 tokens with all tokens of an index, in 16 or 8 bits.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from propcite.attribution.judges.reader_files import load
from propcite.attribution.reading.pairs import Pair
from propcite.retrieval.text import Span

ROUNDS = 7
DIMENSION, QUERY_TOKENS, PASSAGE_TOKENS = 384, 32, 128
CHUNK = 2**20  # tokens that are compared at once


def seconds(work: Callable[[], object]) -> float:
    """Return the median time of one call on the card, after two that are not counted."""
    work(), work()
    times = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000)
    return float(statistics.median(times))


def limits() -> tuple[float, float]:
    """Return the bytes per second that a copy reads and writes, and the operations per second of a matrix product."""
    source = torch.empty(2**32, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copied = 2 * source.numel() / seconds(lambda: target.copy_(source))
    one, other = (torch.randn(8192, 8192, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    return copied, 2 * 8192**3 / seconds(lambda: one @ other)


def multiplied(network: torch.nn.Module) -> int:
    """Return the weights of a network's layers that each token is multiplied by."""
    return sum(m.weight.numel() for m in network.modules() if isinstance(m, torch.nn.Linear))


def maxsim(vectors: Tensor, query: Tensor) -> Tensor:
    """Return the similarity of each passage: the sum over the query's tokens of the greatest product."""
    parts = []
    for part in torch.split(vectors, CHUNK):
        products = part.to(query.dtype) @ query.T
        parts.append(products.view(-1, PASSAGE_TOKENS, QUERY_TOKENS).amax(1).sum(1))
    return torch.cat(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="")
    parser.add_argument("--tokens", type=int, default=2**23)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("torch sees no GPU: run this where nvidia-smi shows one, with a CUDA build of torch")
    bandwidth, product = limits()
    print(f"{torch.cuda.get_device_name()}: copy {bandwidth / 1e12:.2f} TB/s, product {product / 1e12:.0f} TFLOP/s")
    judge = load(device="cuda", precision="bfloat16").network
    with torch.inference_mode():
        for width in (64, 128, 256):
            for rows in (32, 256):
                half = width // 2
                spans = [Span(i, i + 1) for i in range(half)]
                pairs = [Pair([7] * width, [0] * width, 1, spans) for _ in range(rows)]
                taken = seconds(partial(judge, pairs))
                flops = 2 * multiplied(judge) * rows * width / taken
                share = f"{flops / 1e12:.0f} TFLOP/s, {flops / product:.0%} of the product"
                print(f"judge, {rows} pairs of {width} pieces: {rows / taken:,.0f} pairs/s, {share}")
        encoder = _encoder(args.encoder)
        for rows, width in ((32, 128), (256, 128), (256, 256)):
            ids = torch.full((rows, width), 7, device="cuda")
            taken = seconds(partial(encoder, input_ids=ids, attention_mask=torch.ones_like(ids)))
            flops = 2 * multiplied(encoder) * rows * width / taken
            share = f"{flops / 1e12:.0f} TFLOP/s, {flops / product:.0%} of the product"
            print(f"encoder, {rows} passages of {width} tokens: {rows * width / taken:,.0f} tokens/s, {share}")
        tokens = max(1, args.tokens // CHUNK) * CHUNK
        query = torch.randn(QUERY_TOKENS, DIMENSION, dtype=torch.bfloat16, device="cuda")
        codes = torch.randint(-127, 127, (tokens, DIMENSION), dtype=torch.int8, device="cuda")
        for vectors in (codes.to(torch.bfloat16), codes):
            taken = seconds(partial(maxsim, vectors, query))
            read = vectors.numel() * vectors.element_size() / taken
            bits = 8 * vectors.element_size()
            print(
                f"search, {tokens:,} tokens of {DIMENSION} numbers in {bits} bits: {1000 * taken:.1f} ms, "
                f"{read / 1e12:.2f} TB/s read, {read / bandwidth:.0%} of the copy"
            )


def _encoder(folder: str) -> torch.nn.Module:
    from transformers import AutoModel

    if not folder:
        from propcite.retrieval.encoding.bundled import bundled_model

        folder = bundled_model()
    network: torch.nn.Module = AutoModel.from_pretrained(folder, dtype=torch.bfloat16)
    return network.to("cuda").eval()


if __name__ == "__main__":
    main()
