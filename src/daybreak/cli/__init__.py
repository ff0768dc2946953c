"""The command `daybreak`: verbs, their errors and exit codes."""

from daybreak.cli._shell import main as main
