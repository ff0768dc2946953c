"""What is known of a stored run from its settings alone. They are plain data; its task or model may be unknown here."""

from typing import TYPE_CHECKING, Any

from daybreak.errors import RequestError, UnknownKind

if TYPE_CHECKING:
    from daybreak.training import Stop

OBSERVED = "observed"
"""The part of a run that only observed runs have: name, start, and what counts as emerged. Also the name of their task."""


def level(settings: dict[str, Any]) -> float:
    """The level of a run's stop rule, or of an observed run; 0 if it has none."""
    about = settings[OBSERVED] if is_observed(settings) else settings.get("stop", {})
    return about.get("level", 0.0)


def is_observed(settings: dict[str, Any]) -> bool:
    """Whether something else trained a run."""
    return isinstance(settings.get(OBSERVED), dict)


def stop_rule(settings: dict[str, Any]) -> "Stop":
    """The stop rule of a run, without settings that are not known here."""
    from daybreak.training import Stop

    given: dict[str, Any] = {"level": 0.0} | settings.get("stop", {})
    return Stop(**{name: x for name, x in given.items() if name in Stop.__dataclass_fields__})


def unknown(settings: dict[str, Any]) -> str:
    """What of a run is not known here, such as `task 'needle'`; empty if the run can be constructed."""
    if is_observed(settings):
        return "task 'observed'"
    from daybreak.training import from_json

    try:
        from_json(settings)
    except UnknownKind as error:
        return error.what
    except (RequestError, TypeError, AttributeError) as error:  # a value that is not allowed here, or of another kind
        return f"setting ({str(error).rstrip('.')})"
    return ""
