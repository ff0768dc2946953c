"""How long runs take on this machine: planted rates of finished runs and of timed programs give exactly the planted times."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from daybreak.lab import Lab, device
from daybreak.lab.compute import rates, work
from daybreak.lab.compute.calibration import MOST, calibrate
from daybreak.lab.compute.cost import step_operations
from daybreak.lab.compute.executor import Event
from daybreak.lab.compute.messages import Ended, Finished, Job
from daybreak.lab.compute.rates import Rate, Rates, program
from daybreak.models import Transformer
from daybreak.tasks import Recall
from daybreak.training import Optimizer, Run, Schedule, Stop
from tests.lab import made

SMALL = Transformer(layers=1, heads=1, width=8, head_width=8, mlp=8)
SMALL_CAUSAL = replace(SMALL, causal=True)
HERE = {"command": "daybreak sweep", "seconds": 1.0}


@pytest.fixture(autouse=True)
def _nothing_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))


def _run(seed: int = 0, T: int = 8, every: int = 20, **changes) -> Run:
    return made.run(seed, T=T, d=4, model=SMALL, stop=Stop(budget=1_000, every=every, level=0.0), **changes)


def _lab(folder: Path, *planted: tuple[Run, float | None], on: str = "") -> Lab:
    lab = Lab(folder / "lab").open()
    for run, seconds in planted:
        lab.save(run, made.record(), step_seconds=seconds, device=on or device(), **HERE)
    return lab


def test_runs_of_a_program_differ_in_its_arguments_and_the_stop_rule() -> None:
    same = [_run(1), _run(every=5), _run(optimizer=Optimizer(learning_rate=0.5))]
    assert {program(run) for run in same} == {program(_run())}
    schedule = Run(Recall(B=2), Transformer(causal=True), schedule=Schedule("switch", 50.0))
    others = [_run(T=16), _run(precision="bfloat16"), _run(batch=7), _run(optimizer=Optimizer("sgd")), schedule]
    assert len({program(run).name for run in [_run(), *others]}) == 6


def test_the_median_of_finished_runs_of_the_same_program(tmp_path: Path) -> None:
    lab = _lab(tmp_path, (_run(0), 0.1), (_run(1), 0.2), (_run(2), 0.9), (_run(3), None), (_run(4, T=16), 7.0))
    known = Rates(lab, [_run(9)])
    assert known.known(_run(9)) == known.seconds(_run(9)) == known.estimate(_run(9)) == pytest.approx(1_000 * 0.2)
    assert known.source(_run(9)) == "runs in the lab"
    assert known.is_compiled(_run(9))
    assert known.known(_run(9, T=32)) is None


def test_runs_of_another_processor_say_nothing(tmp_path: Path) -> None:
    lab = _lab(tmp_path, (_run(0), 0.1), on="cpu: another one")
    known = Rates(lab, [_run(9)])
    assert known.known(_run(9)) is None
    assert known.source(_run(9)) == "a product of matrices"
    assert known.estimate(_run(9)) > 0


def test_evaluations_that_are_more_frequent_cost_their_operations(tmp_path: Path) -> None:
    often = _run(9, every=1)
    known = Rates(_lab(tmp_path, (_run(0), 0.1)), [often])
    assert known.seconds(often) == pytest.approx(1_000 * 0.1 * step_operations(often) / step_operations(_run()))


def test_a_precision_has_its_own_rate(tmp_path: Path) -> None:
    half = [_run(seed, precision="bfloat16") for seed in (1, 2)]
    known = Rates(_lab(tmp_path, (_run(0), 0.3), (half[0], 0.2)), [_run(3), half[1]])
    assert (known.known(_run(3)), known.known(half[1])) == pytest.approx((300.0, 200.0))


def test_between_programs_of_its_kind_the_speed_is_interpolated(tmp_path: Path) -> None:
    short, middle, long = (_run(T=T) for T in (8, 32, 128))
    lab = _lab(tmp_path, *((run, step_operations(run) ** 0.5 / 1e6) for run in (short, long)))
    known = Rates(lab, [short, middle, long])
    assert known.known(middle) is None
    assert known.seconds(middle) == pytest.approx(1_000 * step_operations(middle) ** 0.5 / 1e6)
    assert known.source(middle) == "programs of the same kind"
    recall = Run(Recall(N=4, V=16), Transformer(causal=True))
    assert known.seconds(recall) is not None, "another task of the same model"
    assert known.seconds(replace(middle, precision="bfloat16")) is None


def test_what_was_timed_is_kept_for_this_machine(tmp_path: Path) -> None:
    rate = Rate(0.5, 20, rates.kind(_run()), step_operations(_run()), "timed on this machine")
    rates.save({program(_run()).name: rate})
    rates.save({program(_run(T=16)).name: rate})
    assert rates.load() == {program(_run(T=T)).name: rate for T in (8, 16)}
    known = Rates(Lab(tmp_path / "none"), [_run(5)])
    assert known.known(_run(5)) == pytest.approx(500.0)
    assert known.source(_run(5)) == "timed on this machine"
    assert known.is_compiled(_run(5))
    (tmp_path / "programs" / "rates.json").write_text("{")
    assert rates.load() == {}


def test_what_was_timed_on_other_processors_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines of a cluster may share the folder."""
    rate = Rate(0.5, 20, rates.kind(_run()), step_operations(_run()), "timed on this machine")
    for name, seconds in (("cpu: fast", 0.1), ("cpu: slow", 0.7)):
        monkeypatch.setattr(rates, "processor", lambda name=name: name)
        rates.save({"a program": replace(rate, step_seconds=seconds)})
    assert rates.load()["a program"].step_seconds == 0.7
    monkeypatch.setattr(rates, "processor", lambda: "cpu: fast")
    assert rates.load()["a program"].step_seconds == 0.1


