"""The demo's questions end to end: is the expected fact in the answer, and does it abstain if it should?

python tests/benchmarks/questions.py [--all]     (--all prints every answer, otherwise only wrong ones)
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from propcite.app.demo import DOCUMENTS, QUESTIONS
from propcite.app.ingest.sources import gather
from propcite.app.parts import Parts
from propcite.app.settings import load_settings


def main() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(load_settings(data_dir=Path(folder)))
        demo = parts.library.create_collection("demo")
        list(parts.ingester(demo).ingest(gather([DOCUMENTS])[0]))
        pipeline = parts.pipeline(demo)
        results = defaultdict(list)
        for row in rows:
            answer = pipeline.answer(row["question"])
            hits = [e.lower() in " ".join(answer.text.split()).lower() for e in row["expect"]]
            good = answer.abstained if row["kind"] == "unanswerable" else any(hits) and not answer.abstained
            results[row["kind"]].append(good)
            if "--all" in sys.argv or not good:
                print(f"{'ok ' if good else 'BAD'} {row['kind']}: {row['question']}")
                print(f"      {answer.text}\n      {row['expect']}")
        for kind, good_answers in results.items():
            print(f"{kind:20} {sum(good_answers):>3} of {len(good_answers)}")
        parts.library.close()


if __name__ == "__main__":
    main()
