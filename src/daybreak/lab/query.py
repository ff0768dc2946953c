"""Select rows of the index by a condition in SQL."""

import re
from collections import Counter
from threading import Timer

import duckdb
import pyarrow as pa

from daybreak.errors import RequestError, nearest

LONGEST = 3.0
"""Seconds that a condition may take; one over the settings of 100 000 runs takes less than one."""
_UNKNOWN = re.compile(r'Referenced column "(.+?)" (?:was )?not found', re.DOTALL)

# The condition may come from a file of another person: it must not read, write or change anything else.
_SEALED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
    "threads": "1",
    "memory_limit": "1GB",
    "temp_directory": "",
}


def select(table: pa.Table, where: str) -> pa.Table:
    """The rows of a table for which a single SQL expression is true.

    Raises:
        RequestError: it is not one expression, names an unknown column, or reads anything but the table.
    """
    _check_cases(table, where)
    with duckdb.connect(config=_SEALED) as database:
        timer = Timer(LONGEST, database.interrupt)
        timer.start()
        try:
            return database.from_arrow(table).filter(where).to_arrow_table().rename_columns(table.column_names)
        except duckdb.InterruptException:
            why = f"it takes longer than {LONGEST:g} seconds"
        except duckdb.Error as error:
            why = _why(str(error), table.column_names)
        finally:
            timer.cancel()
            timer.join()  # it must not interrupt a database that is closed
    raise RequestError(f"where = {where!r} is not allowed: {why}.")


def _why(message: str, columns: list[str]) -> str:
    """What is wrong with a condition: an unknown column, or else DuckDB's own first sentence."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        # DuckDB's message: what is wrong, an empty line, then the place in a text that the user did not write.
        first = " ".join(message.partition("\n\n")[0].split())
        return re.sub(r"""^[\w ]+ Error: | Did you mean "[^"]*"\?$""", "", first).rstrip(".!")
    near = nearest(unknown[1], columns)
    hint = f"perhaps you meant {near!r}" if near else f"a text has single quotes, and there are {', '.join(columns)}"
    return f"there is no column {unknown[1]!r}; {hint}"


def _check_cases(table: pa.Table, where: str) -> None:
    """Refuse a name that is two columns to SQL, such as q and Q of two tasks of somebody's own."""
    counts = Counter(name.lower() for name in table.column_names)
    for name in re.findall(r"\w+", where):
        if counts[name.lower()] > 1:
            both = " and ".join(x for x in table.column_names if x.lower() == name.lower())
            raise RequestError(f"where = {where!r} is not allowed: SQL does not tell the columns {both} apart.")