def test_what_was_timed_on_an_accelerator_is_no_rate_of_this_processor(tmp_path: Path) -> None:
    assert calibrate(Rates(Lab(tmp_path / "none"), [_run()]), [_run()], _Planted(on="gpu: A100")) == 0


def test_rates_of_many_runs_count_operations_once_for_each_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    monkeypatch.setattr(rates, "step_operations", lambda run: counted.append(run) or step_operations(run))
    lab = _lab(tmp_path, *((_run(T=T), 0.1) for T in range(8, 18)))
    unknown = [_run(seed, T=64) for seed in range(20)]
    known = Rates(lab, [*(_run(T=T) for T in range(8, 18)), *unknown])
    assert not counted
    assert len({known.seconds(run) for run in unknown}) == 1
    assert len(counted) <= 10 + 3 * len(unknown)


def test_without_runs_the_lab_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = _lab(tmp_path, (_run(), 0.1))
    monkeypatch.delattr(Lab, "query")
    assert Rates(lab, []).programs == []


def test_the_driver_of_a_sweep_does_not_start_jax(tmp_path: Path) -> None:
    """It would take the memory of a GPU, or a whole TPU, from its workers."""
    lab = _lab(tmp_path, (_run(0), 0.1))
    rates.save({program(_run(T=16)).name: Rate(0.5, 20, rates.kind(_run()), 1e6, "timed on this machine")})
    driver = """
import sys
from jax._src import xla_bridge
from daybreak.lab import Lab
from daybreak.lab.compute.rates import Rates, has_rates
from tests.lab.compute.test_rates import _run
runs = [_run(1), _run(1, T=16), _run(1, T=32)]
assert has_rates(lab := Lab(sys.argv[1]))
assert all(Rates(lab, runs).seconds(run) for run in runs)
assert not xla_bridge.backends_are_initialized()
"""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", driver, str(lab.path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_part_of_a_member_in_the_time_of_its_cohort(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one core three members take a second a step in turn; when the first is done, two are left. Compiling does not count."""
    clock = iter([100.0, 130.0, 150.0])
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(work, "at_once", lambda: 1)
    pace = work._Pace()
    for steps in ([0, 0, 5], [10, 10, 15], [10, 20, 25]):
        pace.see(steps)
    assert [pace.step_seconds(i) for i in range(3)] == [1.0, 1.0, 1.0]


