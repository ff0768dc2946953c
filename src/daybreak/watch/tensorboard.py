"""TensorBoard's event files, read and written: scalars only.

A file is a sequence of records: length, its checksum, data, their checksum. The data are an `Event` in the wire format of protocol
buffers. Both formats are short. The package `tensorboard` reads them too, but brings a web server, gRPC and a compiled part for
what is on this page; so it is not needed here.
"""

import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, final

_LARGEST = 2**20  # bytes of a record that may hold scalars; larger ones are pictures and histograms
_MASK = 0xA282EAD8
_NUMBERS = {1: "f", 2: "d", 3: "i", 9: "q", 19: "e"}  # kinds of numbers in a tensor: float, double, int32, int64, half


class Scalar(NamedTuple):
    """A number with its tag at a step."""

    tag: str
    step: int
    value: float


class Damage(NamedTuple):
    """Where a file stops being what was written."""

    byte: int


@cache
def _table() -> tuple[int, ...]:
    """Of the checksum CRC-32C (Castagnoli), byte by byte."""
    rows = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        rows.append(byte)
    return tuple(rows)


def checksum(data: bytes) -> int:
    """The masked CRC-32C of a record.

    Example:
        >>> hex(checksum(b"123456789"))  # of the CRC 0xe3069283
        '0xc78ab0e5'
    """
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF


def scalars(content: bytes) -> Iterator[Scalar | Damage]:
    """The scalars of a file in their order. An incomplete record at the end is being written; damage is reported and ends it."""
    at = 0
    while at + 12 <= len(content):
        head = content[at : at + 8]
        (size,), (of_head,) = struct.unpack("<Q", head), struct.unpack_from("<I", content, at + 8)
        if checksum(head) != of_head:
            yield Damage(at)
            return
        end = at + 12 + size
        if end + 4 > len(content):
            return
        if size <= _LARGEST:
            data = content[at + 12 : end]
            try:
                if checksum(data) != struct.unpack_from("<I", content, end)[0]:
                    raise ValueError
                yield from _event(data)
            except (ValueError, IndexError, struct.error):
                yield Damage(at)
                return
        at = end + 4


def _event(data: bytes) -> list[Scalar]:
    step, found = 0, []
    for number, value in _fields(data):
        if number == 2 and isinstance(value, int):
            step = value - (value >> 63 << 64)  # negative numbers are written as if without a sign
        elif number == 5 and isinstance(value, bytes):
            found += [x for key, one in _fields(value) if key == 1 and isinstance(one, bytes) for x in _value(one)]
    return [Scalar(tag, step, number) for tag, number in found]


def _value(data: bytes) -> list[tuple[str, float]]:
    """Tag and number of a value, if it is a scalar: a plain number, or a tensor with one element."""
    tag, number = "", None
    for key, value in _fields(data):
        if key == 1 and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")
        elif key == 2 and isinstance(value, bytes):
            (number,) = struct.unpack("<f", value)
        elif key == 8 and isinstance(value, bytes):
            number = _tensor(value)
    return [] if number is None else [(tag, number)]


def _tensor(data: bytes) -> float | None:
    """The number in a tensor with one element."""
    kind, content = 0, b""
    for key, value in _fields(data):
        if key == 1 and isinstance(value, int):
            kind = value
        elif isinstance(value, bytes) and key in (4, 5, 6):  # as bytes, floats or doubles
            content = value
        elif isinstance(value, int) and key in (7, 10):  # int32, int64
            return float(value - (value >> 63 << 64))
    form = _NUMBERS.get(kind)
    if form is None or len(content) != struct.calcsize(form):
        return None
    return float(struct.unpack(f"<{form}", content)[0])


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: number and value; of fixed-size numbers the bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                yield key >> 3, value
                continue
            case 1:
                size = 8
            case 2:
                size, at = _varint(data, at)
            case 5:
                size = 4
            case _:
                raise ValueError
        if at + size > len(data):
            raise ValueError
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError


def _number(value: int) -> bytes:
    """A whole number, at least 0, in groups of seven bits."""
    groups = []
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def _part(number: int, content: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(content)) + content


def record(data: bytes) -> bytes:
    """Data as a record of an event file."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", checksum(head)) + data + struct.pack("<I", checksum(data))


def event(values: Iterable[tuple[str, float]], step: int, when: float) -> bytes:
    """An event of scalars."""
    summary = b"".join(
        _part(1, _part(1, tag.encode()) + _number(2 << 3 | 5) + struct.pack("<f", value)) for tag, value in values
    )
    return _number(1 << 3 | 1) + struct.pack("<d", when) + _number(2 << 3) + _number(step) + _part(5, summary)


def header(when: float) -> bytes:
    """The first event of a file: the version of the format."""
    return _number(1 << 3 | 1) + struct.pack("<d", when) + _part(3, b"brain.Event:2")


@final
class EventWriter:
    """A new event file in a folder; each row is in the file when `log` returns."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        # TensorBoard reads the files of a folder in the order of their names, which start with the time.
        name = f"events.out.tfevents.{time.time_ns() // 10**9:010d}.{_host()}.{os.getpid()}.{time.time_ns() % 10**9}"
        self._file = (folder / name).open("xb", buffering=0)
        self._file.write(record(header(time.time())))

    def log(self, values: Mapping[str, float], step: int, when: float | None = None) -> None:
        """Write a row."""
        self._file.write(record(event(values.items(), step, time.time() if when is None else when)))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _host() -> str:
    """The name of this machine, as other writers put it into the name of the file."""
    return socket.gethostname().partition(".")[0] or "host"


def files(path: Path) -> dict[str, list[Path]]:
    """Event files below a folder by the folder that they are in, relative to it; in the order in which they were begun."""
    found: dict[str, list[Path]] = {}
    for file in sorted(path.rglob("*tfevents*")):
        if file.is_file():
            found.setdefault(file.parent.relative_to(path).as_posix(), []).append(file)
    return found
