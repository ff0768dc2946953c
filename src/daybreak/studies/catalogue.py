"""All studies, in the order of the papers, and how to find one by name."""

from difflib import get_close_matches

from daybreak.errors import RequestError
from daybreak.studies._study import Study
from daybreak.studies.emergence import (
    fig1a,
    fig1b,
    fig1c,
    fig2_left,
    fig2_right,
    fig3,
    fig4,
    fig5,
    fig6,
    fig7,
    fig8,
    fig9,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
)
from daybreak.studies.incremental import fig10 as b_fig10
from daybreak.studies.incremental import heads_and_features, transition_times

_EMERGENCE = (
    *(fig1a, fig1b, fig1c, fig2_left, fig2_right, fig3, fig4, fig5, fig6, fig7, fig8, fig9, fig10),
    *(fig11, fig12, fig13, fig14, fig15, fig16, fig17),
)
_INCREMENTAL = (b_fig10, transition_times, heads_and_features)
STUDIES: tuple[Study, ...] = tuple(module.STUDY for module in (*_EMERGENCE, *_INCREMENTAL))


def find(name: str) -> Study:
    """The study of that name.

    Example:
        >>> find("fig1c").paper
        'emergence'
    """
    names = [study.name for study in STUDIES]
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? T" if near else "t"
        raise RequestError(f"study {name!r} is unknown: {hint}here are {', '.join(names)}.")
    return STUDIES[names.index(name)]
