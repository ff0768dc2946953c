"""The wheel and a representative part of the tests on every Python that is supported and installed here: `make compat`.

Each Python gets an environment in `.compat` with the locked versions, so the first time takes minutes. It needs a package index.
Interpreters are looked for on the path (`python3.12`) and in `~/.pyenv/versions`; one that is not there is skipped, and reported.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")
ROOT = Path(__file__).parent.parent
TOOLS = ("beartype", "hypothesis", "iniconfig", "pytest", "pytest-xdist", "execnet", "sortedcontainers")
PARTS = ("tests/measure", "tests/theory", "tests/lab", "tests/tasks", "tests/test_frozen.py", "tests/test_formats.py")
COMMANDS = (
    ["--version"],
    ["doctor"],
    ["theory", "--T", "64", "--d", "16"],
    ["train", "toy", "--task.T", "8", "--task.d", "4", "--keep", "parameters", "maps"],
    ["runs", "list"],
    ["advise", "--T", "64", "--d", "32"],
    ["examples"],
)


def find(version: str) -> Path | None:
    """The interpreter of a version; None if there is none."""
    beside = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    if beside:
        return beside[-1]
    on_path = shutil.which(f"python{version}")
    return Path(on_path) if on_path else None


def check(version: str, interpreter: Path) -> None:
    """Install the wheel of this repository for one interpreter, ask the command, and run the tests."""
    folder = ROOT / ".compat" / version
    python = str(folder / "bin" / "python")
    if not Path(python).exists():
        _run([str(interpreter), "-m", "venv", str(folder)])
    wheels = ROOT / ".compat" / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    locked = (ROOT / "requirements-dev.lock").read_text().splitlines()
    tools = [line for line in locked if line.split("==")[0].lower() in TOOLS]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "-r", "requirements.lock", *tools])
    _run([python, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)])
    _run([*pip, "--no-deps", "--force-reinstall", *(str(wheel) for wheel in wheels.glob("*.whl"))])
    with tempfile.TemporaryDirectory() as empty:
        for arguments in COMMANDS:
            _run([str(folder / "bin" / "daybreak"), *arguments], empty)
    _run([python, "-m", "pytest", *PARTS, "-n", "auto", "--ignore", "tests/lab/compute/test_ray.py"])


def _run(command: list[str], folder: Path | str = ROOT) -> None:
    shown = " ".join(re.sub(rf"^{re.escape(str(ROOT))}/", "", part) for part in command)
    print(f"$ {shown}", flush=True)  # noqa: T201
    clean = {name: x for name, x in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run(command, cwd=folder, env=clean, check=True)


def main(versions: list[str]) -> int:
    """Check those versions; all by default. Returns 1 if one was not there or failed."""
    done, missing, failed = [], [], []
    for version in versions or VERSIONS:
        interpreter = find(version)
        if interpreter is None:
            missing.append(version)
            continue
        try:
            check(version, interpreter)
            done.append(version)
        except subprocess.CalledProcessError:
            failed.append(version)
    for word, which in (("passed", done), ("FAILED", failed), ("not installed here", missing)):
        if which:
            print(f"{word}: Python {', '.join(which)}")  # noqa: T201
    return bool(failed or not done)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
