"""Sliders: every place shows another number, and every number is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.explorer import figures
from daybreak.explorer.app import VIEWS
from daybreak.explorer.controls import Slider

SLIDERS = {
    f"{view.name}-{name}": x for view in VIEWS.values() for name, x in view.controls.items() if isinstance(x, Slider)
}


@pytest.mark.parametrize("slider", SLIDERS.values(), ids=list(SLIDERS))
def test_every_place_shows_another_number(slider: Slider) -> None:
    first, last = slider.place(slider.low), slider.place(slider.high)
    places = np.arange(first, last + 1e-9, 1 if slider.log else slider.step).tolist()
    shown = [slider.form.format(slider.value(x)) for x in places]
    assert len({*shown}) == len(shown) > 3
    assert (slider.value(first), slider.value(places[-1])) == pytest.approx((slider.low, slider.high))


@given(st.sampled_from([x for x in SLIDERS.values() if x.log]), st.data())
def test_a_number_of_an_address_is_kept_between_two_places(slider: Slider, data: st.DataObject) -> None:
    value = data.draw(st.integers(int(slider.low), int(slider.high)))
    assert slider.value(slider.place(value)) == value


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (32, 5e4, ["100", "1,000", "10,000"]),
        (110, 1300, ["200", "500", "1,000"]),
        (1e-17, 1.0, ["10<sup>-15</sup>", "10<sup>-12</sup>", "10<sup>-9</sup>", "10<sup>-6</sup>", "0.001", "1"]),
        (90, 150, ["100", "120", "140"]),
        (3e6, 8e7, ["5·10<sup>6</sup>", "10<sup>7</sup>", "2·10<sup>7</sup>", "5·10<sup>7</sup>"]),
    ],
)
def test_logarithmic_axes_have_few_whole_ticks(low: float, high: float, texts: list[str]) -> None:
    curve = figures.line([1, 2], [low, high], "#000000")
    axes = {"xaxis": figures.axis(figures.LIGHT, "x"), "yaxis": figures.log_axis(figures.LIGHT, "y")}
    drawn = figures.figure(figures.LIGHT, [curve], axes)["layout"]["yaxis"]
    inside = [text for x, text in zip(drawn["tickvals"], drawn["ticktext"], strict=True) if low <= x <= high]
    assert inside == texts
