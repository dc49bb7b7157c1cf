"""Passages read in eight bits by OpenVINO: nearly float32's vectors, the same best sentence, one line where not."""

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
from propcite.retrieval.encoding.checkpoints import BASE
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.int8 import EightBits
from propcite.retrieval.encoding.precision import chosen
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage

TEXTS = [
    "The harbour was dredged in 2019. Its 14 gates weigh 300 tonnes each. The mayor opened it in May, in the rain.",
    "Bees dance to tell where flowers stand. A dance in a circle means that they are near. Drones do not dance.",
    "Tides rise twice a day. " + "The gauge at the pier was read at noon by the keeper's daughter. " * 60,
    "Salt.",
]
ASKED = ["When was the harbour dredged?", "What does a round dance mean?", "Who read the gauge?", "Which mineral?"]


def passages() -> list[Passage]:
    return [passage_from_text(str(number), text, "Notes") for number, text in enumerate(TEXTS)]


def cosines(some: TokenVectors, others: TokenVectors) -> np.ndarray:
    return (some.vectors * others.vectors).sum(axis=1)


@pytest.fixture(scope="module")
def eight() -> Encoder:
    return Encoder(precision="int8")


@pytest.fixture(scope="module")
def whole() -> Encoder:
    return Encoder(precision="float32")


def test_passages_have_nearly_the_vectors_of_float32_alone_and_together(eight: Encoder, whole: Encoder) -> None:
    wanted = whole.encode_passages(passages())
    for found in (eight.encode_passages(passages()), [eight.encode_passages([p])[0] for p in passages()]):
        for got, right in zip(found, wanted, strict=True):
            assert got.offsets.tolist() == right.offsets.tolist()
            assert cosines(got, right).mean() > 0.998
            assert cosines(got, right).min() > 0.98
            assert not np.array_equal(got.vectors, right.vectors)  # eight bits were used indeed


@pytest.mark.parametrize("model", ["", BASE])  # with a network of its own for queries, and with one for both
def test_questions_are_read_in_float32_before_and_after_passages(model: str) -> None:
    eight, whole = Encoder(model, precision="int8"), Encoder(model, precision="float32")
    for _ in range(2):
        for got, right in zip(eight.encode_queries(ASKED), whole.encode_queries(ASKED), strict=True):
            assert np.array_equal(got.vectors, right.vectors)
        eight.encode_passages(passages()[:1])


def test_the_same_sentence_answers(eight: Encoder, whole: Encoder) -> None:
    def best(passage: Passage, tokens: TokenVectors, query: TokenVectors) -> int:
        similarities = query.vectors @ tokens.vectors.T
        scores = [similarities[:, tokens.within([s.span])].max(axis=1).sum() for s in passage.sentences]
        return int(np.argmax(scores))

    right = whole.encode_passages(passages())
    found = eight.encode_passages(passages())
    for number, query in enumerate(whole.encode_queries(ASKED, Granularity.SENTENCE)):
        passage = passages()[number]
        assert best(passage, found[number], query) == best(passage, right[number], query)


def test_threads_that_read_passages_and_questions_get_what_one_gets(eight: Encoder) -> None:
    alone = [eight.encode_passages([p])[0] for p in passages()]
    asked = eight.encode_queries(ASKED)
    with ThreadPoolExecutor(6) as pool:
        reads = [pool.submit(lambda p=p: eight.encode_passages([p])[0]) for p in passages() * 3]
        asks = [pool.submit(eight.encode_queries, ASKED) for _ in range(6)]
        for number, read in enumerate(reads):
            assert np.array_equal(read.result().vectors, alone[number % len(alone)].vectors)
        for ask in asks:
            assert all(np.array_equal(a.vectors, b.vectors) for a, b in zip(ask.result(), asked, strict=True))


def test_passages_are_read_in_the_precision_that_the_encoder_names() -> None:
    automatic = Encoder()
    assert automatic.precision == chosen("auto", automatic._device.type)
    named = Encoder(precision=automatic.precision)
    for got, right in zip(automatic.encode_passages(passages()), named.encode_passages(passages()), strict=True):
        assert np.array_equal(got.vectors, right.vectors)


