"""Which study and which claims stand for each figure of paper B, one to one.

The text of the paper that this project has ends before the appendix. So of figures 6 to 9 and 11 to 19 the subjects are known, not
which number each has, and a figure whose subject is not known is not listed.
"""

from typing import NamedTuple, final


@final
class PaperFigure(NamedTuple):
    """A figure of the paper, or a panel of one.

    Args:
        number: as the paper counts; a range where only that is known.
        subject: what it shows.
        study: that stands for it.
        claims: of that study.
    """

    number: str
    subject: str
    study: str
    claims: tuple[str, ...]


PAPER_FIGURES = (
    PaperFigure("1", "minimal model, block by block", "b-fig1", ("B1", "B1-divergence")),
    PaperFigure("2", "full model, attention of each head", "b-fig2", ("B2", "B2-order")),
    PaperFigure("3 left", "divergence from truncated truths", "b-fig3", ("B3-truths",)),
    PaperFigure("3 right", "divergence from context-limited students", "b-fig3", ("B3-students",)),
    PaperFigure("4 left", "noise at the start", "b-fig4-left", ("B4l", "B4l-zero")),
    PaperFigure("4 right", "ratio of importance", "b-fig4-right", ("B4r", "B4r-blurred")),
    PaperFigure("5 left", "training-set size: stages", "b-fig5", ("B5", "B5-fewer")),
    PaperFigure("5 right", "training-set size: divergences", "b-fig5", ("B5-overfits",)),
    PaperFigure("one of 6–9", "fresh data", "b-online", ("B6-9-online",)),
    PaperFigure("one of 6–9", "importance reversed", "b-reversed", ("B6-9-reversed", "B6-9-reversed-first")),
    PaperFigure("10", "flow of the regression variant", "b-fig10", ("B10", "B10-zero")),
    PaperFigure("one of 11–19", "two layers", "b-two-layers", ("B11-19-layers",)),
    PaperFigure("one of 11–19", "unequal weights", "b-weights", ("B11-19-weights", "B11-19-weights-stages")),
    PaperFigure("one of 11–19", "overlapping blocks", "b-overlapping", ("B11-19-overlapping",)),
    PaperFigure("one of 11–19", "four heads for three blocks", "b-four-heads", ("B11-19-heads",)),
    PaperFigure("one of 11–19", "SGD, mean over tokens", "b-sgd", ("B11-19-sgd", "B11-19-sgd-slower")),
    PaperFigure(
        "the same, read otherwise", "SGD, sum over tokens", "b-sgd-sum", ("B11-19-sgd-sum", "B11-19-sgd-sum-slower")
    ),
)
