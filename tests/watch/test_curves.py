"""Curves from files: every format gives the same rows; what is wrong is a sentence that names the columns."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.lab import Lab, curves, observed
from daybreak.lab.reading.columns import matching, outlook_of
from daybreak.measure import Forecast
from daybreak.watch.curves import NoRowsError, is_curves, read
from daybreak.watch.importing import curve_names, import_file
from tests.watch import made


@pytest.mark.parametrize("name", made.FORMATS)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    path = made.FORMATS[name](tmp_path / name)
    assert is_curves(path)
    given_columns, found = made.columns(), read(path)
    assert (found.step, found.notes) == ("step", ())
    np.testing.assert_array_equal(found.steps, given_columns.pop("step"))
    assert found.columns.keys() == given_columns.keys()
    for column, values in given_columns.items():
        np.testing.assert_allclose(found.columns[column], values, rtol=1e-6)


@pytest.mark.parametrize("name", made.FORMATS)
def test_the_forecast_at_half_of_the_plateau_holds_the_planted_step(tmp_path: Path, name: str) -> None:
    found = read(made.FORMATS[name](tmp_path / name))
    view = outlook_of(found.steps, found.columns, value="loss", level=1.0, probe="induction")
    assert (view.direction, view.attention.shape) == ("down", (51, 2))
    assert view.truth is not None
    assert view.truth.length == pytest.approx(made.TRUTH, abs=1)
    forecast = view.at(330)
    assert isinstance(forecast, Forecast)
    assert forecast.interval.low < made.TRUTH < forecast.interval.high
    blind = outlook_of(found.steps, found.columns, value="loss", level=1.0)
    assert not isinstance(blind.at(330), Forecast), "the loss is flat: only attention knows"


ROWS = st.lists(
    st.tuples(st.integers(0, 30), st.one_of(st.none(), st.floats(-1e6, 1e6)), st.one_of(st.none(), st.floats(0, 1))),
    min_size=1,
    max_size=30,
)


def _expected(rows: list[tuple]) -> dict[int, list]:
    """A row that goes back removes those after it; of a table that is sorted downwards, none is removed."""
    kept: dict[int, list] = {}
    downwards = all(b[0] <= a[0] for a, b in pairwise(rows))
    for step, *values in rows:
        if not downwards:
            kept = {x: y for x, y in kept.items() if x <= step}
        old = kept.get(step, [None, None])
        kept[step] = [y if x is None else x for x, y in zip(values, old, strict=True)]
    return {step: x for step, x in sorted(kept.items()) if x != [None, None]}


@given(ROWS, st.sampled_from(["csv", "jsonl"]))
def test_rows_in_are_rows_out_also_if_training_went_back(tmp_path_factory, rows, suffix: str) -> None:
    path = tmp_path_factory.mktemp("rows") / f"a.{suffix}"
    if suffix == "csv":
        lines = [",".join("" if x is None else repr(x) for x in row) for row in rows]
        path.write_text("\n".join(["step,loss,probe", *lines]))
    else:
        path.write_text("\n".join(json.dumps({"step": s, "loss": a, "probe": b}) for s, a, b in rows))
    expected = _expected(rows)
    if not expected:
        with pytest.raises(NoRowsError):
            read(path)
        return
    found = read(path)
    assert found.steps.tolist() == [*expected]
    for i, name in enumerate(["loss", "probe"]):
        values = [np.nan if x[i] is None else x[i] for x in expected.values()]
        np.testing.assert_array_equal(found.columns[name], values)


@given(st.integers(0, 3000))
def test_a_file_that_is_cut_anywhere_while_it_grows_has_its_first_rows(tmp_path_factory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole = read(made.jsonl(folder / "whole.jsonl"))
    for name in ("a.csv", "a.jsonl"):
        path = made.FORMATS[name](folder / name)
        path.write_bytes(path.read_bytes()[:cut])
        try:
            part = read(path, growing=True)
        except NoRowsError:
            assert path.read_bytes().count(b"\n") < 2
            continue
        np.testing.assert_array_equal(part.steps, whole.steps[: part.steps.size])
        for column, values in part.columns.items():
            np.testing.assert_array_equal(values, whole.columns[column][: values.size])


def test_rows_of_an_earlier_attempt_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Step;loss\n0;3\n10;2\n20;1\n30;0.5\n10;2.5\n20;2.4\n")
    found = read(tmp_path / "a.csv")
    assert (found.step, found.steps.tolist()) == ("Step", [0, 10, 20])
    assert found.columns["loss"].tolist() == [3, 2.5, 2.4]
    assert found.notes == ("2 rows were left out: training went back to an earlier step, and wrote later ones again.",)


def test_nested_objects_lists_and_odd_tables_are_read(tmp_path: Path) -> None:
    lines = [{"_step": i, "eval": {"loss": 3.0 - i}, "heads": [[0.1, 0.2]], "note": "x", "ok": True} for i in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(x) for x in lines) + '\n{"_step": 3, "ev')
    found = read(tmp_path / "a.jsonl")
    assert found.steps.tolist() == [0, 1, 2]
    assert [*found.columns] == ["eval/loss", "heads_1_1", "heads_1_2", "ok"]
    (tmp_path / "b.json").write_text(json.dumps({"iteration": [1, 2], "loss": [3, None]}))
    assert read(tmp_path / "b.json").columns["loss"].tolist() == [3]
    (tmp_path / "c.csv").write_bytes(
        b'\xef\xbb\xbf"Wall time","Step","Value"\n1.5,0,3\n1.6,10,NaN\n1.7,20,1\nbroken\n1.8,30,x\n'
    )
    assert read(tmp_path / "c.csv").columns["Value"].tolist() == pytest.approx([3, np.nan, 1, np.nan], nan_ok=True)


def test_the_rows_of_an_observed_run_are_a_file_too(tmp_path: Path) -> None:
    run = observed.ObservedRun.begin(tmp_path / "lab", "x", {})
    for step in range(5):
        run.append(step, {"loss": step, "induction": [[0.5, 0.25]]})
    observed.ObservedRun.resume(tmp_path / "lab", run.id, 2).append(3, {"loss": 30})
    found = read(tmp_path / "lab" / "runs" / run.id / "observed.jsonl")
    assert found.columns["loss"].tolist() == [0, 1, 2, 30]


def test_long_tables_of_several_runs_name_the_run(tmp_path: Path) -> None:
    text = "id,step,curve,value\na,0,loss,3\na,1,loss,2\nb,0,loss,5\n"
    (tmp_path / "a.csv").write_text(text)
    assert [*read(tmp_path / "a.csv").columns] == ["a/loss", "b/loss"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "", "it is empty"),
        ("a.csv", "loss,lr\n1,2\n", "has no column 'step': name it with --step; there are loss, lr"),
        ("a.csv", "step,loss\n", "has no row with a step and a number; its columns are step, loss"),
        ("a.csv", "step,loss\n0.5,1\n", "'step' of"),
        ("a.csv", "step,loss\nfirst,1\n", "it contains 'first'"),
        ("a.csv", "step,loss\n-1,1\n", "it contains -1"),
        ("a.jsonl", "hello\n", "line 1 is no JSON"),
        ("a.csv", "st\x01ep,loss\n0,1\n", "it is not a text file"),
        ("a.json", "3", "a list of objects"),
        ("a.json", "{", "cannot be read as json"),
        ("a.parquet", "PAR1", "cannot be read as parquet"),
        ("a.txt", "step,loss\n0,1\n", "must end in .csv, .tsv, .jsonl"),
        ("tfevents", "x" * 100, "is damaged at byte 0"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(RequestError) as caught:
        read(tmp_path / name)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_tables_as_spreadsheets_write_them(tmp_path: Path, encoding: str) -> None:
    """With semicolons, decimals have a comma or a point; PowerShell writes UTF-16."""
    text = "step;loss;train loss;note\n0;2,5;1.5;é\n10;2;1;b\n"
    (tmp_path / "a.csv").write_bytes(b"\xfe\xff" * (encoding == "utf-16-be") + text.encode(encoding))
    found = read(tmp_path / "a.csv")
    assert {name: x.tolist() for name, x in found.columns.items()} == {"loss": [2.5, 2.0], "train loss": [1.5, 1.0]}


def test_another_step_column_and_other_paths(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("tokens,loss\n0,3\n100,2\n")
    assert read(tmp_path / "a.csv", "tokens").steps.tolist() == [0, 100]
    with pytest.raises(RequestError, match="perhaps you meant 'tokens'"):
        read(tmp_path / "a.csv", "token")
    with pytest.raises(RequestError, match="no event files"):
        read(tmp_path)
    with pytest.raises(RequestError, match="does not exist"):
        read(tmp_path / "b.csv")
    assert not is_curves(tmp_path)
    assert not is_curves(tmp_path / ("x" * 300))


def test_names_mean_columns_heads_patterns_or_endings() -> None:
    names = ["train/loss", "val/acc", "induction/layer0/head1", "induction/layer0/head2", "x_1", "x_2", "a/b", "c/b"]
    assert matching("value", "loss", names) == ["train/loss"]
    assert matching("probe", "induction", names) == names[2:4]
    assert matching("probe", "ind*", names) == names[2:4]
    assert matching("probe", "x", names) == ["x_1", "x_2"]
    with pytest.raises(RequestError, match="it may be 'a/b' or 'c/b'"):
        matching("value", "b", names)
    with pytest.raises(RequestError, match="perhaps you meant 'val/acc'"):
        matching("value", "val/ac", names)


def test_an_imported_file_is_a_run_once(tmp_path: Path) -> None:
    lab, file = tmp_path / "lab", read(made.csv(tmp_path / "a.csv"))
    first = import_file(lab, file, settings={"context": 64}, value="loss", level=1.0)
    assert first.new
    before = {x: x.read_bytes() for x in lab.rglob("*") if x.is_file()}
    assert import_file(lab, file, settings={"context": 64}, value="loss", level=1.0) == first._replace(new=False)
    assert {x: x.read_bytes() for x in lab.rglob("*") if x.is_file()} == before
    assert import_file(lab, file, settings={"context": 65}, value="loss", level=1.0).id != first.id
    (row,) = Lab(lab).query("context = 64").to_pylist()
    assert (row["outcome"], row["name"], row["curve"]) == ("emerged", "a", "train_loss")
    assert row["plateau"] == pytest.approx(made.TRUTH, abs=1)
    record = Lab(lab).load(first.id).record
    assert record is not None
    assert record.curves["induction"].shape == (101, 1, 2)


def test_an_import_that_was_killed_is_done_again(tmp_path: Path) -> None:
    lab, file = tmp_path / "lab", read(made.csv(tmp_path / "a.csv"))
    first = import_file(lab, file, settings={}, value="induction", level=0.5)
    folder = lab / "runs" / first.id
    (folder / "result.json").unlink()
    (folder / "curves.parquet").unlink()
    (folder / "observed.jsonl").write_bytes((folder / "observed.jsonl").read_bytes()[:500])
    assert import_file(lab, file, settings={}, value="induction", level=0.5) == first
    saved = Lab(lab).load(first.id)
    assert saved.record is not None
    assert saved.record.steps.size == 101
    assert saved.result.plateau is not None
    assert saved.result.plateau.length == pytest.approx(made.TAKEOFF, rel=0.05)


@given(st.lists(st.text(max_size=12), unique=True, min_size=1, max_size=12))
def test_any_names_of_columns_become_different_names_of_curves(columns: list[str]) -> None:
    names = curve_names(columns)
    assert [*names] == columns
    assert len({*names.values()}) == len(columns)
    arrays = curves.joined({x: np.zeros(2, np.float32) for x in names.values()})
    curves.encode(np.arange(2), arrays)
    assert curves.columns(np.arange(2), arrays).keys() == {"step", *names.values()}
