"""Which rows of the index a condition in SQL picks out."""

import duckdb
import pyarrow as pa

from daybreak.errors import RequestError

# The condition is the user's own, but it may have come with a file: it must not read, write or change anything else.
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
        RequestError: it is not one expression, names an unknown column, or reaches for anything but the table.
    """
    with duckdb.connect(config=_SEALED) as database:
        try:
            return database.from_arrow(table).filter(where).to_arrow_table()
        except duckdb.Error as error:
            # DuckDB says what is wrong, then, after an empty line, where in a text that is not the user's.
            sentence = " ".join(str(error).partition("\n\n")[0].split())
            raise RequestError(f"where = {where!r} is not allowed: {sentence.rstrip('.!')}.") from None
