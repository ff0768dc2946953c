"""Studies that train go all the way at smoke scale, and students are compared with the model as the formula says."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from pyarrow import parquet
from scipy.special import log_softmax

from daybreak import studies
from daybreak.studies.incremental import _students
from daybreak.studies.incremental._trained import MINIMAL, changed, seeded


def test_figures_1_and_3_share_their_runs(tmp_path: Path) -> None:
    """The minimal version trains its students on the spot; of the last one, the model itself, it ends at divergence zero."""
    first, third = (
        studies.reproduce(studies.find(name), "smoke", tmp_path / "out", tmp_path / "lab", workers=1)
        for name in ("b-fig1", "fig3-minimal")
    )
    assert first.runs == third.runs == 1
    assert len(list((tmp_path / "lab" / "runs").iterdir())) == 1
    for done in (first, third):
        assert {claim.verdict for claim in done.findings.claims} == {"undecided"}
        assert (done.folder / "figure.png").exists()
    curves = parquet.read_table(third.folder / "curves.parquet").to_pydict()
    students = np.array([curves[f"student_{n}"] for n in (1, 2, 3)])
    assert np.all(students >= -1e-6)
    assert abs(students[2, -1]) < 1e-6
    assert students[2, 0] > students[2, -1]


def test_divergence_is_that_of_the_reference_from_the_model() -> None:
    (run,) = seeded(MINIMAL, "smoke")
    short = changed(run, model={"window": 2})
    model: Any = run.model
    one, other = (
        jax.tree.map(
            lambda x, k=k: jax.random.normal(jax.random.key(k), x.shape), model.init(jax.random.key(0), run.interface)
        )
        for k in (1, 2)
    )
    inputs = jax.random.randint(jax.random.key(3), (5, run.interface.length), 0, 6)
    p, q = (
        log_softmax([made.model.apply(parameters, x, run.interface).values for x in inputs], axis=2)
        for made, parameters in ((short, other), (run, one))
    )
    expected = np.mean(np.sum(np.exp(p) * (p - q), axis=2))
    np.testing.assert_allclose(_students.divergence(run, one, short, other, inputs), expected, rtol=1e-4)
    assert abs(_students.divergence(run, one, run, one, inputs)) < 1e-6
