"""All studies, in the order of the papers, and how to find one by name."""

from daybreak.errors import RequestError, nearest
from daybreak.studies import emergence, incremental, language
from daybreak.studies._study import Study

STUDIES: tuple[Study, ...] = (*emergence.STUDIES, *incremental.STUDIES, *language.STUDIES)


def find(name: str) -> Study:
    """The study of that name.

    Example:
        >>> find("fig1c").paper
        'emergence'
    """
    names = [study.name for study in STUDIES]
    if name not in names:
        near = nearest(name, names)
        hint = f"did you mean {near}? T" if near else "t"
        raise RequestError(f"study {name!r} is unknown: {hint}here are {', '.join(names)}.")
    return STUDIES[names.index(name)]
