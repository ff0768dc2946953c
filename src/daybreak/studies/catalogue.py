"""All studies, in the order of the papers, and how to find one by name."""

from difflib import get_close_matches

from daybreak.errors import RequestError
from daybreak.studies import incremental
from daybreak.studies._study import Study
from daybreak.studies.emergence import fig1a, fig1b, fig1c, fig2_left, fig2_right, fig6, fig7, fig8, fig9, fig10

_EMERGENCE = (fig1a, fig1b, fig1c, fig2_left, fig2_right, fig6, fig7, fig8, fig9, fig10)
STUDIES: tuple[Study, ...] = (*(module.STUDY for module in _EMERGENCE), *incremental.STUDIES)


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
