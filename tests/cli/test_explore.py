"""`daybreak explore` as a user starts it: it says where it is, answers there, and ends at Ctrl-C; wrong requests are sentences."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from daybreak.cli import main
from daybreak.studies.results import shipped
from tests.end_to_end.test_sweep import HEED


def test_it_serves_until_interrupted(tmp_path: Path) -> None:
    line = ["explore", "--port", "0", "--json"]
    command = [sys.executable, "-c", HEED + f"sys.exit(main({line!r}))"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.fullmatch(
            r"The explorer is at (http://127\.0\.0\.1:\d+/) until Ctrl-C\.\n", process.stderr.readline()
        )
        assert found is not None
        with urlopen(found[1]) as answer:  # noqa: S310
            assert b"Daybreak" in answer.read()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out) == {"url": found[1], "lab": "lab", "results": str(shipped())}
    assert not list(tmp_path.iterdir()), "looking leaves nothing behind"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--port 70000", "port = 70000 is not allowed"),
        ("--port -1", "port = -1 is not allowed"),
        ("--port web", "'web' is not a whole number"),
        ("--host no.such.host.invalid", "it is no address of this machine"),
        ("--lab afile", "lab = 'afile' is not allowed: it is a file, not a folder."),
        ("--results afile", "results = 'afile' is not allowed: it is a file, not a folder."),
    ],
)
def test_a_wrong_request_is_one_sentence(
    line: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afile").touch()
    assert main(["explore", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert said in err
    assert err.count("\n") == 1
