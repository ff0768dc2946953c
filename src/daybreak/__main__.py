"""`python -m daybreak` is the command."""

import sys

from daybreak.cli import main

sys.exit(main())
