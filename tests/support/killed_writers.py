"""Kills a process that changes an index, at random moments, and each time looks at what it left behind.

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
from index_files import files_in, files_named
from small_passages import unit_item

from propcite.retrieval.index.checking import check_index
from propcite.retrieval.index.manifest import FILE
from propcite.retrieval.index.token_index import TokenIndex

OPTIONS = [{"bits": 16}, {"bits": 8, "exact_up_to": 0}]
if find_spec("faiss"):
    OPTIONS.append({"bits": 4, "exact_up_to": 0, "regime": "faiss"})
NEAR = {16: 1e-3, 8: 0.02, 4: 0.4}  # of a unit vector; vectors of different seeds lie 1.4 apart
KILLS_A_FOLDER = 4  # then a new one, so that centroids are trained again and again
LONGEST = 0.25  # seconds until a kill
MEAN = np.full((1, 5), 0.2, np.float32)
Held = dict[str, int]  # the seed of each passage's vectors


def opened(folder: Path, options: dict) -> TokenIndex:
    there = (folder / FILE).exists()
    return TokenIndex.load(folder, "made-up", **options) if there else TokenIndex(8, "made-up", **options)


def change(index: TokenIndex, held: Held, random: Random) -> None:
    """Add, delete or update some passages, in the index and in what it must hold."""
    what = random.choice(["add", "add", "update", "delete"] if len(held) < 60 else ["update", "delete"])
    if what == "delete":
        gone = random.sample(sorted(held), min(len(held), random.randint(1, 8)))
        index.delete(gone)
        for i in gone:
            del held[i]
        return
    some = [f"p{random.randint(0, 99)}" for _ in range(random.randint(1, 6))]
    seeds = {i: random.randrange(1 << 30) for i in some if what == "update" or i not in held}
    made = [unit_item(i, seed) for i, seed in seeds.items()]
    (index.update if what == "update" else index.add)([m.passage for m in made], [m.tokens for m in made])
    held |= seeds


def write_for_ever(folder: Path, held: Held, journal: int, options: dict, random: Random) -> None:
    """Change and save without end; the journal is told what is about to be saved, and when it is."""
    index = opened(folder, options)
    while True:
        for _ in range(random.randint(1, 3)):
            change(index, held, random)
            if random.random() < 0.2:
                index.stage(folder)
        tell(journal, "saving", held)
        (index.compact if random.random() < 0.2 else index.save)(folder)
        tell(journal, "saved", held)


def tell(journal: int, what: str, held: Held) -> None:
    """One write, which outlives the process once it returns; one that is killed in it may leave a piece of a line."""
    os.write(journal, json.dumps([what, held]).encode() + b"\n")


def kill_a_writer(folder: Path, journal: Path, held: Held, options: dict, random: Random) -> None:
    seed, delay = random.random(), random.uniform(0, LONGEST)
    child = os.fork()
    if not child:
        told = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            write_for_ever(folder, held, told, options, Random(seed))
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, "the writer failed by itself"


def told(journal: Path, before: Held) -> tuple[Held, Held, bool]:
    """-> what was saved last, what was being saved or else the same, whether it was"""
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    saved, what = before, ""
    for what, held in map(json.loads, lines):
        if what == "saved":
            saved = held
    return saved, held if what == "saving" else saved, what == "saving"


def holds(index: TokenIndex, held: Held) -> bool:
    """Whether these are the passages, with their vectors, and each is found by them."""
    near = NEAR[index.codec.bits]
    if index.ids() != set(held):
        return False
    for i, seed in held.items():
        wanted, tokens = unit_item(i, seed).tokens, index.vectors(i)
        if not np.array_equal(tokens.offsets, wanted.offsets):
            return False
        if np.linalg.norm(tokens.vectors - wanted.vectors, axis=1).max() > near:
            return False
        assert index.search(wanted.vectors, MEAN, k=1)[0][0].passage_id == i
    return True


def check(folder: Path, saved: Held, saving: Held, options: dict, counts: Counter) -> Held:
    """-> what the index holds after a kill; the next save works and leaves no file that the manifest does not name"""
    if not (folder / FILE).exists():
        assert not saved, "the manifest is gone"
        counts["nothing saved yet"] += 1
    else:
        assert check_index(folder) == []
    index = opened(folder, options)
    held = next((state for state in (saved, saving) if holds(index, state)), None)
    assert held is not None, f"{sorted(index.ids())} is neither {sorted(saved)} nor {sorted(saving)}"
    counts["new" if held is saving and saving is not saved else "old"] += 1
    counts[index.stats().regime] += 1
    known = files_named(folder) if (folder / FILE).exists() else {"index.lock"}
    counts["with files left over"] += bool(files_in(folder) - known)
    index.save(folder)
    assert files_in(folder) <= files_named(folder)
    assert check_index(folder) == []
    return held


def main(folder: Path, kills: int) -> None:
    torch.set_num_threads(1)  # a fork copies no thread
    random, counts = Random(4), Counter()
    for options in OPTIONS:  # whatever is imported late is there before the first fork
        kill_nothing(folder / f"warm-{options['bits']}", options)
    held: Held = {}
    for number in range(kills):
        place = folder / str(number // KILLS_A_FOLDER)
        if number % KILLS_A_FOLDER == 0:
            place.mkdir()
            held = {}
        options = OPTIONS[number // KILLS_A_FOLDER % len(OPTIONS)]
        journal = folder / f"journal-{number}"
        kill_a_writer(place, journal, dict(held), options, random)
        saved, saving, in_save = told(journal, held)
        counts["while saving"] += in_save
        counts["saves"] += (
            sum('"saved"' in line for line in journal.read_text().splitlines()) if journal.exists() else 0
        )
        held = check(place, saved, saving, options, counts)
    counts["kills"] = kills
    (folder / "counts.json").write_text(json.dumps(counts))


def kill_nothing(folder: Path, options: dict) -> None:
    index, held, random = opened(folder, options), {}, Random(1)
    for _ in range(6):
        change(index, held, random)
    index.save(folder)
    assert holds(opened(folder, options), held)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
