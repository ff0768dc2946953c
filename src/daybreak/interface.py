"""What a model needs from its task: sizes of inputs and outputs, and the positions at which it is read.

Tasks and models do not import each other. A task states its interface, and a model is built for an interface.
"""

from typing import NamedTuple


class Interface(NamedTuple):
    """Sizes of inputs and outputs. Inputs are either vectors (`features`) or tokens (`tokens`).

    Example:
        >>> Interface(length=9, tokens=16, outputs=16, reads=(8,)).features is None  # nine tokens of 16, read at the last
        True
        >>> Interface(length=8, features=5, outputs=4, reads=(7,)).tokens is None  # eight vectors of five entries
        True
    """

    length: int  # input positions
    outputs: int  # size of the output at each read position
    reads: tuple[int, ...]  # positions at which the model is read, in increasing order
    features: int | None = None  # size of an input vector; None if the inputs are tokens
    tokens: int | None = None  # number of different tokens; None if the inputs are vectors
    causal: bool = False  # whether each answer is the next input, so that a model must not look ahead
