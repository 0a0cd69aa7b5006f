"""--list-event: what -E could record."""

import os
import re

import pytest

from test_events import sample
from tools import NOBODY, PEER, UTRAIL, peer, run, utrail, why_not_as_nobody

SDT = re.compile(r"\[SDT event\] (\S+:\S+) (.*)")


def listed(*args):
    result = utrail(*args).must()
    return result.out.splitlines()


def probes(lines):
    return [m[1] for m in map(SDT.fullmatch, lines) if m]


def has_tracepoints():
    return os.geteuid() == 0 and any(line.startswith("[kernel event] ") for line in listed("--list-event"))


@pytest.mark.parametrize("command", [["record", "--list-event"], ["live", "--list-event"], ["--list-event"]])
def test_of_the_program(workdir, command):
    _, exe = sample("places")
    lines = listed(*command, exe)
    found = probes(lines)
    assert found and len(set(lines)) == len(lines)
    assert all(line.startswith(("[kernel event] ", "[SDT event] ")) for line in lines)
    # Nothing was run, nothing was made.
    assert not list(workdir.iterdir())


@pytest.mark.skipif(not PEER, reason="Debian's uftrace is not installed")
def test_as_the_peer_says_it():
    _, exe = sample("places")
    ours = [line for line in listed("--list-event", exe) if SDT.fullmatch(line)]
    theirs = [line for line in peer("--list-event", exe).must().out.splitlines() if SDT.fullmatch(line)]
    # It has a line for each place.
    assert ours == list(dict.fromkeys(theirs))


def test_chosen():
    _, exe = sample("places")
    everything = probes(listed("--list-event", exe))
    one = everything[0]
    assert set(probes(listed("--list-event", "-E", one, exe))) == {one}
    assert listed("--list-event", "-E", "nothing:here", exe) == []
    provider = one.split(":")[0]
    assert set(probes(listed("--list-event", "--match", "glob", "-E", f"{provider}:*", exe))) == {
        name for name in everything if name.startswith(f"{provider}:")
    }


def test_of_its_libraries():
    """Only when they are asked for."""
    _, exe = sample("throws")
    assert not [name for name in probes(listed("--list-event", exe)) if name.startswith("libstdcxx")]
    names = probes(listed("--list-event", "-E", "libstdcxx:.*", exe))
    assert {"libstdcxx:throw", "libstdcxx:catch"} <= set(names)


def test_of_the_kernel():
    if not has_tracepoints():
        pytest.skip("no tracepoints: not root, or no tracefs is mounted")
    lines = listed("--list-event", "-E", "^sched:sched_(switch|wakeup)$@kernel")
    assert sorted(lines) == ["[kernel event] sched:sched_switch", "[kernel event] sched:sched_wakeup"]
    assert not probes(listed("--list-event"))


def test_without_permission():
    """What cannot be listed is said; the rest is listed."""
    if reason := why_not_as_nobody():
        pytest.skip(reason)
    _, exe = sample("places")
    result = run(*NOBODY, UTRAIL, "record", "--list-event", exe)
    assert result.status == 0 and probes(result.out.splitlines())
    (line,) = result.err.splitlines()
    assert line.startswith("WARN: ") and "tracing" in line
    # Who asks for something else hears nothing of it.
    assert run(*NOBODY, UTRAIL, "record", "--list-event", "-E", ".*:.*", exe).must().err == ""


def test_no_such_program():
    result = utrail("record", "--list-event", "-E", "a:b", "./nothing")
    assert result.status == 1 and result.err.count("\n") == 1 and "./nothing" in result.err
