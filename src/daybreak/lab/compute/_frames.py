"""Messages on a stream, a socket or a file: eight bytes of length, then the message."""

import socket
import struct

_LENGTH = struct.Struct("<Q")


def frame(message: bytes) -> bytes:
    """A message as it stands on a stream."""
    return _LENGTH.pack(len(message)) + message


def send(peer: socket.socket, message: bytes) -> None:
    """Send a message."""
    peer.sendall(_LENGTH.pack(len(message)))
    peer.sendall(message)


def receive(peer: socket.socket) -> bytes:
    """Wait for a message.

    Raises:
        EOFError: if the peer is gone.
    """
    (length,) = _LENGTH.unpack(_exactly(peer, _LENGTH.size))
    return _exactly(peer, length)


def take(buffer: bytearray) -> bytes | None:
    """Take the first message out of the bytes received so far; None if it is not complete yet."""
    if len(buffer) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(buffer)
    end = _LENGTH.size + length
    if len(buffer) < end:
        return None
    message = bytes(memoryview(buffer)[_LENGTH.size : end])
    del buffer[:end]
    return message


def _exactly(peer: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        got = peer.recv_into(view[at:])
        if not got:
            raise EOFError
        at += got
    return bytes(data)
