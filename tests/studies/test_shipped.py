"""The results that come with the package: in a wheel they are all that `advise` and the page know."""

import json
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder
from pyarrow import parquet

from daybreak.explorer.fit_tables import reads
from daybreak.studies.results import read_every_scale, shipped

ROOT = Path(__file__).parents[2]
PLACE = "daybreak/_results/"


def test_a_wheel_has_every_claim_picture_and_table_of_a_law_and_little_else() -> None:
    files = {x.distribution_path: Path(x.path) for x in WheelBuilder(str(ROOT)).recurse_included_files()}
    results = {name.removeprefix(PLACE): path for name, path in files.items() if name.startswith(PLACE)}
    assert "daybreak/studies/results.py" in files
    assert not [name for name in files if not name.startswith("daybreak/")]
    committed = read_every_scale(ROOT / "results")
    assert committed
    for place, study in committed.items():
        assert {f"{place}/claims.json", f"{place}/figure.png"} <= results.keys()
        forms = [law["form"] for law in json.loads((study.folder / "claims.json").read_text())["laws"].values()]
        for table, path in study.tables.items():
            columns = parquet.read_schema(path).names
            if any(reads(form, columns) for form in forms) and not table.startswith("curve"):
                assert f"{place}/{table}.parquet" in results
    assert "emergence/schedules/laptop/times.parquet" in results
    assert sum(path.stat().st_size for path in results.values()) < 8e6


def test_the_results_of_the_repository_are_found_where_no_wheel_was_installed() -> None:
    assert shipped() == ROOT / "results"
    assert "emergence/fig3/laptop" in read_every_scale(shipped())
