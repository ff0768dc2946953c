"""Byte-pair vocabularies of texts, by the `tokenizers` library, which is the extra `text`."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError


def tokenise(text: str, vocabulary: int) -> tuple[NDArray[np.uint16], tuple[bytes, ...]]:
    """Learn a vocabulary of at most this size from a text: its tokens, and the bytes of each one that occurs.

    Pairs are of bytes, so every text can be written, whatever its characters.
    """
    try:
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    except ModuleNotFoundError:
        raise RequestError(
            "a text file of your own needs the package tokenizers, which is not installed: pip install 'daybreak[text]'."
        ) from None

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.decoder = decoders.ByteLevel()  # pyright: ignore[reportAttributeAccessIssue]
    lines = text.splitlines(keepends=True)
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=vocabulary, show_progress=False))
    ids = np.concatenate([np.array(x.ids, np.int64) for x in tokenizer.encode_batch_fast(lines)])
    used, tokens = np.unique(ids, return_inverse=True)  # some pairs only occur inside larger ones
    words = tuple(_bytes_of(str(tokenizer.id_to_token(i))) for i in used.tolist())
    return tokens.astype("<u2"), words


def _bytes_of(word: str) -> bytes:
    """The bytes of a token, of which the library shows each by a visible character."""
    return bytes(_visible()[character] for character in word)


@cache
def _visible() -> dict[str, int]:
    """The bytes by their visible characters: printable ones by themselves, the others by those from 256 on."""
    shown = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [x for x in range(256) if x not in shown]
    return {chr(x): x for x in shown} | {chr(256 + i): x for i, x in enumerate(others)}
