"""Tables come back from their files as they were."""

from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv

from daybreak.errors import WorkError
from daybreak.studies import tables


def test_what_is_written_is_read(tmp_path: Path) -> None:
    table = {
        "name": np.array(["a, b", "β"]),
        "count": np.array([1, 2]),
        "loss": np.array([0.1, 0.2], np.float32),
        "came": np.array([True, False]),
    }
    tables.write(tmp_path, "few", table)
    read = tables.read(tmp_path / "few.parquet")
    assert read.keys() == table.keys()
    for name, column in table.items():
        assert read[name].dtype.kind == column.dtype.kind
        assert np.array_equal(read[name], column)
    assert csv.read_csv(tmp_path / "few.csv")["name"].to_pylist() == ["a, b", "β"]
    assert sorted(x.name for x in tmp_path.iterdir()) == ["few.csv", "few.parquet"], "nothing half-written is left"


def test_what_is_no_table_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(WorkError, match="parquet is not what a study writes"):
        tables.read(tmp_path / "bad.parquet")
