"""TensorBoard's files: bytes as other programs write them are read, and ours have the same form."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.watch import tensorboard
from daybreak.watch.tensorboard import Damage, EventWriter, Scalar, event, header, record, scalars

# Written by the package tensorboard 2.21.0 (EventFileWriter, which PyTorch uses too): the header, then a loss of 2.5 at step 300.
HEADER = bytes.fromhex(
    "4800000000000000fe92489d0971afc65b61bfda411a0d627261696e2e4576656e743a32522e0a2c74656e736f72626f6172"
    "642e73756d6d6172792e7772697465722e6576656e745f66696c655f777269746572c4438b00"
)
EVENT = bytes.fromhex(
    "2100000000000000017becf60900002040fc54d94110ac022a130a110a0a747261696e2f6c6f737315000020403cf09030"
)


def test_bytes_of_another_writer_are_read_and_written_alike() -> None:
    assert list(scalars(HEADER + EVENT)) == [Scalar("train/loss", 300, 2.5)]
    assert record(event([("train/loss", 2.5)], 300, 1700000000.5)) == EVENT
    ours = record(header(1794999663.0))
    assert ours[21:36] == HEADER[21:36] == b"\x1a\x0dbrain.Event:2"


@pytest.mark.parametrize(
    ("data", "crc"),
    [(b"123456789", 0xE3069283), (b"", 0), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_checksums_are_those_of_the_standard(data: bytes, crc: int) -> None:
    """RFC 3720, B.4; masked as TensorFlow does."""
    assert tensorboard.checksum(data) == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


ROWS = st.lists(
    st.tuples(
        st.integers(0, 2**40), st.dictionaries(st.text(max_size=8), st.floats(width=32, allow_nan=False), max_size=3)
    ),
    max_size=8,
)


@given(ROWS, st.data())
def test_rows_in_are_rows_out_and_of_a_cut_file_the_complete_ones(tmp_path_factory, rows, data) -> None:
    folder = tmp_path_factory.mktemp("board")
    writer = EventWriter(folder)
    (file,) = folder.iterdir()
    ends = []
    for step, values in rows:
        writer.log(values, step)
        ends.append(file.stat().st_size)
    writer.close()
    content = file.read_bytes()
    expected = [[Scalar(tag, step, x) for tag, x in values.items()] for step, values in rows]
    assert list(scalars(content)) == [x for row in expected for x in row]
    cut = data.draw(st.integers(0, len(content)))
    complete = sum(end <= cut for end in ends)
    assert list(scalars(content[:cut])) == [x for row in expected[:complete] for x in row]


@given(st.integers(0, 10**6))
def test_a_changed_bit_is_noticed(place: int) -> None:
    content = record(header(1.0)) + b"".join(record(event([("loss", 0.5 + i)], i, 1.0)) for i in range(3))
    changed = bytearray(content)
    changed[place // 8 % len(content)] ^= 1 << place % 8
    found = list(scalars(bytes(changed)))
    good = [x for x in found if isinstance(x, Scalar)]
    assert good == [Scalar("loss", i, 0.5 + i) for i in range(len(good))]
    assert len(good) < 3, "what follows is not read"
    assert len(found) - len(good) <= 1


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (bytes([0x08, 1, 0x22, 4]) + struct.pack("<f", 0.25), 0.25),
        (bytes([0x08, 1, 0x2A, 4]) + struct.pack("<f", 0.25), 0.25),
        (bytes([0x08, 2, 0x22, 8]) + struct.pack("<d", -3.0), -3.0),
        (bytes([0x08, 9, 0x50, 7]), 7.0),
        (bytes([0x08, 1, 0x22, 8]) + bytes(8), None),
        (bytes([0x08, 7, 0x42, 1, 65]), None),
    ],
    ids=["bytes", "floats", "double", "int64", "two elements", "text"],
)
def test_scalars_as_tensors_are_read(tensor: bytes, value: float | None) -> None:
    """As TensorFlow 2, Keras and Flax write them."""
    one = bytes([0x0A, 4]) + b"loss" + bytes([0x42, len(tensor)]) + tensor
    summary = bytes([0x0A, len(one)]) + one
    data = bytes([0x10, 5, 0x2A, len(summary)]) + summary
    assert list(scalars(record(data))) == ([] if value is None else [Scalar("loss", 5, value)])


def test_large_records_are_passed_over_and_nonsense_ends() -> None:
    picture = record(bytes(2**20 + 1))
    after = record(event([("loss", 1.0)], 1, 0.0))
    assert list(scalars(picture + after)) == [Scalar("loss", 1, 1.0)]
    for nonsense in (b"\xff", b"\x0b", b"\x2a\xff\xff\xff\xff\x0f", b"\x2a\x05\x0a\x09"):
        assert list(scalars(record(nonsense) + after)) == [Damage(0)]


def test_files_of_several_folders_are_told_apart(tmp_path: Path) -> None:
    for name in ("train", "eval/1"):
        writer = EventWriter(tmp_path / name)
        writer.log({"loss": 1.0}, 0)
        writer.close()
    from daybreak.watch.curves import read

    found = read(tmp_path)
    assert sorted(found.columns) == ["eval/1/loss", "train/loss"]
    np.testing.assert_array_equal(found.steps, [0])
    assert [*read(tmp_path / "train").columns] == ["loss"]
