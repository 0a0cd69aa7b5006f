"""Debian's uftrace and utrail read each other's recordings and print the same text.

What is known to differ is made alike by one function each, with the reason. Everything else must be equal,
byte for byte.
"""

import itertools
import re
import shutil
from pathlib import Path

import pytest

from programs import CACHE, Variant, build, program
from tools import peer, utrail

pytestmark = pytest.mark.needs_peer

PROGRAMS = [
    "plain",
    "recursion",
    "threads",
    "fork",
    "fork_chain",
    "vfork",
    "exec",
    "spawn",
    "dlopen",
    "shared",
    "signal",
    "longjmp",
    "tailcall",
    "cplusplus",
    "exceptions",
    "sleeps",
    "end_exit",
    "end_abort",
    "daemon",
    "ctors",
]

RECORDERS = {
    "ours": lambda d, exe: utrail("record", "-d", d, exe),
    "ours-no-event": lambda d, exe: utrail("record", "--no-event", "-d", d, exe),
    "peers": lambda d, exe: peer("record", "-d", d, exe),
    "peers-no-libcall": lambda d, exe: peer("record", "--no-libcall", "--no-event", "-d", d, exe),
}

REPLAYS = [
    "",
    "--flat",
    "-f all",
    "-f none",
    "-f time,delta,elapsed",
    "-f +addr,module,task",
    "--column-view",
    "--column-view --column-offset 2",
    "--task-newline",
    "--no-merge",
    "--no-comment",
    "--libname",
    "--no-libcall",
    "--no-event",
    "--no-sched",
    "--event-full",
    "-D 1",
    "-D 2",
    "-D 3 --no-merge",
    "-t 5ms",
    "-t 1us",
    "-Z 20",
    "--demangle=no",
    "--color=yes",
    "--format=html",
]

REPORTS = [
    "",
    "-f total,self,call",
    "-f all",
    "-f total,total-avg,total-min,total-max",
    "-f self-avg,self-min,self-max,call",
    "-s self",
    "-s call",
    "-s func",
    "-s total,self",
    "-s self,func",
    "--avg-total",
    "--avg-self",
    "--task",
    "--task -s self",
    "--task -s tid",
    "--no-libcall",
    "--no-sched",
    "-D 2",
    "-t 5ms",
    "--demangle=no",
    "--color=yes",
]

OTHERS = ["dump", "info", "info --task", "info --symbols"]


def recorded(recorder, name):
    """A recording of program @name, made once for all tests; paths in it are the same for both readers."""
    variant = Variant("gcc", "pg", "O2")
    exe = build(program(name), variant)
    place = CACHE / "recordings" / f"{recorder}-{exe.parent.name}"
    if not (place / "info").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(exist_ok=True)
        scratch = Path("recording")
        RECORDERS[recorder](scratch, exe)
        try:
            scratch.rename(place)
        except OSError:  # another test process was first
            assert (place / "info").exists()
    return place


def narrow_tid(text):
    """The peer of Debian 12 prints tids in six columns; later ones, and we, in seven (spec/output.md 2.1)."""
    text = re.sub(r"^(#.*   TID  ) ", r"\1", text, flags=re.M)
    return re.sub(r"\[ ([ \d]{6})\]", r"[\1]", text)


def differences(command, directory):
    theirs = peer(*command.split(), "-d", directory)
    ours = utrail(*command.split(), "-d", directory)
    if ours.status != theirs.status:
        return [f"`{command}`: our status is {ours.status}, theirs {theirs.status}; {ours.err}"]
    mine, expected = narrow_tid(ours.out).splitlines(), theirs.out.splitlines()
    pairs = itertools.zip_longest(mine, expected)
    lines = [f"  ours: {a!r}\n  peer: {b!r}" for a, b in pairs if a != b]
    if not lines:
        return []
    return [f"`{command}`: {len(lines)} lines differ", *lines[:4]]


def compare(commands, directory):
    problems = [line for c in commands for line in differences(c, directory)]
    assert not problems, f"{directory}\n" + "\n".join(problems)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("recorder", RECORDERS)
class TestSameText:
    def test_replay(self, recorder, name):
        compare([f"replay {options}" for options in REPLAYS], recorded(recorder, name))

    def test_report(self, recorder, name):
        compare([f"report {options}" for options in REPORTS], recorded(recorder, name))

    @pytest.mark.parametrize("command", OTHERS)
    def test_other(self, recorder, name, command):
        compare([command], recorded(recorder, name))


@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("name", ["cplusplus", "exceptions"])
def test_full_demangling(recorder, name):
    """Of C++ only: the peer takes C names for mangled types (`a` becomes `signed char`)."""
    compare(["replay --demangle=full", "report --demangle=full"], recorded(recorder, name))
