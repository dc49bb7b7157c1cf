"""Other citing systems, behind PropCite's lines of JSON: each cites the passages of an answer's sentences.

    pip install cite-right==0.4.0 anchorcite==0.1.0
    propcite eval cite asqa_dev.json.gz --method propositions --method bm25 \
        --method "command=python tests/benchmarks/peers.py cite-right"

`cite-right` aligns words, `cite-right-minilm` also finds candidates by all-MiniLM-L6-v2, `anchorcite` is that package
without its models.  Each cites the one passage it is surest of, or none.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence

Cite = Callable[[str, Sequence[str]], int | None]  # a sentence and passages: the place of the one that it cites


def cite_right(with_embedder: bool) -> Cite:
    from cite_right import CitationConfig, SourceDocument, align_citations

    options = {}
    if with_embedder:
        from cite_right.models.sbert_embedder import SentenceTransformerEmbedder

        from propcite.retrieval.encoding.bundled import bundled_model

        options["embedder"] = SentenceTransformerEmbedder(str(bundled_model()))

    def cite(sentence: str, passages: Sequence[str]) -> int | None:
        sources = [SourceDocument(id=str(place), text=text) for place, text in enumerate(passages)]
        spans = align_citations(sentence, sources, config=CitationConfig(top_k=1), **options)
        found = [citation for span in spans for citation in span.citations]
        return max(found, key=lambda one: one.score).source_index if found else None

    return cite


def anchorcite() -> Cite:
    os.environ["HF_HUB_OFFLINE"] = "1"  # else it asks for its models at every claim
    from anchorcite import anchor_claim

    def cite(sentence: str, passages: Sequence[str]) -> int | None:
        anchors = [(anchor_claim(sentence, text), place) for place, text in enumerate(passages)]
        found = [(anchor.score, -place) for anchor, place in anchors if anchor]
        return -max(found)[1] if found else None

    return cite


SYSTEMS: dict[str, Callable[[], Cite]] = {
    "cite-right": lambda: cite_right(with_embedder=False),
    "cite-right-minilm": lambda: cite_right(with_embedder=True),
    "anchorcite": anchorcite,
}


def main(name: str) -> None:
    cite = SYSTEMS[name]()
    for line in sys.stdin:
        answer = json.loads(line)
        passages = [f"{p['title']}. {p['text']}" if p["title"] else p["text"] for p in answer["passages"]]
        cited = [cite(sentence, passages) for sentence in answer["sentences"]]
        citations = [[] if place is None else [place + 1] for place in cited]
        print(json.dumps({"id": answer["id"], "citations": citations}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