CHECKPOINTS: dict[str, Callable[[Path], Path]] = {
    "BERT": lambda folder: tiny.save_native(folder, {"query": "q ", "document": "d "}),
    "ModernBERT": tiny.save_modern,  # its layers look 16 tokens far
    "T5": tiny.save_xtr,  # where tokens lie to each other is learned
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_other_checkpoints_are_read_in_eight_bits_too(tmp_path: Path, kind: str) -> None:
    folder = str(CHECKPOINTS[kind](tmp_path))
    eight, whole = (Encoder(folder, precision=precision) for precision in ("int8", "float32"))
    short = "the harbour was dredged and the gates weigh more"
    texts = [Passage("short", short), Passage("long", " ".join([short] * 9)), Passage("one", "salt")]
    for got, right in zip(eight.encode_passages(texts), whole.encode_passages(texts), strict=True):
        assert cosines(got, right).mean() > 0.98


def test_without_openvino_one_line_names_what_to_install() -> None:
    script = (
        "import sys; sys.modules['openvino'] = None\n"
        "from propcite.retrieval.encoding.encoder import Encoder\n"
        "from propcite.retrieval.encoding.precision import chosen\n"
        "encoder = Encoder(precision='auto')\n"
        "assert encoder.precision == chosen('auto', encoder._device.type) != 'int8'\n"
        "encoder.encode_queries(['gates'])\n"
        "try: Encoder(precision='int8')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == (
        "EncoderError eight bits need OpenVINO: pip install 'propcite[openvino]', or give PROPCITE_PRECISION=float32\n"
    )


def test_nothing_is_told_to_anybody() -> None:
    script = (
        "import socket, sys\n"
        "def refuse(*given, **named): print('asked for', given); raise OSError\n"
        "socket.getaddrinfo = socket.socket.connect = refuse\n"
        "from propcite.retrieval.encoding.encoder import Encoder\n"
        "from propcite.retrieval.text import Passage\n"
        "Encoder(precision='int8').encode_passages([Passage('p', 'gates')])\n"
        "import openvino.tools.ovc\n"
        "print(type(openvino.tools.ovc.telemetry).__module__, any('openvino_telemetry' in m for m in sys.modules))\n"
    )
    home = {name: value for name, value in os.environ.items() if name != "CI"}  # where it would be silent anyway
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=home).stdout
    assert told == "openvino.tools.ovc.telemetry_stub False\n"


def test_an_encoder_given_up_by_another_thread_leaves_interrupts_heard() -> None:
    script = (
        "import gc, signal, threading\n"
        "from propcite.retrieval.encoding.encoder import Encoder\n"
        "from propcite.retrieval.text import Passage\n"
        "held = [Encoder(precision='int8')]\n"
        "held[0].encode_passages([Passage('p', 'gates')])\n"
        "giving_up = threading.Thread(target=lambda: (held.clear(), gc.collect()))\n"
        "giving_up.start(); giving_up.join()\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try: signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt: print('heard')\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told == "heard\n"


def test_a_network_that_cannot_be_computed_so_is_one_line() -> None:
    encoder = Encoder(BASE, precision="int8")
    network = encoder._model[0].auto_model
    network.config.vocab_size = 10**9  # the trial reads words that the network does not have
    with pytest.raises(EncoderError, match="this network cannot be read in eight bits") as error:
        encoder.encode_passages(passages())
    assert "\n" not in str(error.value)
    assert encoder.encode_queries(ASKED)[0].vectors.shape[1] == encoder.dimension


def test_where_eight_bits_were_not_asked_for_such_a_network_is_read_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    encoder = Encoder(BASE, precision="float32")
    encoder._eight_bits = EightBits(encoder._model, wanted=False)  # as `auto` does where they are the fastest
    assert encoder.precision == "int8"
    encoder._model[0].auto_model.config.vocab_size = 10**9
    for _ in range(2):
        (got,) = encoder.encode_passages(passages()[:1])
    assert encoder.precision == "float32"
    assert [record.message.split(":")[0] for record in caplog.records] == ["passages are read in float32"]
    (right,) = Encoder(BASE, precision="float32").encode_passages(passages()[:1])
    assert np.array_equal(got.vectors, right.vectors)
