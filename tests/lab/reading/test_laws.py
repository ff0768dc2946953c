"""The law of a lab's other runs for one run: it knows in what the run differs from those it was fitted on."""

from pathlib import Path

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab.reading import laws
from daybreak.training import Optimizer, Run, Stop, to_json
from tests.lab import made

SHIFT = 20 * np.log(9)  # from the middle of a made fall to a loss of 0.1


def _lab(folder: Path, *runs: tuple[int, int, int, float]) -> Lab:
    """A lab of runs: seed, T, d and plateau."""
    lab = Lab(folder).open()
    for seed, T, d, plateau in runs:
        lab.save(made.run(seed, T=T, d=d), made.record(plateau - SHIFT, count=60), **made.SOURCE)
    return lab


def _prior(lab: Lab, run: Run, form: str | None = None) -> laws.LawPrior:
    return laws.prior(lab, to_json(run), form)


def test_two_seeds_at_one_setting_do_not_pretend_to_know_another(tmp_path: Path) -> None:
    lab = _lab(tmp_path / "lab", (0, 16, 16, 311.0), (1, 16, 16, 317.0))
    there = _prior(lab, made.run(0, T=32, d=24))
    low, high = there.median * np.exp(1.2816 * there.spread * np.array([-1, 1]))
    assert low < 738 < high, "314 (307 to 322) was forecast for a run that emerged at 738"
    assert {name: x.value for name, x in there.borrowed.items()} == {"d": 1.29, "T": 0.8}
    said = " ".join(there.notes)
    assert "The other runs do not vary in d or T" in said
    assert "taken from paper A, figure 3" in said
    assert "T = 32 is 2.0 times beyond the runs that the law was fitted on" in said
    same = _prior(lab, made.run(2, T=16, d=16))
    assert (same.law.form, same.beyond, same.borrowed, same.notes) == ("C", (), {}, ())
    assert same.median == pytest.approx(314, rel=0.02)
    assert same.spread > 0.07


def test_columns_that_vary_are_fitted_and_the_others_borrowed(tmp_path: Path) -> None:
    lab = _lab(tmp_path / "lab", *((s, T, 16, 20 * T**0.5 * (1 + 0.02 * s)) for s in (0, 1) for T in (16, 64, 256)))
    there = _prior(lab, made.run(5, T=64, d=32))
    assert list(there.borrowed) == ["d"]
    assert there.law.coefficients["b"] == pytest.approx(0.5, abs=0.1), "not the paper's 0.8"
    assert there.median == pytest.approx(20 * 8 * 2**1.29, rel=0.1)
    far = _prior(lab, made.run(5, T=4096, d=16))
    near = _prior(lab, made.run(5, T=128, d=16))
    assert [x.factor for x in far.beyond] == [16.0]
    assert not near.beyond
    assert far.spread > 2 * near.spread


def test_one_run_is_enough_for_a_law_and_other_kinds_do_not_count(tmp_path: Path) -> None:
    lab = _lab(tmp_path / "lab", (0, 16, 16, 314.0))
    assert _prior(lab, made.run(0, T=32)).median == pytest.approx(314 * 2**0.8, rel=0.01)
    with pytest.raises(
        RequestError, match=r"no other finished run that differs only in d, T, B or the seed: train one"
    ):
        _prior(lab, made.run(0, T=32, optimizer=Optimizer(learning_rate=1e-3)))
    with pytest.raises(RequestError, match=r"differs only in the seed: train one first. No published law covers"):
        _prior(lab, made.run(0, T=32, optimizer=Optimizer(name="sgd")))
    again = made.run(7, T=16, d=16, stop=Stop(budget=20_000))
    assert _prior(lab, again).median == pytest.approx(314, rel=0.01), "the budget does not change a plateau"


def test_a_form_of_ones_own(tmp_path: Path) -> None:
    lab = _lab(tmp_path / "lab", (0, 16, 16, 300.0), (1, 32, 16, 600.0), (2, 64, 16, 1150.0))
    assert _prior(lab, made.run(0, T=128), "C * T**b").median == pytest.approx(2300, rel=0.1)
    wide = _prior(lab, made.run(0, T=128, d=32), "C * (sqrt(d) * T)**b")
    assert wide.spread > _prior(lab, made.run(0, T=128), "C * T**b").spread
    with pytest.raises(RequestError, match=r"exponent 'c' of law .* cannot be fitted"):
        _prior(lab, made.run(0, T=128), "C * T**b * width**c")


def test_runs_that_never_emerged_are_no_law(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab").open()
    lab.save(made.run(0), made.record(1e6, outcome="censored"), **made.SOURCE)
    with pytest.raises(RequestError, match="none of the 1 runs emerged"):
        _prior(lab, made.run(1))
