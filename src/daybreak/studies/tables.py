"""Tables of results as files: Parquet for programs, CSV to read."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from daybreak.errors import WorkError
from daybreak.studies._study import Table, Tables


def write(folder: Path, name: str, table: Table) -> None:
    """Write a table in both formats, each first under another name and then moved into place."""
    arrow = pa.table(dict(table))
    for suffix, save in ((".parquet", parquet.write_table), (".csv", csv.write_csv)):
        part = folder / f".{name}.part"
        save(arrow, part)
        part.replace(folder / f"{name}{suffix}")


def read(path: Path) -> Table:
    """A table from its Parquet file, of the types it had.

    Raises:
        WorkError: if the file is not a table.
    """
    try:
        arrow = parquet.read_table(path)
    except (OSError, pa.ArrowInvalid):
        raise WorkError(f"{path} is not what a study writes: delete it, and reproduce the figure again.") from None
    columns = {name: arrow[name].to_numpy() for name in arrow.column_names}
    return {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}


def read_all(folder: Path) -> Tables:
    """The tables in a folder by their names; none if there is no such folder."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.parquet"))}


def ids(folder: Path) -> set[str] | None:
    """The runs that the tables in a folder name; None if none of them names any, or if one cannot be read."""
    found: set[str] | None = None
    try:
        for path in folder.glob("*.parquet"):
            if "id" in parquet.read_schema(path).names:
                found = (found or set()) | set(parquet.read_table(path, columns=["id"])["id"].to_pylist())
    except (OSError, pa.ArrowInvalid):
        return None
    return found
