"""One version of a published index: what its object says, and how it is named."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.manifest import is_plain_name

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Part:
    """One shard, or an index in one piece: the manifest, and of each file the object's name and the bytes."""

    place: str
    manifest: str
    files: dict[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One version of an index."""

    number: int
    is_divided: bool
    parts: tuple[Part, ...]

    @property
    def objects(self) -> dict[str, int]:
        """Return the bytes of each object by name."""
        return {name: size for part in self.parts for name, size in part.files.values()}

    def says_the_same(self, other: IndexVersion | None) -> bool:
        return other is not None and (self.is_divided, self.parts) == (other.is_divided, other.parts)

    def to_json(self, **more: object) -> bytes:
        return json.dumps({"format": FORMAT, **asdict(self), **more}).encode()

    @classmethod
    def from_json(cls, content: bytes) -> IndexVersion:
        """Read a version; raise ValueError if it is damaged or half-written."""
        try:
            fields = json.loads(content)
            if fields["format"] != FORMAT:
                raise IndexFormatError(
                    f"the storage has indexes of format {fields['format']}, this version reads {FORMAT}: update it"
                )
            parts = (
                Part(
                    part["place"],
                    part["manifest"],
                    {file: (name, size) for file, (name, size) in part["files"].items()},
                )
                for part in fields["parts"]
            )
            version = cls(fields["number"], fields["is_divided"], tuple(parts))
            names = [name for part in version.parts for file, (name, _) in part.files.items() for name in (name, file)]
            places = [part.place for part in version.parts if version.is_divided]
            if outside := [name for name in (*names, *places) if not is_plain_name(name)]:
                raise ValueError(f"{outside[0][:100]!r} is not the name of a file of an index")
            return version
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error


def version_object(number: int) -> str:
    """Return the name of a version's object.

    >>> version_object(12), number_of(version_object(12))
    ('versions/000000000012.json', 12)
    """
    return f"versions/{number:012d}.json"


def number_of(name: str) -> int:
    """Return the number of the version that an object is; 0 if it is none."""
    stem = name.rpartition("/")[2].removesuffix(".json")
    return int(stem) if stem.isdigit() else 0
