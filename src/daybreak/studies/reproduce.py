"""Carry out a study and write its results: tables, claims, laws, picture.

`OUT/<paper>/<figure>/<scale>/` holds each table as Parquet and CSV, `claims.json`, `figure.png` and `figure.pdf`. Every
file is written under another name and moved into place, so a folder never holds half a file. Networks are trained in a lab; runs
that it already has are not trained again. Claims, laws and picture follow from the tables, and can be written again from them;
or runs that the tables lack are added to them.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

from daybreak import __version__, pictures
from daybreak.errors import RequestError, WorkError
from daybreak.lab import Lab, Saved
from daybreak.lab._marker import check_lab
from daybreak.lab.compute.driver import train_missing
from daybreak.lab.compute.local import LocalExecutor
from daybreak.lab.compute.rates import Rates
from daybreak.lab.compute.state import State
from daybreak.studies import adding, tables
from daybreak.studies._study import Findings, Scale, Study, Tables, TrainedData
from daybreak.studies.results import CLAIMS, SCHEMA, read
from daybreak.studies.status import missing
from daybreak.training.hardware import check_hardware

_NAMED = 3  # failed runs named in a message


@final
@dataclass(frozen=True)
class Reproduction:
    """A study carried out at a scale: its findings, their folder, and how long it took.

    For a study that trains, `runs` is the number of its runs, `training_seconds` what all of them took, now or before, if that is
    known, `trained` has their ids, and `added` is how many of them were added to tables that there were before.
    """

    study: Study
    scale: Scale
    findings: Findings
    folder: Path
    seconds: float
    runs: int = 0
    training_seconds: float | None = None
    trained: tuple[str, ...] = ()
    added: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The findings as plain data."""
        trained: dict[str, Any] = {"runs": self.runs} if self.runs else {}
        if self.training_seconds is not None:
            trained["training_seconds"] = round(self.training_seconds)
        if self.trained:
            trained["trained"] = list(self.trained)
        return {
            "study": f"{self.study.paper}/{self.study.name}",
            "title": self.study.title,
            "scale": self.scale,
            **trained,
            "claims": [claim.as_json() for claim in self.findings.claims],
            "laws": {name: law.as_json() for name, law in self.findings.laws.items()},
        }


def reproduce(
    study: Study,
    scale: Scale,
    out: Path,
    lab: Path = Path("lab"),
    *,
    add: bool = False,
    workers: int | None = None,
    expected: Mapping[str, float] | None = None,
    on_change: Callable[[State], None] = lambda state: None,
) -> Reproduction:
    """Measure, judge, draw, and write under `out`.

    Args:
        study: what to carry out.
        scale: how large.
        out: where results are written.
        lab: where runs are kept, if the study trains any. After an interruption the same call continues.
        add: train only the runs that the tables under `out` lack, and add theirs to these tables.
        workers: processes that train; by default one per core.
        expected: steps that runs are expected to train, as `train_missing` takes them.
        on_change: called with the state of the training whenever it changes.

    Raises:
        RequestError: if a file is in the way, the lab is none, or this machine lacks the precision of a run.
        WorkError: if runs failed; the sentence names them. If nothing can be added to the tables.
    """
    folder, data = _folder(study, scale, out), study.data
    if isinstance(data, TrainedData):
        before = adding.read_before(folder) if add else None
        left = data if before is None else adding.lacking(data, scale, before)
        check_lab(lab)  # before anything is written
        check_hardware(missing(replace(study, data=left), scale, Lab(lab)))
        _make(folder, out)
        start = time.monotonic()
        saved = _trained(left, scale, Lab(lab), workers, _command(study, scale), expected, on_change)
        measured, cost = _with_those_before(data, scale, before, saved)
    else:
        _make(folder, out)
        start = time.monotonic()
        measured, cost = data(scale), _Cost()
    for name, table in measured.items():
        tables.write(folder, name, table)
    return _judged(study, scale, folder, measured, start, cost)


class _Cost(NamedTuple):
    """What the training of a study's runs took: see `Reproduction`."""

    runs: int = 0
    training_seconds: float | None = None
    trained: tuple[str, ...] = ()
    added: int | None = None


