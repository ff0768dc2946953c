"""Texts as arrays of tokens: the one that comes with the package, and files of one's own by the digest of their contents.

A text is in memory once for a process, whatever number of tasks and members of cohorts use it: a task stores only its name.
"""

import hashlib
import lzma
import os
import re
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from daybreak.errors import RequestError
from daybreak.tasks import _bpe


class Size(NamedTuple):
    """How large a text is: tokens, and different ones."""

    tokens: int
    words: int


SHIPPED = {"classics": 1000}
"""Texts that come with the package, and the size of their vocabularies: it can be made smaller."""
FEWEST = 100
"""Tokens of the smallest vocabulary of a shipped text; all its characters are among them."""
SIZES = {("classics", 1000): Size(3_509_727, 997)}
"""How large these are: known without reading them, which takes longer than a command may take to show its help."""
MOST_BYTES = 200_000_000
_WORTH_KEEPING = (
    100_000  # bytes of a file whose tokens go to the cache; those of a shorter one are made in less than a second
)
_DIGEST = re.compile(r"[0-9a-f]{16}")
_16_BITS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 1, "pb": 1}]  # a tenth smaller than without the hint


@final
@dataclass(frozen=True)
class Corpus:
    """A text as tokens.

    Args:
        tokens: the whole text, in its order.
        words: the bytes that each token stands for; every one of them occurs.
    """

    tokens: NDArray[np.uint16]
    words: tuple[bytes, ...]

    def decode(self, tokens: Any) -> str:
        """The text of some tokens. Parts of a character at their ends are shown as �.

        Example:
            >>> Corpus(np.array([1, 0], np.uint16), (b"light", b"day")).decode([1, 0])
            'daylight'
        """
        return b"".join(self.words[i] for i in np.asarray(tokens).tolist()).decode(errors="replace")


_KNOWN: dict[tuple[str, int], Corpus] = {}  # by name and vocabulary
_TEXTS: dict[str, tuple[str, bytes]] = {}  # path and content of files that were read by this process, by name


def name_of(text: Any) -> Any:
    """The name of a text: that of a shipped one, or the digest of a file's contents, which is read.

    Raises:
        RequestError: the file cannot be read, or is not text.
    """
    if (
        not isinstance(text, str | Path)
        or text in SHIPPED
        or (_DIGEST.fullmatch(str(text)) and not Path(text).exists())
    ):
        return text
    content = _read(str(text))
    name = hashlib.sha256(content).hexdigest()[:16]
    _TEXTS[name] = str(text), content
    return name


def file_of(name: str) -> str:
    """The file that a name was made of by this process, for messages; else the name."""
    return _TEXTS[name][0] if name in _TEXTS else name


def corpus(name: str, vocabulary: int) -> Corpus:
    """The tokens of a text: from memory, from the package, from the user's cache, or made from a file that was read.

    Raises:
        RequestError: it is a file of somebody's own that is not known here.
    """
    found = find(name, vocabulary)
    if found is None:
        raise RequestError(
            f"text = {name!r} is not on this machine: it is the digest of a file, so name the file again, as in --task.text my.txt."
        )
    return found


def find(name: str, vocabulary: int) -> Corpus | None:
    """The same; None for a file that is not known here."""
    key = (name, vocabulary)
    if key not in _KNOWN:
        made = _shipped(name, vocabulary) if name in SHIPPED else _cached(name, vocabulary) or _made(name, vocabulary)
        if made is None:
            return None
        _KNOWN[key] = made
    return _KNOWN[key]


def size(name: str, vocabulary: int) -> Size | None:
    """How large a text is; None for a file that is not known here."""
    if (name, vocabulary) in SIZES:
        return SIZES[name, vocabulary]
    found = find(name, vocabulary)
    return None if found is None else Size(found.tokens.size, len(found.words))


def define(name: str, vocabulary: int, data: bytes) -> None:
    """Add a text that came with a job."""
    _KNOWN.setdefault((name, vocabulary), unpack(data))


def add(tokens: Any, words: tuple[bytes, ...] | None = None) -> tuple[str, int]:
    """Add tokens that somebody has made: whole numbers from 0 on. The name and vocabulary to make a task with.

    Example:
        >>> name, vocabulary = add([0, 1, 2, 1] * 10)
        >>> name, vocabulary
        ('43e01109b6783e60', 3)
    """
    given = np.asarray(tokens)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer) or not given.size:
        raise RequestError("tokens must be a list of whole numbers.")
    if given.min() < 0 or given.max() > np.iinfo(np.uint16).max:
        raise RequestError(f"tokens from {given.min()} to {given.max()} are not allowed: they must lie in 0 to 65 535.")
    plain = given.astype("<u2")
    name = hashlib.sha256(plain.tobytes()).hexdigest()[:16]
    size = int(plain.max()) + 1
    _KNOWN[name, size] = Corpus(plain, words or tuple(f"<{i}>".encode() for i in range(size)))
    return name, size


