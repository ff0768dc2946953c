"""`daybreak runs delete`: runs, or the ends that runs with larger budgets would go on from."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, bare
from daybreak.cli._confirm import confirmed
from daybreak.cli._lab import LabFolder, Where, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab import Lab

_NAMED = 10  # runs that are named before they are deleted


@final
@dataclass(frozen=True)
class Delete:
    """Delete runs, finished or not. On a terminal it names them and asks first. What is deleted cannot be brought back.

    With --states only the ends of runs that spent their budget are deleted: measurements stay, disk is freed.

    Example: daybreak runs delete 3f2a 81c0
    """

    runs: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="ID", help="Ids, or the first characters of them.")
    ] = ()
    lab: LabFolder = Path("lab")
    where: Where = None
    states: Annotated[
        bool,
        tyro.conf.FlagCreatePairsOff,
        tyro.conf.arg(
            help="Delete only what a run with a larger budget would go on from, of these runs, or of all if none is named."
        ),
    ] = False
    yes: Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Do not ask.")] = False
    json: Json = False

    def answer(self) -> Answer:
        """Find all of them, ask, take the lock of the lab, delete."""
        from daybreak.lab.lock import locked

        lab = open_lab(self.lab)
        if self.states:
            return self._delete_states(lab)
        names = self._names(lab)
        if not (self.yes or self._confirmed(lab, names)):
            return Answer(
                {"lab": str(self.lab), "deleted": [], "left": []}, lambda console: console.print("Nothing was deleted.")
            )
        with locked(lab.path), closing(lab.open()):
            left = [str(file) for name in names for file in lab.delete(name)]
        data = {"lab": str(self.lab), "deleted": names, "left": left}
        return Answer(data, lambda console: self._show(console, data))

    def _delete_states(self, lab: "Lab") -> Answer:
        """Free the disk of the ends of runs. Nothing that was measured is lost, so nobody is asked."""
        from daybreak.lab.lock import locked

        names = self._names(lab) if self.runs or self.where is not None else None
        with locked(lab.path), closing(lab.open()):
            freed = lab.remove_states(names)
        data = {"lab": str(self.lab), "freed": freed}
        message = f"{freed / 1e6:,.1f} MB freed. All measurements are still there."
        return Answer(data, lambda console: console.print(message, highlight=False))

    def _names(self, lab: "Lab") -> list[str]:
        """The ids of the runs to delete, each checked."""
        if not self.runs and self.where is None:
            raise RequestError("no run was named: give ids, as 'daybreak runs list' shows them, or --where.")
        chosen = [lab.find(prefix) for prefix in self.runs]
        if self.where is not None:
            chosen += lab.query(self.where, unfinished=True)["id"].to_pylist()
        if not chosen:
            raise RequestError(f"no run in lab {str(lab.path)!r} fulfils the condition {self.where!r}.")
        return list(dict.fromkeys(chosen))

    def _confirmed(self, lab: "Lab", names: list[str]) -> bool:
        from daybreak.lab import listing

        rows = {row["id"]: row for row in lab.query(unfinished=True).to_pylist()}
        lines = []
        for name in names[:_NAMED]:
            shown = {x: rows.get(name, {}).get(x) for x in ("outcome", "task", "T", "d", "N", "V", "seed")}
            lines.append(f"  {name}  {bare(listing.sentence(shown)) or 'cannot be read'}")
        if len(names) > _NAMED:
            lines.append(f"  and {len(names) - _NAMED:,} more")
        which = "this run" if len(names) == 1 else f"these {len(names):,} runs"
        return confirmed("\n".join(lines), f"Delete {which} from lab {str(lab.path)!r} for good?", "--yes")

    def _show(self, console: Console, data: dict[str, Any]) -> None:
        count = len(data["deleted"])
        console.print(f"{count:,} run{'s' * (count != 1)} deleted.", highlight=False)
        for file in data["left"]:
            console.print(f"Left in place, because no lab writes it: {file}", markup=False, highlight=False)
