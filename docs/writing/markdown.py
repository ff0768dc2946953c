"""Text as Markdown that looks the same in the repository and on the site."""

import re


def plain(text: str) -> str:
    """Text whose marks are shown, not obeyed. An angle is an entity: Python-Markdown would show the backslash before it."""
    return re.sub(r"([*_\[\]|])", r"\\\1", text.replace("<", "&lt;").replace(">", "&gt;"))


def plain_outside_code(text: str) -> str:
    """The same, but words between backticks stay as they are; a bar would end the cell of a table also there."""
    parts = re.split("(`[^`]*`)", text)
    return "".join(part.replace("|", "\\|") if i % 2 else plain(part) for i, part in enumerate(parts))
