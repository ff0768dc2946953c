"""Who learns: toy attention, Transformer, minimal attention. Models depend neither on tasks nor on training."""

from daybreak.interface import Interface as Interface
from daybreak.models._model import AnyModel as AnyModel
from daybreak.models._model import Model as Model
from daybreak.models._model import Output as Output
from daybreak.models.minimal import MinimalAttention as MinimalAttention
from daybreak.models.toy import ToyAttention as ToyAttention
from daybreak.models.transformer import Transformer as Transformer

MODELS: dict[str, type[AnyModel]] = {"transformer": Transformer, "minimal": MinimalAttention, "toy": ToyAttention}
"""Models by their name in the command."""
