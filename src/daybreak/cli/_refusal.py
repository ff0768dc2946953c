"""What the parser refuses, as one sentence: the fault, the name that was probably meant, and the help to read."""

import re
from collections.abc import Callable

from daybreak.errors import nearest

_KINDS = {"INT": "a whole number", "FLOAT": "a number", "PATH": "a path", "STR": "a text"}
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w.-]*")


def sentence(message: str, help_text: Callable[[], str]) -> str:
    """Tyro's framed message on one line.

    The frame is a box with its title in the border, or, where stdout is not UTF-8, a title over a line of dashes.

    Args:
        message: as printed in a very wide terminal, so that no word is broken.
        help_text: of the verb and its subcommand as far as they were read.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    lines = [line.strip("│╭╮╰╯ ") for line in plain.splitlines()]
    title, *rest = lines
    body = rest if title.startswith("─") else rest[1:]
    first, *others = (" ".join(x.split()) for x in re.split(r"^[─-]{3,}$", "\n".join(body), flags=re.MULTILINE))
    subcommands = next((x for x in others if x.startswith("Available subcommands: ")), "")
    see = next((f"See {x[x.index('daybreak') :]}" for x in others if x.startswith("For full helptext")), "")
    fault = _fault(first, subcommands.removeprefix("Available subcommands: ").split(", "), help_text)
    return ". ".join(x.rstrip(".") for x in (fault, subcommands, see) if x) + "."


def _fault(text: str, subcommands: list[str], help_text: Callable[[], str]) -> str:
    if match := re.fullmatch(r"Unrecognized (?:or misplaced )?options: (.*)", text):
        names = re.sub(r" \(applied to [^)]*\)| Arguments are applied to .*", "", match[1])
        return _unknown(re.split(r",? ", names), subcommands, help_text)
    if match := re.fullmatch(r"invalid choice '(.*)' for argument '(.*)'\. Expected one of \((.*?),?\)\.?", text):
        value, option, choices = match[1], match[2], [x.strip("'") for x in match[3].split(", ")]
        if "None" in choices:  # the default of an option; Tyro's order is then that of a set
            choices = sorted({*choices} - {"None"})
        return f"{option} = {value!r} is not allowed. Expected one of {', '.join(choices)}{_perhaps(value, choices)}"
    if match := re.fullmatch(r"Error parsing (\S+): (.*)", text):
        return f"{match[1]}: {_value_fault(match[2])}" if match[1].startswith("-") else _value_fault(match[2])
    if match := re.fullmatch(r"Missing value for argument '(.*)'\. Expected 1 values\.?", text):
        return f"{match[1]} needs a value"
    return _joined(text).removesuffix(" (required)")


def _unknown(words: list[str], subcommands: list[str], help_text: Callable[[], str]) -> str:
    """An option or word that the verb does not have."""
    word = words[0]
    if not word.startswith("-"):
        return f"{word!r} is not expected here{_perhaps(word, subcommands)}"
    known = [x for x in _OPTION.findall(help_text()) if x != "--help"]
    if word in known:
        return f"option {word} stands in the wrong place: options follow the name of what they belong to"
    part, dot, name = word.rpartition(".")
    inside = list(dict.fromkeys(x for x in known if dot and x.rpartition(".")[0] == part))
    if not inside:
        return f"there is no option {word}{_perhaps(word, known)}"
    near = nearest(
        name, [x.rpartition(".")[2] for x in inside]
    )  # the same part before the dot makes no two options alike
    hint = f"Perhaps you meant {part}.{near}" if near else f"There are {', '.join(inside)}"
    return f"there is no option {word}. {hint}"


def _value_fault(text: str) -> str:
    """Why a value cannot be read, in words that are not Python's."""
    if match := re.match(r"(?:invalid literal for int\(\) with base 10|.*int string conversion.*): ?(.*)", text):
        return f"{match[1]} is not a whole number"
    if match := re.match(r"could not convert string to float: (.*)", text):
        return f"{match[1]} is not a number"
    if match := re.search(r"- typing\.Annotated\[.*\]: (.*)$", text):  # a type of ours says why
        return match[1]
    if match := re.match(r"no type matching (.*?) could be instantiated from \[(.*?)\]\. Got errors: ", text):
        kinds = [_KINDS.get(x, "") for x in re.findall(r"[A-Z]+", match[1].replace("{None}", ""))]
        wanted = f"{kinds[0]}{', or several' if '[' in match[1] else ''}" if kinds and kinds[0] else match[1]
        return f"{match[2]} is not allowed: it must be {wanted}"
    return _joined(text)


def _joined(text: str) -> str:
    """Without the space that the frame leaves before a full stop."""
    return re.sub(r" \.(?= |$)", ".", text)


def _perhaps(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f". Perhaps you meant {near}" if near else ""
