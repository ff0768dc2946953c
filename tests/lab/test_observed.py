"""Observed runs: rows in are rows out, whatever happens to the one who writes them."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.lab import Lab, ObservedRun, rows
from daybreak.lab.lock import locked

NAMES = st.sampled_from(["loss", "grad_norm", "top5_accuracy", "resume"])
NUMBERS = st.floats(width=32, allow_nan=True, allow_infinity=True)
HEADS = st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=2)
VALUES = st.builds(
    lambda one, heads: one | heads,
    st.dictionaries(NAMES, NUMBERS, max_size=3),
    st.dictionaries(st.just("induction"), HEADS, max_size=1),
)
ROWS = st.lists(st.tuples(st.integers(0, 50), VALUES), max_size=12).map(lambda x: sorted(x, key=lambda row: row[0]))


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def _folder(lab: Path, run: ObservedRun) -> Path:
    return lab / "runs" / run.id


def _expected(given_rows: list[tuple[int, dict]]) -> dict[int, dict[str, np.ndarray]]:
    """Rows of the same step as one; what is not a number says nothing."""
    merged: dict[int, dict[str, np.ndarray]] = {}
    for step, values in given_rows:
        merged.setdefault(step, {}).update({name: np.array(x, np.float32) for name, x in values.items()})
    return merged


def _check(steps: np.ndarray, curves: dict[str, np.ndarray], merged: dict[int, dict[str, np.ndarray]]) -> None:
    assert steps.tolist() == sorted(merged)
    assert curves.keys() == {name for values in merged.values() for name in values}
    for i, step in enumerate(sorted(merged)):
        for name, curve in curves.items():
            want = merged[step].get(name, np.full(curve.shape[1:], np.nan, np.float32))
            if want.ndim == curve.ndim - 1:
                np.testing.assert_array_equal(curve[i], want)


@given(ROWS, st.data())
def test_rows_in_are_rows_out_and_of_a_torn_file_all_but_the_last(tmp_path_factory, drawn, data) -> None:
    run = ObservedRun.begin(tmp_path_factory.mktemp("any") / "lab", "any", {})
    folder = next(tmp_path_factory.getbasetemp().glob(f"any*/lab/runs/{run.id}"))
    ends = [0]
    for step, values in drawn:
        run.append(step, values)
        ends.append((folder / rows.ROWS).stat().st_size)
    content = (folder / rows.ROWS).read_bytes()
    _check(*rows.read(folder), _expected(drawn))
    cut = data.draw(st.integers(0, len(content)))
    complete = sum(end - 1 <= cut for end in ends[1:])  # the line break may be missing
    _check(*rows.parse(content[:cut]), _expected(drawn[:complete]))


def _planted(run: ObservedRun, middle: float, last: int = 1000) -> None:
    """A loss that falls around a step, measured more often than two heads, of which one rises."""
    for step in range(0, last, 10):
        fall = 1 / (1 + np.exp((step - middle) / 10))
        probes = {"induction": [[0.02, 1.02 - fall]]} if step % 50 == 0 else {}
        run.append(step, {"loss": 0.1 + 3 * fall} | probes)


def test_the_command_of_a_module_is_the_name_of_its_package(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program, name in (("/x/daybreak/__main__.py", "daybreak"), ("/x/loop.py", "loop.py")):
        monkeypatch.setattr(sys, "argv", [program, "--seed", "1"])
        run = ObservedRun.begin(lab, name, {})
        run.append(0, {"loss": 1.0})
        run.finish()
        assert Lab(lab).load(run.id).document["provenance"]["command"] == f"{name} --seed 1"


def test_a_run_is_unfinished_then_done_and_readers_know_it(lab: Path) -> None:
    run = ObservedRun.begin(lab, "my-gpt", {"context": 256, "batch": 8, "time": 3}, level=1.6)
    assert Lab(lab).unfinished() == [run.id]
    assert Lab(lab).query(unfinished=True)["last_step"].to_pylist() == [None]
    _planted(run, 500)
    (row,) = Lab(lab).query(unfinished=True).to_pylist()
    assert (row["outcome"], row["last_step"], row["task"], row["name"]) == ("unfinished", 990, "observed", "my-gpt")
    assert (row["context"], row["batch"], row["setting_time"], row["level"]) == (256, 8, 3, 1.6)
    run.finish()
    (row,) = Lab(lab).query("context = 256 and name = 'my-gpt'").to_pylist()
    assert row["outcome"] == "emerged"
    assert row["plateau"] == pytest.approx(500, abs=1)
    assert row["final_loss"] == pytest.approx(0.1, abs=1e-6)
    saved = Lab(lab).load(run.id)
    assert saved.record is not None
    assert saved.record.curves["induction"].shape == (100, 1, 2)
    assert np.isfinite(saved.record.curves["induction"]).all(axis=(1, 2)).sum() == 20


@pytest.mark.parametrize(
    ("curve", "level", "direction", "outcome", "plateau"),
    [
        ("loss", 1.6, "down", "emerged", 500),
        ("induction", 0.5, "up", "emerged", 500),
        ("induction_1_2", 0.5, "up", "emerged", 500),
        ("induction_1_1", 0.5, "up", "censored", 950),
        ("loss", 0.01, "down", "censored", 990),
        ("loss", 0, "down", "completed", None),
        ("accuracy", 0.5, "up", "completed", None),
    ],
)
def test_the_run_names_its_curve_level_and_direction(lab: Path, curve, level, direction, outcome, plateau) -> None:
    run = ObservedRun.begin(lab, "x", {}, curve=curve, level=level, direction=direction)
    _planted(run, 500)
    run.finish()
    result = Lab(lab).load(run.id).result
    assert result.outcome == outcome
    assert (None if result.plateau is None else result.plateau.length) == (plateau and pytest.approx(plateau, abs=3))


def test_values_that_are_not_numbers_leave_gaps_in_one_curve_only(lab: Path) -> None:
    run = ObservedRun.begin(lab, "x", {}, level=0.5)
    for step, loss in enumerate([1, np.nan, 1, np.inf, 0.9, 0.1, np.nan]):
        run.append(step, {"loss": loss})
    run.finish()
    result = Lab(lab).load(run.id).result
    assert result.plateau is not None
    assert result.plateau.length == pytest.approx(4.5)
    assert result.final == {"loss": pytest.approx(0.1)}


def test_a_resumed_run_has_one_unbroken_record(lab: Path) -> None:
    run = ObservedRun.begin(lab, "x", {})
    for step in range(10):
        run.append(step, {"loss": step})
    (file := _folder(lab, run) / rows.ROWS).write_bytes(file.read_bytes() + b'{"step":10,"lo')
    before = file.read_bytes()
    again = ObservedRun.resume(lab, run.id, 6)
    assert again.id == run.id
    assert Lab(lab).query(unfinished=True)["last_step"].to_pylist() == [6]
    for step in range(7, 12):
        again.append(step, {"loss": 100 + step})
    again.finish()
    assert file.read_bytes().startswith(before), "nothing is written again"
    record = Lab(lab).load(run.id).record
    assert record is not None
    assert record.steps.tolist() == [*range(12)]
    assert record.curves["loss"].tolist() == [*range(7), *range(107, 112)]


def test_a_finished_run_goes_on(lab: Path) -> None:
    run = ObservedRun.begin(lab, "x", {}, level=0.5)
    run.append(0, {"loss": 1})
    run.finish()
    assert Lab(lab).load(run.id).result.outcome == "censored"
    again = ObservedRun.resume(lab, run.id, 0)
    assert not Lab(lab).is_done(run.id)
    again.append(1, {"loss": 0})
    again.finish()
    assert Lab(lab).load(run.id).result.outcome == "emerged"


WRITER = """
import sys
from daybreak.lab.observed import ObservedRun
run = ObservedRun.begin("lab", "killed", {"context": 64}, level=0.1)
print(run.id, flush=True)
for step in range(10**9):
    run.append(step, {"loss": 3.0, "induction": [[0.5] * 50] * 4})
    if step == 50:
        print("written", flush=True)
