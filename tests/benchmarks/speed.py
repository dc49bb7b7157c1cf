"""How long answering and its parts take on this machine, with the model loaded.

    python tests/benchmarks/speed.py [--rounds N]

Medians of wall-clock milliseconds; compare them as ratios, since machines differ.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from propcite.app.demo import ANSWERS, DOCUMENTS, QUESTIONS
from propcite.app.ingest.sources import gather
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Granularity


def median_ms(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds

    help_ms = median_ms(
        lambda: subprocess.run([sys.executable, "-m", "propcite", "--help"], capture_output=True), rounds
    )
    print(f"{'propcite --help':44}{help_ms:>10.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(load_settings(data_dir=Path(folder)))
        start = time.perf_counter()
        encoder = parts.encoder
        print(f"{'load the encoder (imports included)':44}{1000 * (time.perf_counter() - start):>10.0f} ms")
        demo = parts.library.create_collection("demo")
        files = gather([DOCUMENTS])[0]
        start = time.perf_counter()
        passages = sum(o.num_passages for o in parts.ingester(demo).ingest(files))
        spent = time.perf_counter() - start
        print(f"{f'ingest the demo, {passages} passages':44}{1000 * spent:>10.0f} ms")
        pipeline = parts.pipeline(demo)
        question = json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])["question"]
        answers = [json.loads(line)["answer"] for line in ANSWERS.read_text("utf-8").splitlines()]
        long = " ".join(span.of(a) for a in answers for span in split_sentences(a))
        long_answer = " ".join(span.of(long).strip() for span in split_sentences(long)[:20])
        ten = [hit.passage for hit in pipeline.search(question, k=10)]
        query = encoder.encode_queries([question])[0]
        for name, work in {
            "encode a question": lambda: encoder.encode_queries([question]),
            "encode ten passages": lambda: encoder.encode_passages(ten),
            "search passages": lambda: pipeline.search(question, k=10),
            "search sentences": lambda: pipeline.search(question, Granularity.SENTENCE, 10),
            "search propositions": lambda: pipeline.search(question, Granularity.PROPOSITION, 10),
            "ask": lambda: pipeline.answer(question),
            f"cite {len(split_sentences(long_answer))} sentences over 10 passages": lambda: parts.propcite.cite(
                long_answer, ten
            ),
            "cite the same over the collection": lambda: pipeline.cite(long_answer),
        }.items():
            print(f"{name:44}{median_ms(work, rounds):>10.1f} ms")
        print(f"question tokens {len(query)}, index {parts.workspace(demo).stats()}")
        parts.library.close()


if __name__ == "__main__":
    main()
