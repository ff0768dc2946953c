"""Texts as tokens: the shipped one, files of one's own, and files that are none."""

import hashlib
import os

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.tasks import Text, corpus

UNUSUAL = "naïve Σίσυφος 北京烤鸭 👩‍🚀 \u202eעברית\u202c e\u0301 \U0001f600\t\r\nend  "


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """A cache of its own, and a process that knows no text."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(corpus, "_KNOWN", {})
    monkeypatch.setattr(corpus, "_TEXTS", {})


def test_the_shipped_text_is_what_it_says() -> None:
    shipped = corpus.corpus("classics", 1000)
    text = shipped.decode(shipped.tokens)
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "72d943a22c89c80ac284ed79e71392010fe3509365d6ae18280b5636e878c397"
    )
    for part in ("To be, or not to be", "In the beginning God created the heaven and the earth."):
        assert part in text
    assert "gutenberg" not in text.lower()
    assert shipped.tokens.dtype == np.uint16
    assert np.unique(shipped.tokens).size == len(shipped.words) <= 1000
    assert not shipped.tokens.flags.writeable
    assert corpus.size("classics", 1000) == (shipped.tokens.size, len(shipped.words))


@pytest.mark.parametrize("vocabulary", [corpus.FEWEST, 250, 999])
def test_the_shipped_text_is_the_same_by_a_smaller_vocabulary(vocabulary) -> None:
    whole, small = corpus.corpus("classics", 1000), corpus.corpus("classics", vocabulary)
    assert np.unique(small.tokens).size == len(small.words) == min(vocabulary, len(whole.words))
    assert small.decode(small.tokens) == whole.decode(whole.tokens)
    assert small.tokens.size >= whole.tokens.size
    assert corpus.size("classics", vocabulary) == (small.tokens.size, len(small.words))
    shared = [word for word in whole.words if word in set(small.words)]
    assert list(small.words) == shared, "in the same order"


def test_a_word_is_written_as_the_fewest_others() -> None:
    index = {word: i for i, word in enumerate((b"a", b"b", b"ab", b"abb", b"bab"))}
    assert corpus._fewest(b"abbab", index) == [3, 2], "ab bab is as short, but begins with a shorter word"
    assert corpus._fewest(b"abb", index) == [3]


@pytest.mark.parametrize("content", [UNUSUAL * 40, "the cat sat on the mat. " * 500])
def test_a_file_of_ones_own_is_read_back_as_it_was(content, tmp_path) -> None:
    file = tmp_path / "own text ü.txt"
    file.write_bytes(content.encode())
    name = corpus.name_of(str(file))
    assert name == hashlib.sha256(content.encode()).hexdigest()[:16]
    made = corpus.corpus(name, 400)
    assert made.decode(made.tokens) == content
    assert len(made.words) <= 400
    assert made.tokens.size < len(content.encode())


def test_tokens_are_kept_in_the_cache_and_a_damaged_file_is_made_again(tmp_path) -> None:
    file, text = tmp_path / "my.txt", "one two three, " * 8000
    file.write_text(text)
    name = corpus.name_of(file)
    first = corpus.corpus(name, 300)
    (kept,) = (tmp_path / "cache/daybreak/texts").iterdir()
    assert name in kept.name
    file.unlink()
    corpus._KNOWN.clear()
    corpus._TEXTS.clear()
    assert (corpus.corpus(name, 300).tokens == first.tokens).all()
    kept.write_bytes(kept.read_bytes()[:-20])
    corpus._KNOWN.clear()
    with pytest.raises(RequestError, match="is not on this machine: it is the digest of a file"):
        corpus.corpus(name, 300)
    file.write_text(text)
    assert corpus.name_of(file) == name
    assert (corpus.corpus(name, 300).tokens == first.tokens).all()


def test_without_a_cache_it_works_too(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "my.txt").write_text("one two three, " * 8000)
    assert corpus.corpus(corpus.name_of(tmp_path / "my.txt"), 300).tokens.size > 100


def test_a_task_stores_the_digest_and_a_stored_one_needs_no_file(tmp_path) -> None:
    file = tmp_path / "my.txt"
    file.write_text("one two three, four. " * 300)
    task = Text(str(file), vocabulary=300, T=8)
    assert task.text == hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    assert Text(task.text, vocabulary=300, T=8) == task
    elsewhere = Text("0123456789abcdef", vocabulary=300, T=8)  # as a lab of somebody else has it
    assert elsewhere.interface.tokens == 300
    with pytest.raises(RequestError, match=r"name the file again, as in --task\.text my\.txt"):
        elsewhere.guess()


def test_what_pack_made_is_unpacked() -> None:
    made = corpus.Corpus(np.array([2, 0, 1, 2], np.uint16), (b"a", "ü".encode(), b""))
    for small in (True, False):
        again = corpus.unpack(corpus.pack(made, small=small))
        assert again.words == made.words
        assert (again.tokens == made.tokens).all()


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        ([], "a list of whole numbers"),
        ([0.5], "a list of whole numbers"),
        ([-1, 3], "from -1 to 3"),
        ([1 << 16], "0 to 65 535"),
    ],
)
def test_tokens_that_are_none_are_refused(tokens, sentence) -> None:
    with pytest.raises(RequestError, match=sentence):
        corpus.add(tokens)


def test_files_that_are_no_text_get_a_sentence(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(corpus, "MOST_BYTES", 1000)
    contents = {
        "empty": b"",
        "binary": b"ab\x00cd",
        "latin": "café".encode("latin-1"),
        "large": b"x" * 1001,
        "three": b"a b c",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    sentences = {
        "empty": "it is empty",
        "binary": "it is not a text file, byte 2 is zero",
        "latin": "it is not text in UTF-8, see byte 3",
        "large": "it has 1,001 bytes, and at most 1,000 are allowed",
        "pipe": "it is not a regular file",
        ".": "it is not a regular file",
        "missing": "No such file or directory; name a text file, or 'classics'",
        "three": "three' is not allowed: it has 3 tokens, and sequences of T = 256 need 2,570",
    }
    for name, sentence in sentences.items():
        with pytest.raises(RequestError) as caught:
            Text(str(tmp_path / name))
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)
