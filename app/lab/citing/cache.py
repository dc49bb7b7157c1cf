"""One PropCite with caches for all ways of citing that are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from propcite.app.parts import Parts
from propcite.attribution.citations import Proposition
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions import Splitter
from propcite.retrieval.encoding.cache import MAX_TOKENS


@dataclass(slots=True)
class CachedSplitter:
    """A splitter that splits each sentence once."""

    splitter: Splitter
    cache: dict[tuple[str, tuple[str, ...]], list[Proposition]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.splitter.name

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        keys = [(sentence, tuple(context)) for sentence, context in zip(sentences, contexts, strict=True)]
        new = [key for key in dict.fromkeys(keys) if key not in self.cache]
        propositions = self.splitter.split_many([sentence for sentence, _ in new], [context for _, context in new])
        self.cache.update(zip(new, propositions, strict=True))
        return [self.cache[key] for key in keys]


def shared_propcite(parts: Parts, max_tokens: int = MAX_TOKENS) -> PropCite:
    """Return the parts with caches, so that no way encodes, splits or judges again what another has."""
    return PropCite(parts.encoder, splitter=CachedSplitter(parts.splitter), judge=parts.judge).cached(max_tokens)
