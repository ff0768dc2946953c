"""The index is what the folders say, however it came about, and columns have the names that people use."""

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from daybreak import measure
from daybreak.errors import RequestError
from daybreak.lab import Lab, index, result
from daybreak.lab._files import sha256
from daybreak.lab.index import SHARED
from daybreak.lab.query import select
from daybreak.lab.reading.expected import expected_steps
from daybreak.models import MODELS
from daybreak.tasks import TASKS, SingleLocation
from daybreak.training import Optimizer, Run, Stop, canonical
from tests.lab import made


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab").open()


def _anew(lab: Lab) -> pa.Table:
    """The index of a copy that has none."""
    copy = Lab(lab.path.with_name("copy"))
    shutil.rmtree(copy.path, ignore_errors=True)
    shutil.copytree(lab.path / "runs", copy.path / "runs")
    return copy.query()


def test_columns_are_those_a_person_would_name(lab: Lab) -> None:
    lab.save(made.run(seed=3, T=128, d=32), made.record(300.0), **made.SOURCE)
    (row,) = lab.query().to_pylist()
    expected = {"task": "single-location", "model": "transformer", "optimizer": "adam", "T": 128, "d": 32, "B": 1.0}
    expected |= {"seed": 3, "layers": 2, "learning_rate": 1e-4, "budget": 10_000, "batch": 32, "model_weights": "torch"}
    expected |= {"outcome": "emerged", "censored": False, "plateau_low": 340.0, "plateau_high": 360.0, "last_step": 780}
    assert {name: row[name] for name in expected} == expected
    assert 340 < row["plateau"] < 360
    assert row["final_clean_loss"] < 1e-6
    assert next(iter(row)) == "id"
    assert "stamp" not in row


def test_a_row_contains_the_result_of_its_document(lab: Lab) -> None:
    """Also of runs that failed, diverged or did not emerge."""
    made.fill(lab, 2)
    lab.save(made.recall(), made.record(accuracy=True, outcome="censored"), **made.SOURCE)
    lab.save_failure(made.run(9), "broken", **made.SOURCE)
    lost = made.record(outcome="diverged")
    lost.curves["clean_loss"][-1] = float("nan")
    lab.save(made.run(8), lost, **made.SOURCE)
    results = lab.results()
    assert len(results) == 5
    assert results == [lab.load(x.id).result for x in results]


def test_no_two_parts_of_any_run_share_a_column() -> None:
    """SQL does not tell upper from lower case either."""
    tasks, models = (
        {name for kind in kinds.values() for name in kind.__dataclass_fields__} for kinds in (TASKS, MODELS)
    )
    parts = [tasks, models, set(Optimizer.__dataclass_fields__) - {"name"}, set(Stop.__dataclass_fields__)]
    own = {"id", "task", "model", "optimizer", "batch", "evaluation", "seed", "outcome", "plateau", "censored"}
    names = [name.lower() for part in (*parts, own) for name in part if name not in SHARED]
    assert sorted(names) == sorted(set(names))
    assert tasks & models == SHARED


def test_it_follows_the_folders(lab: Lab) -> None:
    assert lab.query().num_rows == 0
    runs = made.fill(lab, 3)
    assert lab.query().equals(_anew(lab))
    lab.save(made.recall(), made.record(accuracy=True), **made.SOURCE)  # brings columns of its own
    lab.save_failure(made.run(9), "broken", **made.SOURCE)
    assert lab.query().num_rows == 5
    assert sorted(lab.query().to_pylist(), key=str) == sorted(_anew(lab).to_pylist(), key=str)
    shutil.rmtree(lab.path / "runs" / runs[0].id)
    assert runs[0].id not in lab.query()["id"].to_pylist()
    lab.save(made.run(9), made.record(), **made.SOURCE)
    assert lab.query("seed = 9")["outcome"].to_pylist() == ["emerged"]


