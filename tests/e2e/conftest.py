"""What every end-to-end test has at hand: the tools of tests/lib and a working directory of its own."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import tools  # noqa: E402  (the path is set above)


def pytest_report_header():
    return f"utrail: {tools.UTRAIL}; peer: {tools.PEER or 'none, tests that need it are skipped'}"


def pytest_collection_modifyitems(items):
    reason = "Debian's uftrace is not installed (apt-get install uftrace)"
    for item in items:
        if item.get_closest_marker("needs_peer") and not tools.PEER:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_configure(config):
    config.addinivalue_line("markers", "needs_peer: compares with Debian's uftrace")


@pytest.fixture(autouse=True)
def workdir(tmp_path, monkeypatch):
    """Recordings and gmon.out files go to a directory that pytest removes."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.fixture(autouse=True)
def nothing_in_shm():
    """No test may leave a name behind in /dev/shm."""

    def ours():
        return {n for n in os.listdir("/dev/shm") if "utrail" in n}

    before = ours()
    yield
    assert not ours() - before
