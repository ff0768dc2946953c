"""An observed run: a run that something else trained, written to a lab while it trains.

    LAB/runs/<id>/run.json         its name, when it started, what counts as emerged, and settings; its digest begins with <id>
                  observed.jsonl   one line per row, see `daybreak.lab.rows`; stays when the run is finished, so that it can go on
                  curves.parquet, result.json   as of every run that is done, once it is finished
                  observed.part    a file being written

Nothing else in the lab is written, and no lock is taken: any number of programs may observe into one lab while a sweep trains there.
Neither PyTorch nor JAX is needed.
"""

import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from daybreak.errors import RequestError
from daybreak.lab import _files, curves, result, rows
from daybreak.lab._folder import CURVES, PART, RESULT, RUN
from daybreak.lab._marker import MARKER, check_lab, is_id, is_lab
from daybreak.lab._settings import OBSERVED
from daybreak.lab.criterion import Direction, criterion
from daybreak.lab.curves import Curves
from daybreak.lab.provenance import provenance

_ENDS = ("emerged", "completed", "censored", "diverged")
_MOST = 2**53  # steps; JSON of other programs has no larger whole numbers
_PLAIN = (str, bool, int, float, type(None))


def described(
    name: str,
    settings: Mapping[str, Any],
    *,
    curve: str = "loss",
    level: float = 0.0,
    direction: Direction = "down",
    id: str | None = None,  # noqa: A002
) -> dict[str, Any]:
    """What `run.json` of an observed run contains, checked; see `ObservedRun.begin`."""
    about = _about(name, curve, level, direction)
    start = {"started": datetime.now(UTC).isoformat()} if id is None else {"key": id}
    return {"schema": 1, OBSERVED: about | start, "settings": _checked_settings(settings)}


def observed_id(settings: Mapping[str, Any]) -> str | None:
    """The id of an observed run; None of other runs."""
    return _files.sha256(_canonical(settings))[:16] if isinstance(settings.get(OBSERVED), dict) else None