def test_saving_does_not_touch_it_and_reading_twice_writes_it_once(lab: Lab) -> None:
    made.fill(lab, 2)
    assert not (lab.path / "index.parquet").exists()
    lab.query()
    before = (lab.path / "index.parquet").stat()
    lab.query()
    lab.save(made.run(5), made.record(), **made.SOURCE)
    assert (lab.path / "index.parquet").stat() == before
    assert lab.query().num_rows == 3
    assert (lab.path / "index.parquet").stat() != before


def test_only_new_folders_are_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    made.fill(lab, 3)
    lab.query()
    opened = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: (opened.append(self.parent.name), read_bytes(self))[1])
    reader = Lab(lab.path)
    reader.query()
    assert set(opened) == {lab.path.name}, "the index"
    lab.save(made.run(7), made.record(), **made.SOURCE)
    opened.clear()
    assert reader.query().num_rows == 4
    assert set(opened) == {made.run(7).id}
    opened.clear()
    reader.query()
    assert not opened, "a reader remembers what it has read"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = Lab(tmp_path_factory.mktemp("index") / "lab")
    made.fill(lab, 2)
    lab.close()
    return lab


@settings(max_examples=60)
@given(st.sampled_from(["cut", "flip", "remove"]), st.integers(0, 10**6))
def test_broken_it_is_made_anew_in_memory_by_readers_and_on_disk_by_the_writer(
    indexed: Lab, how: str, place: int
) -> None:
    file = indexed.path / "index.parquet"
    whole, good = indexed.query(), file.read_bytes()
    made.harm(file, how, place)
    broken = file.read_bytes() if file.exists() else None
    assert Lab(indexed.path).query().equals(whole)
    assert (file.read_bytes() if file.exists() else None) == broken
    writer = Lab(indexed.path).open()
    assert writer.query().equals(whole)
    assert file.read_bytes() == good


def test_one_that_is_replaced_while_it_is_read_is_the_old_or_the_new(lab: Lab) -> None:
    """The digest is in the file: no moment at which an index and its digest belong to different runs."""
    made.fill(lab, 1)
    lab.query()
    first = (lab.path / "index.parquet").read_bytes()
    lab.save(made.run(1), made.record(), **made.SOURCE)
    lab.query()
    second = (lab.path / "index.parquet").read_bytes()
    assert first != second
    assert sorted(x.name for x in lab.path.iterdir() if x.is_file()) == ["daybreak-lab.json", "index.parquet"]
    for content, count in ((first, 1), (second, 2)):
        (lab.path / "index.parquet").write_bytes(content)
        assert index._load(lab.path).num_rows == count
    assert parquet.read_table(lab.path / "index.parquet").num_rows == 2, "other tools read it too"


@pytest.mark.parametrize("jump", [-(10**18), 10**18])
def test_a_clock_that_jumps_does_not_matter(lab: Lab, jump: int) -> None:
    runs = made.fill(lab, 3)
    before = lab.query()
    for path in [lab.path / "index.parquet", *(lab.path / "runs" / runs[0].id).iterdir()]:
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + jump))
    assert lab.query().equals(before)
    lab.save_failure(made.run(8), "broken", **made.SOURCE)
    assert lab.query("seed = 8")["outcome"].to_pylist() == ["failed"]
    stamp = (lab.path / "runs" / made.run(8).id / "result.json").stat()
    lab.save(made.run(8), made.record(), **made.SOURCE)
    os.utime(lab.path / "runs" / made.run(8).id / "result.json", ns=(stamp.st_atime_ns, stamp.st_mtime_ns + jump))
    assert lab.query("seed = 8")["outcome"].to_pylist() == ["emerged"]


def test_a_setting_may_be_a_number_in_one_run_and_whole_in_another(lab: Lab) -> None:
    lab.save(made.run(optimizer=Optimizer(learning_rate=1)), made.record(), **made.SOURCE)
    lab.query()
    lab.save(made.run(optimizer=Optimizer(learning_rate=0.5)), made.record(), **made.SOURCE)
    assert sorted(lab.query()["learning_rate"].to_pylist()) == [0.5, 1.0]


