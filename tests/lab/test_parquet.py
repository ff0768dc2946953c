"""Reading Parquet leaves no thread behind that could still hold the bytes when Python ends."""

import subprocess
import sys

SCRIPT = """
import os
import numpy as np
from daybreak.lab import curves
content = curves.encode(np.arange(50), {f"curve_{chr(97 + i)}": np.ones(50) for i in range(20)})
before = len(os.listdir("/proc/self/task"))
curves.decode(content)
print(len(os.listdir("/proc/self/task")) - before)
"""


def test_no_thread_is_started() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "0\n"
