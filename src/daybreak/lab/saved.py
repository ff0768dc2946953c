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

    Example:
        >>> from tempfile import mkdtemp
        >>> import numpy as np
        >>> from daybreak import lab, models, tasks, training
        >>> from daybreak.lab.compute.driver import train_missing
        >>> from daybreak.lab.compute.inline import InlineExecutor
        >>> task = tasks.SingleLocation(T=8, d=4, position="fixed", feature=False)
        >>> stop = training.Stop(budget=200)
        >>> run = training.Run(task, models.ToyAttention(), training.Optimizer("sgd", 1.0), stop)
        >>> here = lab.Lab(mkdtemp())
        >>> state = train_missing([run], here, InlineExecutor(), command="my script", keep=("parameters", "maps"))
        >>> saved = here.load(run.id)
        >>> saved.run == run, saved.result.outcome, saved.record.steps.tolist()
        (True, 'emerged', [0, 20, 40, 60])
        >>> saved.model()(np.zeros((5, 8, 4))).shape  # outputs of the trained network for five sequences
        (5, 1, 4)
        >>> saved.maps().layers[0].shape  # steps, examples, heads, rows, positions
        (4, 8, 1, 1, 8)
        >>> len(saved.kept("parameters")) > 100  # the file itself
        True
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