def _canonical(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@final
class ObservedRun:
    """A run that something else trains, as the one who observes it writes it. Begin or resume it, append rows, finish it.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp()) / "lab"
        >>> run = ObservedRun.begin(folder, "my-gpt", {"context": 256}, curve="loss", level=1.0)
        >>> for step, loss in [(0, 5.0), (100, 4.0), (200, 0.5)]:
        ...     run.append(step, {"loss": loss})
        >>> run = ObservedRun.resume(folder, run.id, 100)  # after a crash, from a checkpoint of step 100
        >>> run.extend(np.array([200, 300]), {"loss": np.array([0.5, 0.4])})
        >>> run.finish()
        >>> from daybreak.lab import Lab
        >>> table = Lab(folder).query("context = 256")
        >>> table["outcome"][0].as_py(), table["last_step"][0].as_py()
        ('emerged', 300)
    """

    def __init__(self, folder: Path, last: int):
        self._folder = folder
        self._last = last  # step of the last row
        self._torn = rows.is_torn(folder)  # whether the last line is not complete
        self._shapes: dict[str, tuple[int, ...]] = {}

    @classmethod
    def begin(
        cls,
        lab: Path | str,
        name: str,
        settings: Mapping[str, Any],
        *,
        curve: str = "loss",
        level: float = 0.0,
        direction: Direction = "down",
        id: str | None = None,  # noqa: A002
    ) -> "ObservedRun":
        """A new run without rows.

        Args:
            lab: folder of the lab; it is made if it does not exist.
            name: for people; several runs may have the same.
            settings: plain values by name. They are columns of `runs list`, and laws can be fitted over them.
            curve: that decides when it has emerged: `loss`, or `induction`, or one head of it, `induction_1_2`.
            level: value of that curve that counts as emerged; 0 if there is none.
            direction: `down` if the curve falls to the level, `up` if it rises to it.
            id: a text that stands for the time of start: the same name, settings and text are the same run, once in a lab.

        Raises:
            RequestError: the folder is not a lab and has other files in it, a value is not allowed, or the run is there already.
            OSError: the disk is full.
        """
        path = Path(lab)
        new = described(
            name, settings, curve=curve, level=level, direction=direction, id=id
        )  # before anything is written
        _make_lab(path)
        while True:
            content = _canonical(new)
            folder = path / "runs" / _files.sha256(content)[:16]
            try:
                with _files.making(path):
                    folder.parent.mkdir(exist_ok=True)
                folder.mkdir()
            except FileExistsError:  # or another process began the same in the same microsecond
                if id is not None:
                    raise RequestError(
                        f"run {folder.name} is in lab {str(lab)!r} already: resume it, or give another id."
                    ) from None
                new = described(name, settings, curve=curve, level=level, direction=direction)
                continue
            (folder / rows.ROWS).touch()
            _put(folder, RUN, content)  # last: without it there is no run
            return cls(folder, -1)

    @classmethod
    def resume(cls, lab: Path | str, id: str, step: int) -> "ObservedRun":  # noqa: A002
        """Go on with a run after a crash, from a checkpoint, or after it was finished. Its rows after `step` no longer count.

        Raises:
            RequestError: the lab has no such run, or it is not an observed one.
            OSError: the disk is full.
        """
        folder = Path(lab) / "runs" / id
        step = _checked_step(step)
        if not (is_id(id) and (folder / rows.ROWS).is_file() and (folder / RUN).is_file()):
            raise RequestError(f"run {id!r} is not among the observed runs of lab {str(lab)!r}.")
        run = cls(folder, step)
        run._write(rows.resume(step))  # before the run stops being done: a crash in between loses nothing
        (folder / RESULT).unlink(missing_ok=True)
        return run

    @property
    def id(self) -> str:
        """Its name in the lab: 16 digits of the digest of its name, settings and start."""
        return self._folder.name

    @property
    def last_step(self) -> int | None:
        """The step of the last row; None before the first."""
        return None if self._last < 0 else self._last

    def append(self, step: int, values: Mapping[str, ArrayLike]) -> None:
        """Append a row. It is in the file when this returns, and readers see it.

        Args:
            step: at least that of the last row; rows of the same step are one row.
            values: numbers or arrays by name, such as (layers, heads); NaN is allowed. Not every row has the same names.

        Raises:
            RequestError: a step, a name or a value is not allowed; nothing was written.
            OSError: the disk is full, or the run was deleted. Earlier rows are safe, and a later call may succeed.
        """
        step = _checked_step(step)
        if step < self._last:
            raise RequestError(
                f"step = {step} is not allowed: the last row has step {self._last}. After going back to a checkpoint, resume the run."
            )
        arrays = {name: self._checked(name, x) for name, x in values.items()}
        self._write(rows.row(step, arrays))
        self._last = step
        self._shapes |= {name: x.shape for name, x in arrays.items()}

    def extend(self, steps: NDArray[np.int64], measured: Curves) -> None:
        """Append many rows at once: curves as a finished run has them, (rows, …). What is NaN in a whole row is left out."""
        lines = []
        for i, step in enumerate(steps.tolist()):
            there = {name: np.asarray(x[i], np.float32) for name, x in measured.items() if not np.isnan(x[i]).all()}
            lines.append(rows.row(step, there))
        self._write(b"".join(lines))
        self._last = max(self._last, int(steps[-1]))

    def finish(self, outcome: result.End | None = None) -> None:
        """Mark the run as done, with curves and a result as other runs have them.

        Args:
            outcome: by default `emerged` or `censored` at the level; `completed` if there is none.

        Raises:
            RequestError: the outcome is not allowed, or the run has no rows.
            OSError: the disk is full; then the run is not finished, and all rows are still there.
        """
        if outcome is not None and outcome not in _ENDS:
            raise RequestError(f"outcome = {outcome!r} is not allowed: choose {', '.join(_ENDS)}.")
        steps, measured = rows.read(self._folder)
        if not (steps.size and measured):
            raise RequestError(f"run {self.id} cannot be finished: it has no values.")
        content = _files.read(self._folder / RUN)
        settings = json.loads(content)
        document = measurement(settings, steps, measured, outcome)
        table = curves.encode(steps, measured)
        _put(self._folder, CURVES, table)
        files = {RUN: _files.sha256(content), CURVES: _files.sha256(table)}
        source = provenance(seconds=_seconds_since(settings), command=_command(), device="unknown")
        sealed = {"schema": result.SCHEMA, "id": self.id, **document, "files": files, "provenance": source}
        _put(self._folder, RESULT, result.seal(sealed))
        _files.sync(self._folder)

    def _checked(self, name: str, value: ArrayLike) -> NDArray[np.float32]:
        try:
            curves.check_name(name)
        except ValueError as error:
            raise RequestError(str(error)) from None
        try:
            with np.errstate(over="ignore"):
                array = np.asarray(value, np.float64).astype(np.float32)
        except (TypeError, ValueError):
            raise RequestError(f"{name} = {value!r} is not allowed: give a number, or an array of numbers.") from None
        if not array.size or array.shape != self._shapes.get(name, array.shape):
            expected = self._shapes.get(name)
            why = "it has no element" if expected is None else f"earlier rows have shape {expected}"
            raise RequestError(f"{name} of shape {array.shape} is not allowed: {why}.")
        return array

    def _write(self, line: bytes) -> None:
        torn, self._torn = self._torn, True
        rows.append(self._folder, line, torn=torn)
        self._torn = False


def measurement(
    settings: Mapping[str, Any], steps: NDArray[np.int64], measured: Curves, outcome: result.End | None = None
) -> dict[str, Any]:
    """The result of an observed run: its outcome, its plateau if it has a level, and the last values."""
    rule = criterion(settings)
    end = None if rule is None else rule.plateau(steps, measured)
    by_itself = "completed" if end is None else "censored" if end.censored else "emerged"
    return {
        "outcome": outcome or by_itself,
        "plateau": None if end is None else result.plateau_document(end),
        "last_step": int(steps[-1]),
        "final": {name: result.plain(_last(x)) for name, x in sorted(measured.items())},
    }


def _last(curve: NDArray[np.floating]) -> ArrayLike:
    """The last row of a curve that has values: curves are not all measured at every step."""
    there = np.flatnonzero(np.isfinite(curve.reshape(len(curve), -1)).any(axis=1))
    return curve[there[-1] if there.size else -1]


def _about(name: str, curve: str, level: float, direction: str) -> dict[str, Any]:
    if not (isinstance(name, str) and name.strip()):
        raise RequestError(f"name = {name!r} is not allowed: an observed run needs a name.")
    if not isinstance(curve, str) or curves.COLUMN.fullmatch(curve) is None:
        raise RequestError(f"curve = {curve!r} is not allowed: it must be the name of a curve, such as 'loss'.")
    if not (isinstance(level, int | float) and np.isfinite(level) and level >= 0):
        raise RequestError(f"level = {level!r} is not allowed: it must be at least 0, and finite.")
    if direction not in get_args(Direction):
        raise RequestError(f"direction = {direction!r} is unknown: choose 'down' or 'up'.")
    return {"name": name, "curve": curve, "level": float(level), "direction": direction}


def _checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = {}
    for name, value in settings.items():
        value = value.item() if isinstance(value, np.generic) else value
        if not (isinstance(name, str) and name.isidentifier()):
            raise RequestError(f"setting {name!r} is not allowed: its name must be letters, digits and _.")
        if not isinstance(value, _PLAIN) or (isinstance(value, float) and not np.isfinite(value)):
            raise RequestError(
                f"setting {name} = {value!r} is not allowed: give a finite number, a text, or true or false."
            )
        plain[name] = value
    return plain


def _checked_step(step: int) -> int:
    try:
        whole = int(step)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    if whole != step or not 0 <= whole < _MOST:
        raise RequestError(f"step = {step!r} is not allowed: it must be a whole number, at least 0.")
    return whole


def _make_lab(path: Path) -> None:
    """Make a lab, or check that it is one. Many processes may do so at once; the marker comes first, so that each sees a lab."""
    if is_lab(path):
        return
    try:
        check_lab(path)
    except RequestError:
        if not is_lab(path):  # another process may have made it a moment ago
            raise
    with _files.making(path):
        path.mkdir(parents=True, exist_ok=True)
        if (path / MARKER).is_dir():
            raise FileExistsError
        with suppress(FileExistsError), (path / MARKER).open("xb") as file:
            file.write(b'{"schema": 1}\n')


def _put(folder: Path, name: str, content: bytes) -> None:
    """A file that is complete or absent, also after a power cut. Only one process writes to the folder of a run."""
    try:
        (folder / PART).unlink(missing_ok=True)
        _files.create(folder / PART, content, lasting=True)
        (folder / PART).replace(folder / name)
    except OSError:
        with suppress(OSError):
            (folder / PART).unlink(missing_ok=True)
        raise


def _seconds_since(settings: Mapping[str, Any]) -> float:
    started = settings[OBSERVED].get("started")
    if started is None:
        return 0.0
    return max((datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds(), 0.0)


def _command() -> str:
    """The program that observes, without the folder that it is in."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name  # of python -m daybreak
    return shlex.join([name, *sys.argv[1:]])
