"""Without PyTorch the package can be imported; only the use of Watch needs it, and says so in one sentence."""

import subprocess
import sys


def _python(code: str) -> str:
    hidden = "import sys; sys.modules['torch'] = None; "
    done = subprocess.run([sys.executable, "-c", hidden + code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_one_sentence_without_pytorch() -> None:
    said = _python("import daybreak.watch; print('fine'); from daybreak.watch import Watch")
    assert said.startswith("fine")
    assert said.splitlines()[-1] == (
        "ImportError: Watch needs PyTorch, which is not installed: install it, or run pip install 'daybreak[torch]'."
    )


def test_probes_need_neither_pytorch_nor_jax() -> None:
    said = _python("import daybreak.watch.probes, daybreak.watch.batch; print('jax' in sys.modules)")
    assert said.strip() == "False"
