"""What a lab already has of runs that are to be trained: runs that differ from them only in their budget.

A run that is trained for longer has the same first steps. So a stored record is reused where it determines that of the new run,
and where the stored run ended because its budget was spent, the new one goes on from that end. A schedule that depends on the
budget makes such runs differ from the start: those are trained anew.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from daybreak.errors import RequestError
from daybreak.lab import index
from daybreak.lab._folder import STATE
from daybreak.lab.result import DamageError
from daybreak.lab.saved import Keep, Saved
from daybreak.lab.store import Lab
from daybreak.training import DamagedCheckpoint, Record, Run, to_json, within
from daybreak.training.checkpoint import relabelled

_log = logging.getLogger("daybreak.lab")


def relatives(lab: Lab, runs: Sequence[Run]) -> dict[str, list[str]]:
    """Ids of the finished runs that differ only in their budget from each of some runs, by its id; only of those that have any.

    Found by the columns of the index, which takes a fraction of a second for 10 000 runs.
    """
    table = lab.query()
    if not table.num_rows:
        return {}
    names = [name for name in index.setting_columns(table.column_names) if name != "budget"]
    by_settings: dict[tuple[Any, ...], list[str]] = {}
    for name, *values in zip(*(table[x].to_pylist() for x in ("id", *names)), strict=True):
        by_settings.setdefault(tuple(values), []).append(name)
    found = {}
    for run in runs:
        if not run.schedule.depends_on_budget:
            own = index.settings(to_json(run))
            found[run.id] = [x for x in by_settings.get(tuple(own.get(name) for name in names), []) if x != run.id]
    return {name: others for name, others in found.items() if others}


def reuse(lab: Lab, run: Run, others: Sequence[str], *, command: str, keep: Collection[Keep]) -> Record | None:
    """Save the record of a run, and the files to keep, if one of its relatives determines them; None if none does."""
    for saved, stored in _loaded(lab, run, others):
        record = within(run, stored)
        kept = _kept(saved, keep) if record is not None and record.steps.size == stored.steps.size else {}
        if record is None or kept.keys() != set(keep):
            continue
        source = saved.document["provenance"]
        seconds = source["seconds"] * record.steps.size / stored.steps.size
        lab.save(
            run, record, seconds=seconds, command=command, device=source["device"], kept=kept, from_run=saved.result.id
        )
        return record
    return None


def longest(lab: Lab, run: Run, others: Sequence[str], *, keep: Collection[Keep]) -> str | None:
    """The relative from whose end a run can go on, the one with the most steps; None if there is none."""
    ends = [
        (int(stored.steps[-1]), saved.result.id)
        for saved, stored in _loaded(lab, run, others)
        if saved.run.stop.budget < run.stop.budget
        and (lab.path / "runs" / saved.result.id / STATE).exists()
        and ("maps" not in keep or _kept(saved, ("maps",)))  # then its end has the maps until then
    ]
    return max(ends)[1] if ends else None


def checkpoint(lab: Lab, run: Run, other: str) -> bytes | None:
    """The end of a relative as a checkpoint of a run; None if it cannot be used."""
    data = lab.load_state(other)
    try:
        return None if data is None else relabelled(data, other, run.id)
    except DamagedCheckpoint as damage:
        _log.warning("run %s starts at step 0: %s", run.id, damage)
        return None


def _loaded(lab: Lab, run: Run, others: Sequence[str]) -> Iterator[tuple[Saved, Record]]:
    """Those of its relatives that have a record, can be read, and really differ in nothing but the budget."""
    for name in others:
        try:
            saved = lab.load(name)
            same = replace(saved.run, stop=replace(saved.run.stop, budget=run.stop.budget)).id == run.id
        except (DamageError, RequestError):
            continue
        if same and saved.record is not None:
            yield saved, saved.record


def _kept(saved: Saved, keep: Collection[Keep]) -> dict[Keep, bytes]:
    """Those of the files to keep that a run has kept."""
    kept: dict[Keep, bytes] = {}
    for what in keep:
        try:
            kept[what] = saved.kept(what)
        except (DamageError, RequestError):
            continue
    return kept
