"""`daybreak --help`, written without the parser and the verbs, whose imports take far longer than this page."""

import shutil
import sys
import textwrap

VERBS = {
    "demo": "The tour: laws of the toy model next to the paper's, and a Transformer that emerges. Three minutes on two cores.",
    "theory": "Plateau of the toy model (paper A): by its gradient flow, and by closed forms.",
    "train": "Train networks, several seeds at once, until they emerge. Interrupted or killed, the same command goes on.",
    "sweep": "Train all runs of a sweep file that the lab does not have yet. Interrupted or killed, the same command goes on.",
    "runs": "The runs of a lab: list them, show one, export them, import curves from a file, delete some.",
    "fit": "Fit a power law to the plateaus of a lab: exponents with intervals, compared with the paper's law.",
    "forecast": "Forecast when a run emerges, before its loss moves: a step with an 80 % interval, or why there is not enough evidence.",
    "watch": "Watch training that is not ours: the forecast of a file of curves or of an observed run, while it grows.",
    "advise": "Expected plateau of a setting, how many times faster each form of repetition is, and which one to take.",
    "reproduce": "Reproduce figures of the papers: measurements, laws, claims with verdicts, and the picture.",
    "explore": "Explore theory, laws, runs, forecasts and claims on a page in your browser, until Ctrl-C.",
    "doctor": "Versions, devices, free disk, and a self-check of a few seconds.",
}
"""Each verb with the first line of its docstring. `daybreak.cli.demo.Demo` is what `daybreak demo` does, and so on."""

_OPTIONS = {"-h, --help": "show this help message and exit", "--version": "print the version and exit"}


def overview() -> str:
    """The help of the command, in the look of the parser's help of a verb."""
    width = min(max(40, shutil.get_terminal_size().columns), 120)
    text = "\n".join(
        [
            f"usage: daybreak [-h] [--version] {{{','.join(VERBS)}}}\n",
            "Measure, explain, predict and hasten the emergence of sparse attention in training.\n",
            "Options and an example of a verb: daybreak VERB --help\n",
            *_frame("options", _OPTIONS, width),
            *_frame("subcommands", {f"  • {verb}": about for verb, about in VERBS.items()}, width),
        ]
    )
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return text.translate(str.maketrans("╭╮╰╯│─•", "....|-*"))
    return text


def _frame(title: str, rows: dict[str, str], width: int) -> list[str]:
    indent = max(map(len, rows)) + 2
    lines = [
        line
        for name, about in rows.items()
        for line in textwrap.wrap(
            about, width - 4, initial_indent=name.ljust(indent), subsequent_indent=" " * indent, break_on_hyphens=False
        )
    ]
    top = f"─ {title} ".ljust(width - 2, "─")
    return [f"╭{top}╮", *(f"│ {line.ljust(width - 4)} │" for line in lines), f"╰{'─' * (width - 2)}╯"]
