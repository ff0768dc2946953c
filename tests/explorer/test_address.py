"""Addresses: every state survives the way there and back; rubbish is refused in words."""

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.explorer import address
from daybreak.explorer.theory import TheoryState


@dataclass(frozen=True)
class Seen:
    count: int = 3
    share: float = 0.5
    words: str = ""
    way: Literal["up", "down"] = "up"
    runs: tuple[str, ...] = ()


@given(
    st.builds(
        Seen,
        count=st.integers(),
        share=st.floats(allow_nan=False, allow_infinity=False),
        words=st.text(max_size=50),
        way=st.sampled_from(["up", "down"]),
        runs=st.lists(st.text(max_size=20), max_size=5).map(tuple),
    )
)
def test_there_and_back(state: Seen) -> None:
    assert address.read(Seen, address.write(state)) == state


def test_an_address_says_only_what_is_not_by_itself_so() -> None:
    assert address.write(Seen()) == ""
    assert address.write(Seen(share=0.25, runs=("a b", "c"))) == "?share=0.25&runs=a+b&runs=c"
    assert address.read(Seen, "/runs?count=4") == Seen(count=4)
    assert address.read(Seen, "?words=what?") == Seen(words="what?")
    for bare in ("", "?", "/runs", "/runs?", "/"):
        assert address.read(Seen, bare) == Seen()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?count=four", "count = 'four' is not allowed: it must be a whole number."),
        ("?count=1e400", "must be a whole number"),
        ("?share=nan", "share = 'nan' is not allowed: it must be a number."),
        ("?way=left", "choose 'up' or 'down'"),
        ("?__class__=x", "this view has count, share, words, way, runs."),
        ("?runs=x" + "&runs=x" * 100, "it may name 64 values"),
        ("?words=" + "x" * 5000, "an address of 5006 characters is not allowed"),
    ],
)
def test_refusals(query: str, said: str) -> None:
    with pytest.raises(RequestError) as refusal:
        address.read(Seen, query)
    assert said in str(refusal.value)


@pytest.mark.parametrize("query", ["?T=1", "?T=1e99", "?d=0", "?p=1", "?level=0", "?pins=64+16+1+0+loose", "?pins=1"])
def test_what_no_slider_can_show_is_refused(query: str) -> None:
    with pytest.raises(RequestError):
        address.read(TheoryState, query)