def test_a_member_with_several_cores_says_nothing_of_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two members on two cores count; when one is done, the other uses both."""
    clock = iter([0.0, 20.0, 26.0])
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(work, "at_once", lambda: 2)
    pace = work._Pace()
    for steps in ([0, 0], [10, 10], [10, 20]):
        pace.see(steps)
    assert [pace.step_seconds(i) for i in range(2)] == [2.0, 2.0]


class _Planted:
    """An executor whose steps last a planted time for each operation, or whose workers raise."""

    memory, at_once = 1e9, 1

    def __init__(self, pace: float | None = 1e-9, workers: int = 2, on: str = ""):
        self.pace, self.workers, self.on, self.jobs, self._events = pace, workers, on or device(), [], []

    def open(self) -> None: ...

    def close(self) -> None: ...

    def kill(self, number: int) -> None: ...

    def interrupt(self, seconds: float) -> Iterator[Event]:
        return iter(())

    def submit(self, number: int, job: Job) -> None:
        (run,) = job.runs
        self.jobs.append(run)
        if self.pace is not None:
            seconds = self.pace * step_operations(run)
            self._events.append(Event(number, Finished(run.id, made.record(), 1.0, self.on, step_seconds=seconds)))
        self._events.append(Event(number, Ended(None if self.pace else "raised")))

    def events(self, timeout: float) -> Sequence[Event]:
        events, self._events = self._events, []
        return events


def test_programs_without_a_rate_are_timed_once(tmp_path: Path) -> None:
    runs, executor = [_run(seed) for seed in range(3)], _Planted()
    known = Rates(Lab(tmp_path / "none"), runs)
    assert calibrate(known, runs, executor) == 1
    assert len(executor.jobs) == executor.workers, "both are busy, as in a sweep"
    assert all(run.stop.budget <= 2_000 and run.stop.every <= 20 for run in executor.jobs)
    assert known.seconds(runs[0]) == pytest.approx(1_000 * step_operations(runs[0]) * 1e-9)
    again = Rates(Lab(tmp_path / "none"), runs)
    assert calibrate(again, runs, _Planted()) == 0
    assert again.seconds(runs[0]) == known.seconds(runs[0])


def test_few_programs_are_timed_and_those_far_apart(tmp_path: Path) -> None:
    lengths = [8, 9, 16, 32, 64, 128, 256, 512]
    runs, executor = [_run(T=T) for T in lengths], _Planted(workers=8)
    known = Rates(Lab(tmp_path / "none"), runs)
    assert calibrate(known, runs, executor) == MOST
    assert {8, 9} - {run.interface.length for run in executor.jobs}, "one of them is enough"
    for run in runs:
        assert known.seconds(run) == pytest.approx(1_000 * step_operations(run) * 1e-9)


def test_of_each_kind_one_program_is_timed_however_long_that_takes(tmp_path: Path) -> None:
    large = {"T": 256, "d": 64, "model": Transformer(layers=2, heads=4, width=256, head_width=64, mlp=1024)}
    runs = [made.run(**large), made.run(**large, precision="bfloat16"), made.run(**large | {"T": 1024})]
    executor = _Planted(workers=1)
    assert calibrate(Rates(Lab(tmp_path / "none"), runs), runs, executor) == 2
    assert {run.precision for run in executor.jobs} == {"float32", "bfloat16"}


def test_a_schedule_that_waits_for_its_level_is_timed_with_it(tmp_path: Path) -> None:
    run = Run(Recall(N=4, V=16, B=2), SMALL_CAUSAL, stop=Stop(level=0.5), schedule=Schedule("budget"))
    assert calibrate(Rates(Lab(tmp_path / "none"), [run]), [run], _Planted()) == 1


def test_where_nothing_can_be_timed_there_is_still_an_estimate(tmp_path: Path) -> None:
    known = Rates(Lab(tmp_path / "none"), [_run()])
    assert calibrate(known, [_run()], _Planted(pace=None)) == 0
    assert known.seconds(_run()) is None
    assert known.source(_run()) == "a product of matrices"
