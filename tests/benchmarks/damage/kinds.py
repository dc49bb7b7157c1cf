"""The kinds of damage: each changes the data directory as a bad disk, hand or program would."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

from propcite.app.settings import DATABASE_FILE
from propcite.retrieval.index.manifest import MANIFEST_FILE

Damage = Callable[[Path, Random], object]
HEAD = 64  # bytes of a segment that say what follows


def database(folder: Path) -> Path:
    for beside in folder.glob(f"{DATABASE_FILE}-*"):
        beside.unlink()
    return folder / DATABASE_FILE


def one_of(folder: Path, pattern: str, random: Random) -> Path:
    return random.choice(sorted(path for path in folder.glob(pattern) if path.is_file()))


def flip(path: Path, random: Random, number: int = 1, first: int = 0, end: int | None = None) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(number):
        content[random.randrange(first, end or len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def cut(path: Path, random: Random) -> None:
    os.truncate(path, random.randrange(1, path.stat().st_size))


def run(folder: Path, statement: str) -> None:
    """Run a statement as a program would that knows no foreign keys."""
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection, connection:
        connection.execute(statement)


def of_database(change: Callable[[Path, Random], object]) -> Damage:
    return lambda folder, random: change(database(folder), random)


def of_file(pattern: str, change: Callable[[Path, Random], object]) -> Damage:
    return lambda folder, random: change(one_of(folder, pattern, random), random)


def gone(path: Path, _: Random) -> None:
    path.unlink()


def emptied(path: Path, _: Random) -> None:
    path.write_bytes(b"")


def statement(words: str) -> Damage:
    return lambda folder, _: run(folder, words)


INDEX, ORIGINALS = "indexes/*", "originals/??/*"
KINDS: Mapping[str, Damage] = {
    "the database is emptied": of_database(emptied),
    "the database is deleted": of_database(gone),
    "the database is cut off": of_database(cut),
    "the database's first page is overwritten": of_database(lambda path, random: flip(path, random, 400, end=100)),
    "3 bits of the database flip": of_database(lambda path, random: flip(path, random, 3)),
    "12 bits of the database flip": of_database(lambda path, random: flip(path, random, 12)),
    "200 bits of the database flip": of_database(lambda path, random: flip(path, random, 200)),
    "passages are deleted from the database": statement(
        "DELETE FROM passages WHERE document_id IN (SELECT id FROM documents LIMIT 1)"
    ),
    "a document is deleted from the database": statement(
        "DELETE FROM documents WHERE id IN (SELECT id FROM documents LIMIT 1)"
    ),
    "a kept answer is no JSON": statement("UPDATE answers SET body = 'x' || body"),
    "a kept answer's counts are wrong": statement("UPDATE answers SET num_facts = num_facts + 3"),
    "the index's folder is deleted": lambda folder, _: shutil.rmtree(next(folder.glob(INDEX))),
    "the manifest is deleted": of_file(f"{INDEX}/{MANIFEST_FILE}", gone),
    "the manifest is emptied": of_file(f"{INDEX}/{MANIFEST_FILE}", emptied),
    "a bit of the manifest flips": of_file(f"{INDEX}/{MANIFEST_FILE}", flip),
    "a segment is deleted": of_file(f"{INDEX}/*.tokens", gone),
    "a segment is cut off": of_file(f"{INDEX}/*.tokens", cut),
    "a bit of a segment's head flips": of_file(f"{INDEX}/*.tokens", lambda path, random: flip(path, random, end=HEAD)),
    "a bit of a segment's vectors flips": of_file(
        f"{INDEX}/*.tokens", lambda path, random: flip(path, random, first=HEAD)
    ),
    "the words of a segment are deleted": of_file(f"{INDEX}/*.words", gone),
    "a bit of the words flips": of_file(f"{INDEX}/*.words", flip),
    "a kept file is altered": of_file(ORIGINALS, flip),
    "a kept file is deleted": of_file(ORIGINALS, gone),
}
