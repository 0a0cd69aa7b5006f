"""The command lines of filtered.txt print the same text with Debian's uftrace and with utrail."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from programs import CACHE, Variant, build, program
from test_interop import alike
from tools import peer, utrail

pytestmark = pytest.mark.needs_peer

LIST = Path(__file__).with_name("filtered.txt")
DIFFERS = re.compile(r"differs \((.+?)\): (.*)")

RECORDERS = {
    "ours": lambda d, exe: utrail("record", "--no-event", "-d", d, exe),
    "peers": lambda d, exe: peer("record", "--no-event", "-d", d, exe),
}


def command_lines():
    """Each command line, with the reason why its text differs, or None."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            known = DIFFERS.fullmatch(line)
            yield (known[2], known[1]) if known else (line, None)


@pytest.fixture(scope="module", params=RECORDERS)
def recording(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("filtered") / request.param
    exe = build(program("filtered"), Variant("gcc", "pg", "O2"))
    RECORDERS[request.param](directory, exe).must()
    return directory


def both(command, directory):
    name, *options = shlex.split(command)
    return utrail(name, "-d", directory, *options), peer(name, "-d", directory, *options)


@pytest.mark.parametrize("command", [c for c, reason in command_lines() if not reason])
def test_same_text(recording, command):
    ours, theirs = both(command, recording)
    ours.must(theirs.status)
    assert alike(ours.out, command, 0) == alike(theirs.out, command, 1)


@pytest.mark.parametrize("command", [c for c, reason in command_lines() if reason])
def test_departure(recording, command):
    """The text still differs. If not, the list must be corrected."""
    ours, theirs = both(command, recording)
    ours.must(theirs.status)
    assert alike(ours.out, command, 0) != alike(theirs.out, command, 1)


def test_there_are_enough():
    assert len(list(command_lines())) >= 100
