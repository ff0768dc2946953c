"""What a model must know of its task: what comes in, what goes out, and where it is read.

Tasks and models do not know each other. A task states its interface, and a model is built for one.
"""

from typing import NamedTuple


class Interface(NamedTuple):
    """Shapes at both ends of a model. Inputs are either vectors (`features`) or tokens (`tokens`)."""

    length: int  # input positions
    outputs: int  # size of the output at each read position
    reads: tuple[int, ...]  # positions at which the model is read, in increasing order
    features: int | None = None  # size of an input vector; None if the inputs are tokens
    tokens: int | None = None  # number of different tokens; None if the inputs are vectors
