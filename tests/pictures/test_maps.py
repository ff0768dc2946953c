"""Maps below a loss: of the head that attends most, at steps that show the turn."""

import numpy as np
import pytest

from daybreak import pictures
from daybreak.training.maps import Maps
from tests.lab import made


def _maps(steps: list[int], reads: list[int]) -> Maps:
    """Two layers of three heads; the last one is only computed where it is read."""
    shape = (len(steps), 4, 3)
    layers = [np.full((*shape, 8, 8), 1 / 8, np.float16), np.full((*shape, len(reads), 8), 1 / 8, np.float16)]
    relevant = np.zeros((4, len(reads), 8), np.bool_)
    relevant[:, :, 5] = True
    return Maps(np.array(steps), layers, relevant, np.array(reads, np.int32))


@pytest.mark.parametrize(("reads", "rows"), [([7], 4), ([5, 6, 7], 3)], ids=["one read", "three reads"])
@pytest.mark.parametrize("layer", [0, 1])
def test_a_row_of_maps_below_the_loss(reads: list[int], rows: int, layer: int) -> None:
    record = made.record(300.0)
    record.curves["attention"][-1, layer, 2] = 2.0  # the head that attends most
    figure = pictures.attention_picture(record, _maps(list(range(0, 800, 20)), reads), 300.0)
    loss, *maps, _ = figure.axes
    assert loss.get_legend_handles_labels()[1] == ["clean loss", "maps below", "relevant position", "plateau ends"]
    shown = [int(ax.get_title(loc="left").removeprefix("step ")) for ax in maps]
    assert len(shown) == 5
    assert (shown[0], shown[-1]) == (0, 780)
    assert all(tuple(ax.images[0].get_size()) == (rows, 8) for ax in maps)
    assert [len(ax.lines) for ax in maps] == [len(reads) == 1] * 5
    assert figure.axes[-1].get_ylabel() == f"attention, layer {layer + 1} head 3"


def test_few_maps_are_all_shown() -> None:
    figure = pictures.attention_picture(made.record(), _maps([0, 20, 780], [7]))
    assert len(figure.axes) == 1 + 3 + 1