def test_laws_are_fitted_to_it(lab: Lab) -> None:
    """A planted law comes back; a failed run has no plateau and does not count."""
    for T in (64, 128, 256):
        for d in (16, 64):
            run = Run(SingleLocation(T=T, d=d), made.run().model, stop=Stop(level=0.5))
            lab.save(run, made.record(0.2 * d**0.5 * T, count=60), **made.SOURCE)
    lab.save_failure(made.run(T=512), "broken", **made.SOURCE)
    law = measure.fit_law("C * d**a * T**b", lab.columns("outcome <> 'censored'"), censored="censored")
    assert law.rows == 6
    assert law.coefficients["a"] == pytest.approx(0.5, abs=0.01)
    assert law.coefficients["b"] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("task = 'recall'", 1),
        ("T = 64 and seed < 2", 2),
        ("outcome = 'emerged' and plateau between 250 and 320", 2),
        ("N IS NULL", 3),
        ("device LIKE '%test%' or false", 4),
        ("position = 'random' and every = 20 and level < 0.2 and time is not null", 3),
        ("seed = (select max(seed) from (select 2 as seed))", 1),
    ],
)
def test_conditions_in_sql(lab: Lab, where: str, count: int) -> None:
    made.fill(lab, 3)
    lab.save(made.recall(seed=9), made.record(accuracy=True), **made.SOURCE)
    assert lab.query(where).num_rows == count


@pytest.mark.parametrize(
    "where",
    [
        "",
        "T =",
        "nonsense = 1",
        "true; drop table runs",
        "true) union select * from runs --",
        "T = 64, d = 16",
        "T = 64 order by d",
        "(select count(*) from read_csv('/etc/passwd')) > 0",
        "(select count(*) from '/etc/passwd') > 0",
        "(select count(*) from glob('/*')) > 0",
        "(select count(*) from secret) > 0",
        "task",
    ],
)
def test_what_is_not_a_condition_on_runs_is_refused_in_one_sentence(lab: Lab, where: str) -> None:
    secret = pa.table({"a": [1]})  # a variable that DuckDB must not find
    made.fill(lab, 1)
    with pytest.raises(RequestError, match="is not allowed") as refused:
        lab.query(where)
    assert "\n" not in str(refused.value)
    del secret


def test_columns_that_differ_in_case_only_are_not_confused() -> None:
    """Two tasks of somebody's own may have such fields; DuckDB would silently take the first."""
    table = pa.table({"id": ["a", "b"], "q": [1, None], "Q": [None, 5], "T": [4, 4]})
    assert select(table, "T = 4").equals(table)
    with pytest.raises(RequestError, match="SQL does not tell the columns q and Q apart"):
        select(table, "Q = 5")


def test_a_run_with_a_number_of_more_than_64_bits_does_not_hide_the_others(lab: Lab) -> None:
    """Version 0.1.0 could store such a seed, and then no command could read the lab."""
    made.fill(lab, 3)
    asked = json.loads(canonical(made.run())) | {"seed": 99999999999999999999}
    run = json.dumps(asked, sort_keys=True, separators=(",", ":")).encode()
    name = sha256(run)[:16]
    document = {"schema": 1, "id": name, **result.failure("OverflowError"), "files": {"run.json": sha256(run)}}
    document["provenance"] = {"seconds": 0.0}
    (lab.path / "runs" / name).mkdir()
    (lab.path / "runs" / name / "run.json").write_bytes(run)
    (lab.path / "runs" / name / "result.json").write_bytes(result.seal(document))
    table = Lab(lab.path).query()
    assert table.num_rows == 4
    assert "99999999999999999999" in table["seed"].to_pylist()
    assert len(lab.results()) == 4


def test_a_precision_of_a_newer_version_is_text(lab: Lab) -> None:
    lab.save(made.run(), made.record(), **made.SOURCE)
    newer = json.loads(canonical(made.run(1))) | {"precision": {"weights": "float32", "factors": "fp8"}}
    made.store(lab, newer, made.record().curves)
    assert set(lab.query()["precision"].to_pylist()) == {"float32", '{"factors": "fp8", "weights": "float32"}'}
    assert expected_steps(lab, [made.run(2)]).source == "runs of this kind in the lab"
