"""What a run came to: the plateau its own stop rule saw, sealed so that no bit can change unseen."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.lab import result
from daybreak.training import Outcome, Record, Stop
from tests.lab import made

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _of(values: list[float], *, level: float = 0.1, outcome: Outcome = "emerged", accuracy: bool = False) -> dict:
    steps = np.arange(len(values)) * 10
    curve = np.array(values, np.float32)
    curves = {"clean_loss": np.ones_like(curve), "clean_accuracy": curve} if accuracy else {"clean_loss": curve}
    return result.measurement(made.run(stop=Stop(level=level)), Record(steps, curves, outcome))


def test_a_plateau_is_a_length_with_its_bracket() -> None:
    found = _of([0.5, 0.5, 0.3, 0.1, 0.05], level=0.2)
    assert found["plateau"] == {"length": pytest.approx(25), "censored": False, "bracket": [20, 30]}
    assert found["last_step"] == 40
    assert found["final"] == {"clean_loss": pytest.approx(0.05)}


def test_an_accuracy_rises_to_its_level() -> None:
    assert _of([0.0, 0.2, 0.4, 1.0], level=0.5, accuracy=True)["plateau"]["bracket"] == [20, 30]


@pytest.mark.parametrize("accuracy", [False, True])
def test_without_a_level_nothing_emerges(accuracy: bool) -> None:
    found = _of([0.5, 0.4, 0.3], level=0.0, outcome="completed", accuracy=accuracy)
    assert (found["plateau"], found["last_step"]) == (None, 20)


@pytest.mark.parametrize(
    ("stored", "read"), [("censored", "completed"), ("diverged", "diverged"), ("completed", "completed")]
)
def test_a_document_of_an_older_version_without_a_level(stored: str, read: str) -> None:
    document = {"outcome": stored, "plateau": {"length": 20, "censored": True, "bracket": [20, None]}, "last_step": 20}
    assert result.without_level(document) == {"outcome": read, "plateau": None, "last_step": 20}


def test_a_run_that_diverges_was_watched_until_then() -> None:
    found = _of([0.5, 0.4, float("nan")], outcome="diverged")
    assert found["plateau"] == {"length": 10, "censored": True, "bracket": [10, None]}
    assert found["final"] == {"clean_loss": None}
    assert _of([0.5, 0.01, float("inf")], outcome="diverged")["plateau"]["bracket"] == [0, 10]
    assert _of([float("nan")], outcome="diverged")["plateau"]["length"] == 0


def test_a_crossing_exactly_at_the_level_is_one_for_the_stop_rule_and_for_the_plateau() -> None:
    """0.9 in single precision lies below 0.9; the stop rule compares in single precision."""
    assert not _of([0.1, 0.9], level=0.9, accuracy=True)["plateau"]["censored"]
    assert not _of([0.5, 0.1], level=0.1)["plateau"]["censored"]


@given(st.dictionaries(st.text().filter(lambda x: x not in ("schema", "sha256")), PLAIN, max_size=5))
def test_a_sealed_document_opens_as_it_was(document: dict) -> None:
    document = {"schema": result.SCHEMA, **document}
    assert result.unseal(result.seal(document)) == document
    assert json.loads(result.seal(document)).keys() == {*document, "sha256"}


@given(st.integers(0, 10**6), st.integers(0, 7))
def test_any_changed_bit_breaks_the_seal(place: int, bit: int) -> None:
    content = bytearray(result.seal({"schema": result.SCHEMA, "id": "abc", "final": {"clean_loss": 0.25, "x": None}}))
    content[place % len(content)] ^= 1 << bit
    with pytest.raises(result.DamageError, match=r"result.json is not what was written"):
        result.unseal(bytes(content))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"sha256": "x"}'])
def test_rubbish_is_damage(content: bytes) -> None:
    with pytest.raises(result.DamageError):
        result.unseal(content)


def test_documents_of_other_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(result.NewerError, match="schema 2, and this version reads up to 1"):
        result.unseal(result.seal({"schema": result.SCHEMA + 1}))
    monkeypatch.setitem(result._UPGRADES, 0, lambda old: {"schema": 1, "outcome": old["ended"]})
    assert result.unseal(result.seal({"schema": 0, "ended": "emerged"})) == {"schema": 1, "outcome": "emerged"}
