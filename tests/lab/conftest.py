"""What the tests of the lab share: compiled programs, and a lab in which nothing went wrong."""

from pathlib import Path

import pytest

from tests.lab.compute.sweeping import RUNS, carry_out


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Where workers keep compiled programs; all processes of a test session use the same."""
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "programs"


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    """The lab of a sweep in which nothing went wrong."""
    lab = tmp_path_factory.mktemp("undisturbed") / "lab"
    state = carry_out(lab, programs)
    assert state.outcomes.total() == len(RUNS) == 24
    return lab