def _with_those_before(
    data: TrainedData, scale: Scale, before: adding.Before | None, saved: list[Saved]
) -> tuple[Tables, _Cost]:
    """The tables of all runs of a study, and what these took, from those that were trained now and the tables before."""
    seconds, runs = sum(x.result.seconds for x in saved), data.runs(scale)
    ids = tuple(run.id for run in runs)
    if before is None or not before.tables:
        return data.tables(saved), _Cost(len(saved), seconds, ids)
    measured = adding.merge(before, data.tables(saved) if saved else {}, runs)
    total = None if before.training_seconds is None else before.training_seconds + seconds
    return measured, _Cost(len(runs), total, ids, len(saved))


def lacking(study: Study, scale: Scale, out: Path) -> Study:
    """The study with only the runs that its tables under `out` lack; as it is, if it trains none.

    Raises:
        WorkError: if nothing can be added to these tables.
    """
    if not isinstance(study.data, TrainedData):
        return study
    before = adding.read_before(_folder(study, scale, out))
    return replace(study, data=adding.lacking(study.data, scale, before))


def has_tables(study: Study, scale: Scale, out: Path) -> bool:
    """Whether there are tables to judge again."""
    return any(_folder(study, scale, out).glob("*.parquet"))


def judge_again(study: Study, scale: Scale, out: Path) -> Reproduction:
    """Judge and draw from the tables under `out`, and write both again. Nothing is measured or trained.

    Raises:
        RequestError: if there are none.
        WorkError: if they are not what the study writes today.
    """
    start, folder = time.monotonic(), _folder(study, scale, out)
    measured = tables.read_all(folder)
    if not measured:
        raise RequestError(
            f"{study.name} has no tables at {scale} scale in {str(out)!r}. Name the folder that has them with --out, "
            "or leave out --from-tables to measure it."
        )
    before = read(folder).document if (folder / CLAIMS).exists() else {}
    cost = _Cost(before.get("runs", 0), before.get("training_seconds"), tuple(before.get("trained", ())))
    return _judged(study, scale, folder, measured, start, cost)


def _judged(study: Study, scale: Scale, folder: Path, measured: Tables, start: float, cost: "_Cost") -> Reproduction:
    """Judge, draw, and write both."""
    try:
        findings = study.judge(measured)
    except KeyError as name:
        raise WorkError(
            f"the tables in {folder} have no {name}: a table is missing, or another version wrote them. Measure the figure again."
        ) from None
    if scale == "smoke" and isinstance(study.data, TrainedData):
        findings = _undecided(findings)
    with pictures.look():
        figure = study.draw(measured, findings)
    done = Reproduction(study, scale, findings, folder, time.monotonic() - start, *cost)
    for path in pictures.save(figure, folder / ".figure.part"):
        path.replace(folder / f"figure{path.suffix}")
    document = {"schema": SCHEMA, **done.as_json(), "command": _command(study, scale), "daybreak": __version__}
    part = folder / f".{CLAIMS}.part"
    part.write_bytes((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    part.replace(folder / CLAIMS)
    return done


def _make(folder: Path, out: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RequestError(
            f"out = {str(out)!r} is not allowed: {folder} cannot be a folder, a file is in its way."
        ) from None


def _folder(study: Study, scale: Scale, out: Path) -> Path:
    return out / study.paper / study.name / scale


def _command(study: Study, scale: Scale) -> str:
    return f"daybreak reproduce {study.name} --scale {scale}"


def _trained(
    training: TrainedData,
    scale: Scale,
    lab: Lab,
    workers: int | None,
    command: str,
    expected: Mapping[str, float] | None,
    on_change: Callable[[State], None],
) -> list[Saved]:
    """The runs of a scale as stored in the lab, after training those that it did not have."""
    runs = training.runs(scale)
    for part in training.rounds(scale):
        train_missing(
            part,
            lab,
            LocalExecutor(workers),
            command=command,
            keep=training.keep,
            expected=expected,
            seconds=Rates(lab, lab.missing(part, training.keep)).seconds,
            on_change=on_change,
        )
    saved = [lab.load(run.id) for run in runs]
    failed = [x.result.id for x in saved if x.record is None]
    if failed:
        names = ", ".join(failed[:_NAMED]) + (" and others" if len(failed) > _NAMED else "")
        raise WorkError(
            f"{len(failed)} of {len(runs)} runs failed: {names}. 'daybreak runs show ID --lab {lab.path}' says why; "
            "the same command tries them again."
        )
    return saved


def _undecided(findings: Findings) -> Findings:
    """Networks this small show that a study works, and decide nothing about the paper."""
    note = "Smoke scale: tiny networks, which decide nothing."
    claims = (replace(claim, verdict="undecided", note=f"{note} {claim.note}".strip()) for claim in findings.claims)
    return replace(findings, claims=tuple(claims))
