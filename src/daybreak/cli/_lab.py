"""Options that choose a lab and its runs, shared by the verbs that read one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab import Lab


def _folder(text: str) -> Path:
    if not text.strip():
        raise ValueError(f"lab = {text!r} is not allowed: a folder needs a name, and '.' is the current one")
    return Path(text)


FolderPath = Annotated[
    Path,
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="DIR",
        instance_from_str=lambda args: _folder(args[0]),
        is_instance=lambda x: isinstance(x, Path),
        str_from_instance=lambda x: [str(x)],
    ),
]
"""A folder. An empty text is not the current one: it is most likely a variable of a script that is not set."""

LabFolder = Annotated[FolderPath, tyro.conf.arg(metavar="DIR", help="Folder of the lab.")]
Where = Annotated[
    str | None,
    tyro.conf.arg(
        metavar="SQL",
        help="Only runs for which this holds, such as \"task = 'recall' and N = 8 and outcome = 'emerged'\".",
    ),
]


def open_lab(path: Path) -> "Lab":
    """The lab in a folder."""
    from daybreak.lab import Lab

    if not (path / "runs").is_dir():
        raise RequestError(
            f"there is no lab in folder {str(path)!r}: 'daybreak train' makes one, --lab chooses another folder."
        )
    return Lab(path)
