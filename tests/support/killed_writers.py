"""Kills a process that changes an index, at random moments, and checks each time what it left behind.

Run by test_index_kills.py in a process of its own, because it forks: python killed_writers.py FOLDER KILLS
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import torch
from index_files import files_in, possible_files
from small_passages import random_passage

from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex

OPTIONS = [{"bits": 16}, {"bits": 8, "exact_up_to": 0}]
if find_spec("faiss"):
    OPTIONS.append({"bits": 4, "exact_up_to": 0, "regime": "faiss"})
NEAR = {16: 1e-3, 8: 0.02, 4: 0.4}  # of a unit vector; vectors of different seeds lie 1.4 apart
KILLS_A_FOLDER = 4  # then a new one, so that centroids are trained many times
LONGEST = 0.25  # seconds until a kill
MEAN = np.full((1, 5), 0.2, np.float32)
Contents = dict[str, int]  # the seed of each passage's vectors, by id


def open_index(folder: Path, options: dict) -> TokenIndex:
    there = (folder / MANIFEST_FILE).exists()
    return TokenIndex.load(folder, "made-up", **options) if there else TokenIndex(8, "made-up", **options)


def change(index: TokenIndex, contents: Contents, random: Random) -> None:
    """Add, delete or update some passages, in the index and in the expected contents."""
    action = random.choice(["add", "add", "update", "delete"] if len(contents) < 60 else ["update", "delete"])
    if action == "delete":
        gone = random.sample(sorted(contents), min(len(contents), random.randint(1, 8)))
        index.delete(gone)
        for i in gone:
            del contents[i]
        return
    some = [f"p{random.randint(0, 99)}" for _ in range(random.randint(1, 6))]
    seeds = {i: random.randrange(1 << 30) for i in some if action == "update" or i not in contents}
    samples = [random_passage(i, seed) for i, seed in seeds.items()]
    (index.update if action == "update" else index.add)([m.passage for m in samples], [m.tokens for m in samples])
    contents |= seeds


def write_forever(folder: Path, contents: Contents, journal: int, options: dict, random: Random) -> None:
    """Change and save without end; the journal records the contents before each save and after it."""
    index = open_index(folder, options)
    while True:
        for _ in range(random.randint(1, 3)):
            change(index, contents, random)
            if random.random() < 0.2:
                index.stage(folder)
        write_journal(journal, "saving", contents)
        (index.compact if random.random() < 0.2 else index.save)(folder)
        write_journal(journal, "saved", contents)


def write_journal(journal: int, action: str, contents: Contents) -> None:
    """Write a line in one call: it survives a later kill, and a kill during the call leaves part of a line."""
    os.write(journal, json.dumps([action, contents]).encode() + b"\n")


def kill_a_writer(folder: Path, journal: Path, contents: Contents, options: dict, random: Random) -> None:
    seed, delay = random.random(), random.uniform(0, LONGEST)
    child = os.fork()
    if not child:
        descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            write_forever(folder, contents, descriptor, options, Random(seed))
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, "the writer failed by itself"


def read_journal(journal: Path, before: Contents) -> tuple[Contents, Contents, bool]:
    """Return the contents saved last, those being saved (or the same), and whether a save was going on."""
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    saved, action = before, ""
    for action, contents in map(json.loads, lines):
        if action == "saved":
            saved = contents
    return saved, contents if action == "saving" else saved, action == "saving"


def holds(index: TokenIndex, contents: Contents) -> bool:
    """Return whether the index has exactly these passages and vectors; assert that each is found by its vectors."""
    near = NEAR[index.codec.bits]
    if index.ids() != set(contents):
        return False
    for i, seed in contents.items():
        expected, tokens = random_passage(i, seed).tokens, index.vectors(i)
        if not np.array_equal(tokens.offsets, expected.offsets):
            return False
        if np.linalg.norm(tokens.vectors - expected.vectors, axis=1).max() > near:
            return False
        assert index.search(expected.vectors, MEAN, k=1)[0][0].passage_id == i
    return True


def check(folder: Path, saved: Contents, saving: Contents, options: dict, counts: Counter) -> Contents:
    """Return the contents after a kill; assert that the next save works and leaves only files of the manifest."""
    if not (folder / MANIFEST_FILE).exists():
        assert not saved, "the manifest is gone"
        counts["nothing saved yet"] += 1
    else:
        assert check_index(folder) == []
    index = open_index(folder, options)
    contents = next((state for state in (saved, saving) if holds(index, state)), None)
    assert contents is not None, f"{sorted(index.ids())} is neither {sorted(saved)} nor {sorted(saving)}"
    counts["new" if contents is saving and saving is not saved else "old"] += 1
    counts[index.stats().regime] += 1
    expected_files = possible_files(folder) if (folder / MANIFEST_FILE).exists() else {"index.lock"}
    counts["with files left over"] += bool(files_in(folder) - expected_files)
    index.save(folder)
    assert files_in(folder) <= possible_files(folder)
    assert check_index(folder) == []
    return contents


def main(folder: Path, kills: int) -> None:
    torch.set_num_threads(1)  # a fork copies no thread
    random, counts = Random(4), Counter()
    for options in OPTIONS:  # so that late imports happen before the first fork
        change_without_kill(folder / f"warm-{options['bits']}", options)
    contents: Contents = {}
    for number in range(kills):
        place = folder / str(number // KILLS_A_FOLDER)
        if number % KILLS_A_FOLDER == 0:
            place.mkdir()
            contents = {}
        options = OPTIONS[number // KILLS_A_FOLDER % len(OPTIONS)]
        journal = folder / f"journal-{number}"
        kill_a_writer(place, journal, dict(contents), options, random)
        saved, saving, in_save = read_journal(journal, contents)
        counts["while saving"] += in_save
        counts["saves"] += (
            sum('"saved"' in line for line in journal.read_text().splitlines()) if journal.exists() else 0
        )
        contents = check(place, saved, saving, options, counts)
    counts["kills"] = kills
    (folder / "counts.json").write_text(json.dumps(counts))


def change_without_kill(folder: Path, options: dict) -> None:
    index, contents, random = open_index(folder, options), {}, Random(1)
    for _ in range(6):
        change(index, contents, random)
    index.save(folder)
    assert holds(open_index(folder, options), contents)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
