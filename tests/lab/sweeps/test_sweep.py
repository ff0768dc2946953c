"""Sweep files: what they mean, and one sentence with file and line for everything that is wrong with them."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.lab.sweeps import sweep
from daybreak.tasks import MarkovChain, Recall, SingleLocation
from daybreak.training import Run, from_json, to_json
from daybreak.training.presets import PRESETS

TOY = '[task]\nname = "single-location"\nT = 8\nd = 4\n[model]\nname = "toy"\n'


def _tasks(text: str) -> list[tuple[int, int]]:
    tasks = [run.task for run in sweep.runs(text)]
    assert all(isinstance(task, SingleLocation) for task in tasks)
    return [(task.T, task.d) for task in tasks]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_list_is_an_axis_and_the_last_one_turns_fastest() -> None:
    text = TOY.replace("T = 8", "T = [8, 16]").replace("d = 4", "d = [2, 4]")
    assert _tasks(text) == [(8, 2), (8, 4), (16, 2), (16, 4)]
    assert [run.seed for run in sweep.runs("seeds = 2\n" + TOY)] == [0, 1]
    assert [run.seed for run in sweep.runs("seeds = [7, 3]\n" + TOY)] == [7, 3]
    assert [run.batch for run in sweep.runs("batch = [8, 16]\n" + TOY)] == [8, 16]


def test_ranges_are_whole_where_settings_are() -> None:
    runs = sweep.runs(TOY.replace("T = 8", "T = { logspace = [4, 64, 5] }"))
    assert [run.task.interface.length for run in runs] == [4, 8, 16, 32, 64]
    runs = sweep.runs(TOY.replace("T = 8", "T = { range = [4, 8] }\np = { linspace = [0, 0.5, 3] }"))
    assert [(run.task.interface.length, run.task.p) for run in runs][:4] == [(4, 0.0), (4, 0.25), (4, 0.5), (5, 0.0)]  # pyright: ignore[reportAttributeAccessIssue]
    assert len(sweep.runs(TOY.replace("T = 8", "T = { logspace = [4, 6, 50] }"))) == 3, "each value once"


def test_where_leaves_out() -> None:
    text = TOY.replace("T = 8", "T = [8, 16]").replace("d = 4", "d = [4, 12]")
    assert _tasks('where = "d <= T"\n' + text) == [(8, 4), (16, 4), (16, 12)]
    assert _tasks('where = "task.T == 8 and model.scale == 0 and seed == 0 and d == 4"\n' + text) == [(8, 4)]


def test_an_expression_is_computed_for_each_run() -> None:
    text = TOY.replace("T = 8", "T = [8, 16]") + '[stop]\nevery = "budget / 10"\nbudget = "4 * 0.76 * d**1.29 * T**0.8"'
    assert [(run.stop.budget, run.stop.every) for run in sweep.runs(text)] == [
        (round(4 * 0.76 * 4**1.29 * T**0.8), round(round(4 * 0.76 * 4**1.29 * T**0.8) / 10)) for T in (8, 16)
    ]


def test_a_list_is_a_value_where_the_setting_is_one() -> None:
    text = '[task]\nname = "markov"\nL = 2\nweights = {}\n[model]\nname = "minimal"'
    assert [run.task.weights for run in sweep.runs(text.format("[0.7, 0.3]"))] == [(0.7, 0.3)]  # pyright: ignore[reportAttributeAccessIssue]
    two = sweep.runs(text.format("[[0.7, 0.3], [0.5, 0.5]]"))
    assert [run.task.weights for run in two] == [(0.7, 0.3), (0.5, 0.5)]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_preset_is_changed_by_what_follows() -> None:
    (run,) = sweep.runs('preset = "paper-a-regression"\n[task]\nT = 32')
    preset = PRESETS["paper-a-regression"]
    assert run == Run(
        SingleLocation(T=32, d=64), preset.model, preset.optimizer, preset.stop, 0, preset.batch, preset.evaluation
    )
    (run,) = sweep.runs('preset = "paper-b-minimal"\n[task]\nname = "recall"\nN = 4\n[model]\nepsilon = 0.1')
    assert run.task == Recall(N=4), "another task starts anew"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_sweep_of_its_own(name: str) -> None:
    assert sweep.runs(f'preset = "{name}"') == [PRESETS[name]]


def test_grids_share_what_stands_above_them() -> None:
    text = (
        'seeds = 2\n[model]\nname = "transformer"\nwidth = 16\n[[grid]]\n[grid.task]\nname = "single-location"\nd = 4\nT = [8, 16]\n'
        '[[grid]]\nseeds = 1\n[grid.task]\nname = "markov"\n[grid.model]\nlayers = 1'
    )
    runs = sweep.runs(text)
    assert [type(run.task) for run in runs] == [SingleLocation] * 4 + [MarkovChain]
    assert [(run.model.width, run.model.layers) for run in runs][3:] == [(16, 2), (16, 1)]  # pyright: ignore[reportAttributeAccessIssue]


def test_the_same_run_twice_is_one_run() -> None:
    assert len(sweep.runs(TOY + "[[grid]]\n[[grid]]\nseeds = 3")) == 3


def test_runs_of_a_sweep_survive_json() -> None:
    for run in sweep.runs(TOY + "[optimizer]\nlearning_rate = { logspace = [1e-5, 1e-3, 4] }"):
        assert from_json(to_json(run)).id == run.id


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = 2\nseeds = 3", "s.toml: Cannot overwrite a value (at the end, line 2)."),
        ("a = 1\nb = zwei\nc = 2", "s.toml: Invalid value (at line 2, column 5)."),
        ("T = ", "s.toml: Invalid value (at the end, line 1)."),
        (TOY + "x = [1,\n2", "Unclosed array (at the end, line 8)"),
        ("sedes = 3\n" + TOY, "s.toml, line 1: 'sedes' is unknown in a sweep: perhaps you meant 'seeds'."),
        (
            TOY + "[optimiser]\nname = 'sgd'",
            "s.toml, line 7: 'optimiser' is unknown in a sweep: perhaps you meant 'optimizer'.",
        ),
        (
            TOY + "[optimizer]\nlearning_rat = 1",
            "line 8: 'learning_rat' is unknown in [optimizer]: perhaps you meant 'learning_rate'",
        ),
        (TOY + "[[grid]]\n[grid.stop]\nbuget = 1", "line 9: 'buget' is unknown in [stop]: perhaps you meant 'budget'"),
        (
            TOY.replace("T = 8", "zzz = 8"),
            "line 3: 'zzz' is unknown in [task]: use one of T, d, B, p, position, feature",
        ),
        (TOY.replace("T = 8", "T = []"), "line 3: T = [] is not allowed: an axis needs at least one value"),
        (TOY.replace("T = 8", "T = true"), "line 3: T = True is not allowed: it must be a whole number"),
        (TOY.replace("T = 8", "T = 8.5"), "line 3: T = 8.5 is not allowed: it must be a whole number"),
        (TOY.replace("T = 8", "T = nan"), "line 3: T = nan is not allowed: it must be a whole number"),
        (TOY.replace("T = 8", "T = [[8]]"), "line 3: T = [8] is not allowed"),
        (TOY.replace("T = 8", "T = 1979-05-27"), "line 3: T = 1979-05-27 is not allowed"),
        (TOY.replace("T = 8", "p = inf"), "line 3: p = inf is not allowed: it must be a finite number"),
        (TOY.replace("T = 8", "feature = 'yes'"), "line 3: feature = 'yes' is not allowed: it must be true or false"),
        (TOY.replace("T = 8", "position = 3"), "line 3: position = 3 is not allowed: it must be a string"),
        (TOY.replace("T = 8", "T = 1"), "s.toml: T = 1 is not allowed: the sequence length must be at least 2."),
        (TOY.replace("T = 8", "T = { logspace = [0, 8, 2] }"), "logspace needs first, last and how many"),
        (TOY.replace("T = 8", "T = { logspace = [1, 8, 1e9] }"), "logspace needs first, last and how many"),
        (TOY.replace("T = 8", "T = { range = [0, 10, 0] }"), "range needs start, stop and step"),
        (TOY.replace("T = 8", "T = { range = [8, 4] }"), "range needs start, stop and step"),
        (TOY.replace("T = 8", "T = { steps = [8, 4] }"), "a range is one of logspace, linspace, range"),
        (
            TOY.replace("T = 8", 'T = "2 * dd"'),
            "line 3: expression '2 * dd' names 'dd', which is unknown: perhaps you meant 'd'",
        ),
        (
            TOY.replace("T = 8", 'T = "d == 4"'),
            "line 3: T = 'd == 4' is not allowed: it gives True, which is not a finite number",
        ),
        (
            TOY.replace("T = 8", 'T = "2 * T"'),
            "line 3: T = '2 * T' is not allowed: expressions depend on each other in a circle",
        ),
        (TOY.replace("T = 8", 'T = "1 / (d - 4)"'), "line 3: expression '1 / (d - 4)' cannot be computed at d = 4: "),
        (TOY.replace("T = 8", 'T = "open(1)"'), "line 3: expression 'open(1)' cannot be read at 'open(1)'"),
        ("where = 'd > T'\n" + TOY, "s.toml: where = 'd > T' leaves out all 1 runs."),
        ("where = 3\n" + TOY, "line 1: where = 3 is not allowed: it must be a string"),
        ("seeds = 0\n" + TOY, "line 1: seeds = 0 is not allowed: it must be at least 1, or a list of seeds"),
        ("seeds = 1.5\n" + TOY, "line 1: seed = 1.5 is not allowed"),
        ("seeds = 1_000_000_000\n" + TOY, "a sweep of 1,000,000,000 runs is too large: at most 1,000,000 are allowed."),
        (
            "seeds = 1000\n" + TOY.replace("T = 8", "T = {range=[2,1002]}\nB={linspace=[1,2,1000]}"),
            "of 1,000,000,000 runs is too large",
        ),
        ("preset = 'paper-c'\n", "line 1: 'paper-c' is unknown in 'preset': perhaps you meant 'paper-"),
        ("task = 3\n", "line 1: task = 3 is not allowed: it must be a table"),
        ("grid = 3\n" + TOY, "line 1: 'grid' must be written [[grid]]"),
        ("", "[task] needs a name (single-location, recall, markov, text), or the sweep a preset (paper-a-regression"),
        (TOY.replace('"toy"', '["toy", "minimal"]'), "line 6: name = ['toy', 'minimal'] is not allowed"),
        (TOY.replace('"toy"', '"tory"'), "line 6: model 'tory' is unknown: perhaps you meant 'toy'."),
        ("[" * 2000, "s.toml: "),
    ],
)
def test_a_bad_file_is_one_sentence(text: str, message: str, as_a_user) -> None:
    with pytest.raises(RequestError) as refusal:
        sweep.runs(text, "s.toml")
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("s.toml")
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


@given(st.text(max_size=60), st.sampled_from(["[task]", "[stop]", ""]))
def test_rubbish_never_escapes(text: str, section: str) -> None:
    for page in (text, f"{TOY}\n{section}\n{text}"):
        with contextlib.suppress(RequestError):
            sweep.runs(page)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes("# é".encode("latin-1"))
    for name, message in (
        ("none.toml", "No such file"),
        ("latin.toml", "it is not UTF-8 text"),
        (".", "it is a folder"),
    ):
        with pytest.raises(RequestError, match=message):
            sweep.read(tmp_path / name)


def test_a_condition_must_be_true_or_false() -> None:
    text = 'where = "T"\n[task]\nname = "single-location"\nT = [4, 8]\n[model]\nname = "toy"\n'
    with pytest.raises(RequestError, match="line 1: where = 'T' is not allowed: it gives 4, not true or false"):
        sweep.runs(text)
