"""Scripts with real PyTorch, in a process of their own: importing it warns, and warnings are errors in these tests."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    """Offline, one thread each, so that two tests at a time share two cores."""
    return os.environ | {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "CUDA_VISIBLE_DEVICES": "",
    }


def run_script(name: str, *arguments: str | Path) -> Any:
    """What `tests/watch/scripts/NAME.py` prints: its last line is JSON."""
    command = [sys.executable, "-m", f"tests.watch.scripts.{name}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])
