"""Int8 with OpenVINO: vectors close to float32's, the same best sentence, one-line errors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.bundled import BASE
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.int8 import Int8Reader
from propcite.retrieval.encoding.precision import resolve_precision
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.extras import install_command
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage

TEXTS = [
    "The harbour was dredged in 2019. Its 14 gates weigh 300 tonnes each. The mayor opened it in May, in the rain.",
    "Bees dance to tell where flowers stand. A dance in a circle means that they are near. Drones do not dance.",
    "Tides rise twice a day. " + "The gauge at the pier was read at noon by the keeper's daughter. " * 60,
    "Salt.",
]
QUESTIONS = ["When was the harbour dredged?", "What does a round dance mean?", "Who read the gauge?", "Which mineral?"]


def passages() -> list[Passage]:
    return [passage_from_text(str(number), text, "Notes") for number, text in enumerate(TEXTS)]


def cosines(some: TokenVectors, others: TokenVectors) -> np.ndarray:
    return (some.vectors * others.vectors).sum(axis=1)


@pytest.fixture(scope="module")
def int8() -> Encoder:
    return Encoder(precision="int8")


@pytest.fixture(scope="module")
def float32() -> Encoder:
    return Encoder(precision="float32")


def test_passage_vectors_are_close_to_float32_one_by_one_and_in_batches(int8: Encoder, float32: Encoder) -> None:
    expected = float32.encode_passages(passages())
    for actual in (int8.encode_passages(passages()), [int8.encode_passages([p])[0] for p in passages()]):
        for got, right in zip(actual, expected, strict=True):
            assert got.offsets.tolist() == right.offsets.tolist()
            assert cosines(got, right).mean() > 0.998
            assert cosines(got, right).min() > 0.98
            assert not np.array_equal(got.vectors, right.vectors)  # int8 was really used


@pytest.mark.parametrize("model", ["", BASE])  # with separate networks for queries and passages, and with one for both
def test_queries_stay_float32_before_and_after_passages(model: str) -> None:
    int8, float32 = Encoder(model, precision="int8"), Encoder(model, precision="float32")
    for _ in range(2):
        for got, right in zip(int8.encode_queries(QUESTIONS), float32.encode_queries(QUESTIONS), strict=True):
            assert np.array_equal(got.vectors, right.vectors)
        int8.encode_passages(passages()[:1])


def test_the_best_sentence_is_that_of_float32(int8: Encoder, float32: Encoder) -> None:
    def best(passage: Passage, tokens: TokenVectors, query: TokenVectors) -> int:
        similarities = query.vectors @ tokens.vectors.T
        scores = [similarities[:, tokens.within([s.span])].max(axis=1).sum() for s in passage.sentences]
        return int(np.argmax(scores))

    right = float32.encode_passages(passages())
    narrow = int8.encode_passages(passages())
    for number, query in enumerate(float32.encode_queries(QUESTIONS, Granularity.SENTENCE)):
        passage = passages()[number]
        assert best(passage, narrow[number], query) == best(passage, right[number], query)


def test_threads_that_encode_passages_and_queries_get_what_one_thread_gets(int8: Encoder) -> None:
    alone = [int8.encode_passages([p])[0] for p in passages()]
    queries = int8.encode_queries(QUESTIONS)
    with ThreadPoolExecutor(6) as pool:
        reads = [pool.submit(lambda p=p: int8.encode_passages([p])[0]) for p in passages() * 3]
        asks = [pool.submit(int8.encode_queries, QUESTIONS) for _ in range(6)]
        for number, read in enumerate(reads):
            assert np.array_equal(read.result().vectors, alone[number % len(alone)].vectors)
        for ask in asks:
            assert all(np.array_equal(a.vectors, b.vectors) for a, b in zip(ask.result(), queries, strict=True))


def test_auto_encodes_as_the_precision_that_it_reports() -> None:
    automatic = Encoder()
    assert automatic.precision == resolve_precision("auto", automatic._device.type)
    named = Encoder(precision=automatic.precision)
    for got, right in zip(automatic.encode_passages(passages()), named.encode_passages(passages()), strict=True):
        assert np.array_equal(got.vectors, right.vectors)


CHECKPOINTS: dict[str, Callable[[Path], Path]] = {
    "BERT": lambda folder: tiny.save_native(folder, {"query": "q ", "document": "d "}),
    "ModernBERT": tiny.save_modern,  # local attention over 16 tokens
    "T5": tiny.save_xtr,  # learned relative positions
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_other_checkpoints_can_be_converted_to_int8(tmp_path: Path, kind: str) -> None:
    folder = str(CHECKPOINTS[kind](tmp_path))
    int8, float32 = (Encoder(folder, precision=precision) for precision in ("int8", "float32"))
    short = "the harbour was dredged and the gates weigh more"
    texts = [Passage("short", short), Passage("long", " ".join([short] * 9)), Passage("one", "salt")]
    for got, right in zip(int8.encode_passages(texts), float32.encode_passages(texts), strict=True):
        assert cosines(got, right).mean() > 0.98


def test_without_openvino_the_error_names_the_install_command() -> None:
    script = (
        "import sys; sys.modules['openvino'] = None\n"
        "from propcite.retrieval.encoding.encoder import Encoder\n"
        "from propcite.retrieval.encoding.precision import resolve_precision\n"
        "encoder = Encoder(precision='auto')\n"
        "assert encoder.precision == resolve_precision('auto', encoder._device.type) != 'int8'\n"
        "encoder.encode_queries(['gates'])\n"
        "try: Encoder(precision='int8')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    install = install_command("openvino")
    assert output == f"EncoderError int8 needs OpenVINO: {install}, or set PROPCITE_PRECISION=float32\n"


def test_openvino_sends_no_telemetry() -> None:
    script = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): print('connects to', args); raise OSError\n"
        "socket.getaddrinfo = socket.socket.connect = refuse\n"
        "from propcite.retrieval.encoding.encoder import Encoder\n"
        "from propcite.retrieval.text import Passage\n"
        "Encoder(precision='int8').encode_passages([Passage('p', 'gates')])\n"
        "import openvino.tools.ovc\n"
        "print(type(openvino.tools.ovc.telemetry).__module__, any('openvino_telemetry' in m for m in sys.modules))\n"
    )
    home = {name: value for name, value in os.environ.items() if name != "CI"}  # with CI set it sends nothing anyway
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=home).stdout
    assert output == "openvino.tools.ovc.telemetry_stub False\n"


def test_interrupts_work_after_another_thread_has_destroyed_the_encoder() -> None:
    script = (
        "import gc, signal, threading\n"
        "from propcite.retrieval.encoding.encoder import Encoder\n"
        "from propcite.retrieval.text import Passage\n"
        "encoders = [Encoder(precision='int8')]\n"
        "encoders[0].encode_passages([Passage('p', 'gates')])\n"
        "destroying = threading.Thread(target=lambda: (encoders.clear(), gc.collect()))\n"
        "destroying.start(); destroying.join()\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try: signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output == "interrupted\n"


def test_a_network_that_cannot_be_converted_raises_one_line() -> None:
    encoder = Encoder(BASE, precision="int8")
    network = encoder._model[0].auto_model
    network.config.vocab_size = 10**9  # the comparison draws word ids that the network does not have
    with pytest.raises(EncoderError, match="this network cannot be converted to int8") as error:
        encoder.encode_passages(passages())
    assert "\n" not in str(error.value)
    assert encoder.encode_queries(QUESTIONS)[0].vectors.shape[1] == encoder.dimension


def test_such_a_network_stays_float32_if_int8_is_not_required(
    caplog: pytest.LogCaptureFixture,
) -> None:
    encoder = Encoder(BASE, precision="float32")
    encoder._int8 = Int8Reader(encoder._model, required=False)  # as `auto` does on CPUs where int8 is the fastest
    assert encoder.precision == "int8"
    encoder._model[0].auto_model.config.vocab_size = 10**9
    for _ in range(2):
        (got,) = encoder.encode_passages(passages()[:1])
    assert encoder.precision == "float32"
    assert [record.message.split(":")[0] for record in caplog.records] == ["passages are read in float32"]
    (right,) = Encoder(BASE, precision="float32").encode_passages(passages()[:1])
    assert np.array_equal(got.vectors, right.vectors)
