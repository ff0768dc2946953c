"""What is known of a stored run from its settings alone. They are plain data; its task or model may be unknown here."""

from typing import TYPE_CHECKING, Any

from daybreak.errors import RequestError, UnknownKind

if TYPE_CHECKING:
    from daybreak.training import Stop


def level(settings: dict[str, Any]) -> float:
    """The level of a run's stop rule; 0 if it has none."""
    return settings.get("stop", {}).get("level", 0.0)


def stop_rule(settings: dict[str, Any]) -> "Stop":
    """The stop rule of a run, without settings that are not known here."""
    from daybreak.training import Stop

    given: dict[str, Any] = {"level": 0.0} | settings.get("stop", {})
    return Stop(**{name: x for name, x in given.items() if name in Stop.__dataclass_fields__})


def unknown(settings: dict[str, Any]) -> str:
    """What of a run is not known here, such as `task 'needle'`; empty if the run can be constructed."""
    from daybreak.training import from_json

    try:
        from_json(settings)
    except UnknownKind as error:
        return error.what
    except (RequestError, TypeError, AttributeError) as error:  # a value that is not allowed here, or of another kind
        return f"setting ({str(error).rstrip('.')})"
    return ""
