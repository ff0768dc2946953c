"""Who learns: toy attention, Transformer, minimal attention. Models depend neither on tasks nor on training.

A model of your own is a class derived from `Model`, in a file that you name: `find("my_model.py:Bag")`. See docs/guides/own.md.
"""

from pathlib import Path
from typing import Any

from daybreak import _own
from daybreak._check import as_float as as_float
from daybreak._check import as_floats as as_floats
from daybreak._check import as_int as as_int
from daybreak._check import check_bool as check_bool
from daybreak._check import check_choice as check_choice
from daybreak._check import check_whole as check_whole
from daybreak._check import is_plain as is_plain
from daybreak.errors import refuse as refuse
from daybreak.interface import Interface as Interface
from daybreak.models._model import AnyModel as AnyModel
from daybreak.models._model import Model as Model
from daybreak.models._model import Output as Output
from daybreak.models._products import Precision as Precision
from daybreak.models._products import product as product
from daybreak.models._products import products_in as products_in
from daybreak.models._shapes import check as check
from daybreak.models.minimal import MinimalAttention as MinimalAttention
from daybreak.models.toy import ToyAttention as ToyAttention
from daybreak.models.transformer import Transformer as Transformer

MODELS: dict[str, type[AnyModel]] = {"transformer": Transformer, "minimal": MinimalAttention, "toy": ToyAttention}
"""Models by their name in the command."""


def find(name: str, folder: Path = Path()) -> type[Any]:
    """The class of a model: one of `MODELS`, an installed one (entry point `daybreak.models`), or one in a file.

    Args:
        name: such as `transformer`, or `path/to/my_model.py:Bag`. The file is executed.
        folder: where relative paths start; by default the working directory.

    Example:
        >>> find("minimal").__name__
        'MinimalAttention'
        >>> find("tranformer")
        Traceback (most recent call last):
        daybreak.errors.RequestError: model 'tranformer' is unknown: perhaps you meant 'transformer'.
    """
    return _own.find("model", name, MODELS, Model, folder)
