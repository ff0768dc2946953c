"""Select rows of the index by a condition in SQL."""

import re
from collections import Counter

import duckdb
import pyarrow as pa

from daybreak.errors import RequestError

# The condition may come from a file of another person: it must not read, write or change anything else.
_SEALED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
    "threads": "1",
}


def select(table: pa.Table, where: str) -> pa.Table:
    """The rows of a table for which a single SQL expression is true.

    Raises:
        RequestError: it is not one expression, names an unknown column, or reads anything but the table.
    """
    _check_cases(table, where)
    with duckdb.connect(config=_SEALED) as database:
        try:
            return database.from_arrow(table).filter(where).to_arrow_table().rename_columns(table.column_names)
        except duckdb.Error as error:
            # DuckDB's message: what is wrong, an empty line, then the place in a text that the user did not write.
            sentence = " ".join(str(error).partition("\n\n")[0].split())
            raise RequestError(f"where = {where!r} is not allowed: {sentence.rstrip('.!')}.") from None


def _check_cases(table: pa.Table, where: str) -> None:
    """Refuse a name that is two columns to SQL, such as q and Q of two tasks of somebody's own."""
    counts = Counter(name.lower() for name in table.column_names)
    for name in re.findall(r"\w+", where):
        if counts[name.lower()] > 1:
            both = " and ".join(x for x in table.column_names if x.lower() == name.lower())
            raise RequestError(f"where = {where!r} is not allowed: SQL does not tell the columns {both} apart.")
