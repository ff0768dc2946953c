"""The command `daybreak`: verbs, their errors and exit codes."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code. What it needs is imported here, where a Ctrl-C is answered in a sentence."""
    try:
        from daybreak.cli import _shell
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("daybreak: Interrupted. Run the same command again to go on.\n")
        return 130
    return _shell.main(arguments)
