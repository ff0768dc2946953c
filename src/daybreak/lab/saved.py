"""A run that is done, as the lab gives it: settings, record, result, and the files that it was asked to keep."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

from daybreak.errors import RequestError
from daybreak.lab import _folder
from daybreak.lab.result import DamageError, Result

if TYPE_CHECKING:
    from daybreak.training import Record, Run
    from daybreak.training.maps import Maps
    from daybreak.training.trained import TrainedModel

Keep = Literal["parameters", "maps"]
"""Files that a run can be asked to keep."""


@final
@dataclass(frozen=True)
class Saved:
    """A run as the lab keeps it.

    Args:
        settings: what was asked for, as plain data.
        record: what was measured; None if the run failed.
        result: its outcome, in short.
        document: all of `result.json`: provenance, and the traceback of a run that failed.
        folder: where its files are.
    """

    settings: dict[str, Any]
    record: "Record | None"
    result: Result
    document: dict[str, Any]
    folder: Path | None = None

    def model(self) -> "TrainedModel":
        """The network at the end of the run: a function of inputs. Needs a run that was trained with `--keep parameters`."""
        from daybreak.training.trained import TrainedModel

        return TrainedModel.decode(self.run, self.kept("parameters"))

    def maps(self) -> "Maps":
        """Attention maps of a few clean examples around the transition. Needs a run that was trained with `--keep maps`."""
        from daybreak.training.maps import decode

        return decode(self.kept("maps"))

    def kept(self, what: Keep) -> bytes:
        """A file that the run was asked to keep.

        Raises:
            RequestError: it was not asked to.
            DamageError: the file is not what was written.
        """
        again = f"give --keep {what} to the command that trained it, and it is trained again to the same record."
        try:
            content = None if self.folder is None else _folder.kept(self.folder, what, self.document)
        except DamageError as error:
            raise DamageError(f"run {self.result.id}: {error}. Delete that file, and {again}") from None
        if content is None:
            raise RequestError(f"run {self.result.id} has not kept its {what}: {again}")
        return content

    @cached_property
    def run(self) -> "Run":
        """What was asked for.

        Raises:
            RequestError: its task, its model or a setting is not known here.
        """
        from daybreak.training import from_json

        return from_json(self.settings)