"""


def _python(code: str, folder: Path, **options) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_a_killed_writer_leaves_all_its_rows(tmp_path: Path) -> None:
    with _python(WRITER, tmp_path) as writer:
        assert writer.stdout is not None
        name = writer.stdout.readline().strip()
        assert writer.stdout.readline().strip() == "written"
        writer.send_signal(signal.SIGKILL)
    assert writer.returncode == -signal.SIGKILL
    lab = Lab(tmp_path / "lab")
    (row,) = lab.query(unfinished=True).to_pylist()
    assert (row["id"], row["outcome"], row["context"]) == (name, "unfinished", 64)
    steps, curves = rows.read(tmp_path / "lab" / "runs" / name)
    assert steps.tolist() == [*range(row["last_step"] + 1)]
    assert steps.size > 50
    assert np.isfinite(curves["induction"]).all()
    again = ObservedRun.resume(tmp_path / "lab", name, 40)
    again.append(41, {"loss": 0.0})
    again.finish()
    assert lab.load(name).result.last_step == 41


FULL = """
import resource
from daybreak.lab.observed import ObservedRun
run = ObservedRun.begin("lab", "full", {})
run.append(0, {"loss": 1.0})
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
step = 0
try:
    for step in range(1, 10**6):
        run.append(step, {"loss": 1.0, "induction": [[0.25] * 10]})