def pack(text: Corpus, *, small: bool = False) -> bytes:
    """Tokens and words as bytes, compressed; `small` takes longer."""
    words = np.frombuffer(b"".join(text.words), np.uint8)
    ends = np.cumsum([len(word) for word in text.words], dtype=np.uint32)
    plain = save({"tokens": text.tokens, "words": words, "ends": ends})
    return lzma.compress(plain, filters=_16_BITS) if small else lzma.compress(plain, preset=0)


def unpack(data: bytes) -> Corpus:
    """What `pack` made."""
    arrays = load(lzma.decompress(data))
    words, ends = arrays["words"].tobytes(), arrays["ends"].tolist()
    tokens = arrays["tokens"]
    tokens.flags.writeable = False
    return Corpus(tokens, tuple(words[i:j] for i, j in zip([0, *ends], ends, strict=False)))


def _read(path: str) -> bytes:
    """A text file, in UTF-8."""
    try:
        about = Path(path).stat()
        if not stat.S_ISREG(about.st_mode):
            why = "it is not a regular file"
        elif about.st_size > MOST_BYTES:
            why = f"it has {about.st_size:,} bytes, and at most {MOST_BYTES:,} are allowed"
        elif not (content := Path(path).read_bytes()):
            why = "it is empty"
        else:
            why = _not_text(content)
            if not why:
                return content
    except (OSError, ValueError) as error:
        shipped = " or ".join(map(repr, SHIPPED))
        why = f"{getattr(error, 'strerror', None) or error}; name a text file, or {shipped}"
    raise RequestError(f"text = {path!r} cannot be used: {why}.")


def _not_text(content: bytes) -> str:
    """Why bytes are not text; empty if they are."""
    if (at := content.find(0)) >= 0:
        return f"it is not a text file, byte {at:,} is zero"
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return f"it is not text in UTF-8, see byte {error.start:,}"
    return ""


def _made(name: str, vocabulary: int) -> Corpus | None:
    """The tokens of a file that was read by this process; those of a long one are kept in the user's cache."""
    if name not in _TEXTS:
        return None
    content = _TEXTS[name][1]
    made = Corpus(*_bpe.tokenise(content.decode(), vocabulary))
    if len(content) >= _WORTH_KEEPING:
        _keep(_path(name, vocabulary), pack(made))
    return made


def _cached(name: str, vocabulary: int) -> Corpus | None:
    with suppress(OSError, lzma.LZMAError, SafetensorError, KeyError):  # absent or damaged: made again
        return unpack(_path(name, vocabulary).read_bytes())
    return None


def _keep(path: Path, data: bytes) -> None:
    """Write a file of the cache at once; without a cache, the next process makes it again."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(data)
        Path(file.name).replace(path)


def _path(name: str, vocabulary: int) -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "daybreak" / "texts" / f"{name}-{vocabulary}.xz"


def _shipped(name: str, vocabulary: int) -> Corpus:
    whole = unpack(files("daybreak.tasks").joinpath("texts", f"{name}.xz").read_bytes())
    return whole if vocabulary >= SHIPPED[name] else _with_fewer_words(whole, vocabulary)


def _with_fewer_words(text: Corpus, count: int) -> Corpus:
    """The same text by the first words of its vocabulary; each later one is written as the fewest of them.

    Pairs are merged in the order of words, so this is nearly the vocabulary that would have been made with that size.
    """
    words = _first_words(text.words, count)
    index = {word: i for i, word in enumerate(words)}
    parts = [_fewest(word, index) for word in text.words]
    lengths = np.array([len(x) for x in parts])
    starts, flat = np.cumsum(lengths) - lengths, np.array([i for part in parts for i in part], np.uint16)
    repeated = lengths[text.tokens]
    first = np.cumsum(repeated) - repeated  # place of each old token's first new one
    within = np.arange(int(repeated.sum())) - np.repeat(first, repeated)
    tokens = flat[np.repeat(starts[text.tokens], repeated) + within]
    tokens.flags.writeable = False
    return Corpus(tokens, words)


def _first_words(words: tuple[bytes, ...], count: int) -> tuple[bytes, ...]:
    """The first ones, and all with a byte that is not a word itself, for nothing else can be put in their place."""
    bytes_ = {word for word in words if len(word) == 1}
    needed = {word for word in words if any(word[i : i + 1] not in bytes_ for i in range(len(word)))}
    others = [word for word in words if word not in needed][: count - len(needed)]
    return tuple(word for word in words if word in needed or word in set(others))


def _fewest(word: bytes, index: dict[bytes, int]) -> list[int]:
    """A word as the fewest words of a vocabulary; of several ways, the one whose first words are longer."""
    best: dict[int, list[int]] = {len(word): []}  # of the rest of the word, from each byte on
    for start in reversed(range(len(word))):
        ends = [end for end in range(len(word), start, -1) if end in best and word[start:end] in index]
        if ends:
            best[start] = min(([index[word[start:end]], *best[end]] for end in ends), key=len)
    return best[0]
