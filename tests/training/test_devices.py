"""Several devices: a process with four simulated ones trains as a process with one does, by one program.

    python -m tests.training.test_devices FILE      what that process runs: its measurements go to a file

Worlds, data and first evaluations are equal to the bit. After steps of training they are equal up to rounding: for several
devices XLA optimises the same program in another order.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from daybreak.models import Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import Optimizer, Run, Stop, cohort, train
from daybreak.training.lanes import Lanes, at_once

DEVICES, WIDTH = 4, 2
MODEL = Transformer(heads=2, width=16, head_width=8, mlp=32)
RUNS = [
    Run(
        SingleLocation(T=6, d=3, B=1 + seed % 3, p=seed / 10),
        MODEL,
        Optimizer("sgd", 0.02 * (1 + seed)),
        Stop(budget=20 + 10 * seed, every=10, level=0.0),
        seed=seed,
        batch=8,
        evaluation=32,
    )
    for seed in range(5)
]
ROUNDS = (
    ([0] * 5, [True] * 5),
    ([20, 10, 30, 5, 20], [True] * 5),
    ([50, 0, 50, 0, 30], [True, False, True, False, True]),
)


def _measure(runs: Sequence[Run]) -> dict[str, np.ndarray]:
    """All that lanes give of the five runs, by name: rows, states, maps."""
    lanes, missing = Lanes(runs, WIDTH), len(runs) - 5
    found: dict[str, Any] = {}
    for number, (until, active) in enumerate(ROUNDS):
        rows = lanes.advance(until + [0] * missing, active + [False] * missing, [True] * len(runs))
        assert [row is not None for row in rows] == active + [False] * missing
        found[f"round {number}"] = rows[:5]
        found[f"state {number}"] = [lanes.learner(i) for i in range(5)]
        found[f"maps {number}"] = [lanes.maps(i) for i in range(5)]
    return _arrays(found)


def _arrays(tree: Any) -> dict[str, np.ndarray]:
    return {jax.tree_util.keystr(path): np.array(x, order="C") for path, x in jax.tree_util.tree_leaves_with_path(tree)}


def _train() -> dict[str, np.ndarray]:
    """Records by the name of their curves, of `train` itself."""
    records = train(RUNS)
    return _arrays({"record": [record.curves | {"steps": record.steps} for record in records]})


def _programs() -> int:
    return cohort.advance._cache_size()  # pyright: ignore[reportAttributeAccessIssue]


def _check_resumed() -> None:
    """Members that are put into other lanes go on to the same bits; so they do at another place, on another device."""
    first, second, third = Lanes(RUNS, WIDTH), Lanes(RUNS, WIDTH), Lanes(RUNS[::-1], WIDTH)
    first.advance([10] * 5, [True] * 5, [True] * 5)
    learners = [first.learner(i) for i in range(5)]
    second.put(learners)
    third.put(learners[::-1])
    for lanes in (first, second, third):
        lanes.advance([20] * 5, [True] * 5, [True] * 5)
    for i in range(5):
        jax.tree.map(np.testing.assert_array_equal, first.learner(i), second.learner(i))
        jax.tree.map(np.testing.assert_array_equal, first.learner(i), third.learner(4 - i))


def _check_layout() -> None:
    """Every array of a lane has `WIDTH` members on each device."""
    (learners,) = Lanes(RUNS, WIDTH)._learners
    for x in jax.tree.leaves(learners):
        assert x.shape[0] == DEVICES * WIDTH
        assert [len(shard.data) for shard in x.addressable_shards] == [WIDTH] * DEVICES
        assert len({shard.device for shard in x.addressable_shards}) == DEVICES


def main(file: str) -> None:
    """Measure on several devices."""
    assert jax.local_device_count() == DEVICES == at_once()
    measured = _measure(RUNS)
    assert _programs() == 1
    _check_layout()
    _check_resumed()
    assert _programs() == 1, "five members on four devices, put anew: still one program"
    save_file(measured | _train(), file)
    assert _programs() == 2, "lanes of one member on each device"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Of a process with four devices."""
    file = tmp_path_factory.mktemp("devices") / "measured.safetensors"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES}"
    command = [sys.executable, "-W", "error", "-m", "tests.training.test_devices", str(file)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, env=os.environ | {"XLA_FLAGS": flags}, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return load_file(file)


def test_members_on_several_devices_are_those_of_lanes_of_equal_width_on_one(measured: dict[str, np.ndarray]) -> None:
    """The fifth member has a copy beside it that does not train, as on four devices."""
    expected = _measure([*RUNS, RUNS[-1]])
    assert {name for name in measured if "record" not in name} == set(expected)
    for name, x in expected.items():
        if " 0'" in name:
            np.testing.assert_array_equal(measured[name], x, err_msg=name)
        tolerance = 2e-3 if "maps" in name else 1e-5  # maps are in half precision
        np.testing.assert_allclose(measured[name], x, rtol=tolerance, atol=tolerance, err_msg=name)


def test_records_are_those_of_one_device(measured: dict[str, np.ndarray]) -> None:
    """`train` has one member on each device of a CPU; members end at different steps."""
    expected = _train()
    assert {name for name in measured if "record" in name} == set(expected)
    for name, x in expected.items():
        np.testing.assert_allclose(measured[name], x, rtol=1e-5, atol=1e-5, err_msg=name)


if __name__ == "__main__":
    main(sys.argv[1])
