"""Messages: what is decoded is what was encoded, and frames survive being cut anywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.lab.compute._frames import take
from daybreak.lab.compute.messages import (
    Advanced,
    Checkpoint,
    Ended,
    Finished,
    Job,
    RunStatus,
    Started,
    StartedOver,
    decode,
    encode,
)
from daybreak.training import Record
from tests.lab.compute.sweeping import RUNS

SMALL = [
    Started("worker 1"),
    Advanced({"a": RunStatus(1, 0.5, None, 0.1, None), "b": RunStatus(20, 0.01, 1.0, 0.9, 10)}),
    Checkpoint("a", 20, b"\x00\xff"),
    Checkpoint("a", 0, b""),
    StartedOver("a", "it was rubbish"),
    Ended(),
    Ended("Traceback: é"),
]


def test_messages_come_back_as_they_were() -> None:
    job = Job(tuple(RUNS[:3]), {RUNS[1].id: b"\x00" * 10, RUNS[0].id: b"abc"}, 30.0, ("parameters", "maps"))
    for message in (*SMALL, job):
        assert decode(encode(message)) == message


def test_a_record_comes_back_to_the_bit_and_in_order() -> None:
    rng = np.random.default_rng(0)
    curves = {
        "attention": rng.standard_normal((3, 2, 4)).astype(np.float32),
        "clean_loss": np.array([0.5, np.nan, np.inf], np.float32),
        "train_loss": rng.standard_normal(3).astype(np.float32),
    }
    sent = Finished("a", Record(np.array([0, 10, 20]), curves, "diverged"), 1.5, "cpu")
    got = decode(encode(sent))
    assert (got.run, got.seconds, got.device, got.record.outcome) == ("a", 1.5, "cpu", "diverged")
    assert list(got.record.curves) == list(curves)
    np.testing.assert_array_equal(got.record.steps, sent.record.steps)
    for name, curve in curves.items():
        assert got.record.curves[name].tobytes() == curve.tobytes()
        assert got.record.curves[name].shape == curve.shape


@pytest.mark.parametrize("kept", [{}, {"maps": b"\x00m"}, {"parameters": b"", "maps": b"m"}])
@pytest.mark.parametrize("state", [None, b"", b"end"])
def test_files_come_back_with_a_record(kept: dict, state: bytes | None) -> None:
    record = Record(np.array([0]), {"clean_loss": np.zeros(1, np.float32)}, "censored")
    got = decode(encode(Finished("a", record, 1.5, "cpu", kept, state, 0.25)))
    assert (got.kept, got.state) == (kept, state)


@given(st.lists(st.binary(max_size=30), max_size=6), st.integers(1, 20))
def test_frames_survive_being_cut_anywhere(messages: list[bytes], size: int) -> None:
    stream = b"".join(len(x).to_bytes(8, "little") + x for x in messages)
    buffer, got = bytearray(), []
    for at in range(0, len(stream), size):
        buffer += stream[at : at + size]
        while (message := take(buffer)) is not None:
            got.append(message)
    assert got == messages
    assert not buffer