except OSError as error:
    print(run.id, step)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
run.append(step, {"loss": 2.0})
"""


def test_on_a_full_disk_the_caller_sees_an_error_and_rows_before_and_after_are_safe(tmp_path: Path) -> None:
    with _python(FULL, tmp_path) as writer:
        out, err = writer.communicate(timeout=60)
    assert (err, writer.returncode) == ("", 0)
    name, step = out.split()
    steps, curves = rows.read(tmp_path / "lab" / "runs" / name)
    assert steps.tolist() == [*range(int(step) + 1)]
    assert curves["loss"].tolist() == [1.0] * int(step) + [2.0]


BEGIN = "from daybreak.lab.observed import ObservedRun; ObservedRun.begin('new/lab', 'x', {}).append(0, {'loss': 1})"


def test_many_processes_begin_in_a_new_lab_at_once(tmp_path: Path) -> None:
    writers = [_python(BEGIN, tmp_path) for _ in range(3)]
    assert [writer.communicate(timeout=60)[1] for writer in writers] == [""] * 3
    assert len(Lab(tmp_path / "new" / "lab").unfinished()) == 3


def test_neither_a_lock_nor_a_writer_of_the_lab_is_in_the_way(lab: Path) -> None:
    with locked(lab):
        writer = Lab(lab).open()
        run = ObservedRun.begin(lab, "x", {})
        run.append(0, {"loss": 1})
        Lab(lab).open()  # empties the folder of unfinished files
        run.finish()
        assert [x.id for x in writer.results()] == [run.id]
        writer.close()
        assert writer.delete(run.id) == []
    with pytest.raises(OSError, match="No such file"):
        run.append(1, {"loss": 1})


def test_the_same_key_is_the_same_run(lab: Path) -> None:
    run = ObservedRun.begin(lab, "x", {"a": 1}, id="file 3f2a")
    with pytest.raises(RequestError, match=f"run {run.id} is in lab"):
        ObservedRun.begin(lab, "x", {"a": 1}, id="file 3f2a")
    assert ObservedRun.begin(lab, "x", {"a": 2}, id="file 3f2a").id != run.id


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(RequestError, match="not a lab"):
        ObservedRun.begin(tmp_path, "x", {})
    with pytest.raises(RequestError, match="a folder is needed"):
        ObservedRun.begin(tmp_path / "notes", "x", {})
    assert [x.name for x in tmp_path.iterdir()] == ["notes"]


@pytest.mark.usefixtures("as_a_user")
def test_what_is_not_allowed_is_refused_and_nothing_is_written(lab: Path) -> None:
    for wrong in [
        {"name": " "},
        {"settings": {"a b": 1}},
        {"settings": {"a": [1]}},
        {"settings": {"a": float("nan")}},
        {"curve": "Loss"},
        {"level": -1},
        {"level": float("inf")},
        {"direction": "left"},
    ]:
        with pytest.raises(RequestError, match=r"not allowed|unknown"):
            ObservedRun.begin(lab, **{"name": "x", "settings": {}} | wrong)  # pyright: ignore[reportArgumentType]
    assert not lab.exists()
    run = ObservedRun.begin(lab, "x", {})
    run.append(5, {"induction": [[1.0, 2.0]]})
    before = (_folder(lab, run) / rows.ROWS).read_bytes()
    values: list[tuple] = [(4, {"loss": 1}), (6.5, {"loss": 1}), (-1, {"loss": 1}), (None, {"loss": 1})]
    values += [(6, {"Loss": 1}), (6, {"step": 1}), (6, {"loss": "low"}), (6, {"loss": []}), (6, {"induction": 1})]
    for step, one in values:
        with pytest.raises(RequestError, match=r"not allowed|cannot be called"):
            run.append(step, one)
    with pytest.raises(RequestError, match="outcome = 'failed' is not allowed"):
        run.finish("failed")
    for name in ("0123456789abcdef", "../../x", ""):
        with pytest.raises(RequestError, match="not among the observed runs"):
            ObservedRun.resume(lab, name, 0)
    with pytest.raises(RequestError, match="it has no values"):
        ObservedRun.begin(lab, "x", {}).finish()
    assert (_folder(lab, run) / rows.ROWS).read_bytes() == before


def test_a_step_is_found_at_the_end_of_a_long_file(lab: Path) -> None:
    run = ObservedRun.begin(lab, "x", {})
    assert rows.last_step(_folder(lab, run)) is None
    run.append(7, {"induction": np.random.default_rng(0).random((200, 200))})
    assert (_folder(lab, run) / rows.ROWS).stat().st_size > 2**18
    assert rows.last_step(_folder(lab, run)) == 7
    ObservedRun.resume(lab, run.id, 3)
    assert rows.last_step(_folder(lab, run)) == 3
