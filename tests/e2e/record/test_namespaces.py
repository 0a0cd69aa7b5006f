"""Programs in pid namespaces of their own, two of which have the same number."""

import re

import pytest

from data import ENTRY, Recording
from programs import METHODS, Variant, build, program
from tools import PEER, peer, run, utrail

CALLS = 3, 5
EACH = 3  # calls by a thread and two children of each program


def counts(recording, name):
    return sorted(sum(r.kind == ENTRY and r.name == name for r in task.records) for task in recording.tasks.values())


@pytest.mark.parametrize("method", METHODS)
def test_two_of_one_number(workdir, method):
    """Two programs are process 1 in their own namespaces: all names and calls are recorded, under
    numbers that are unique."""
    if run("unshare", "-fp", "true").status:
        pytest.skip("no pid namespaces here")
    exe = build(program("numbers"), Variant("gcc", method, "O2"))
    script = " & ".join(f"unshare -fp {exe} {calls}" for calls in CALLS) + "; wait"
    utrail("record", "--force", "--no-libcall", "sh", "-c", script).must()
    recording = Recording("uftrace.data")
    assert [n for n in counts(recording, "leaf") if n] == [1] * EACH * len(CALLS) + [*CALLS]
    assert [n for n in counts(recording, "main") if n] == [1, 1]
    # Their own numbers are at most 1 + EACH; in the namespace of the test, others had these before.
    assert min(recording.tasks) > 1 + EACH and recording.lost == 0
    tools = [utrail, peer] if PEER else [utrail]
    for tool in tools:
        table = tool("report", "-f", "call").must().out
        assert re.search(rf"^ +{sum(CALLS) + EACH * len(CALLS)} +leaf$", table, re.M), table
        # The peer has a row <0> for the calls that a forked child inherits.
        assert tool is peer or "<" not in table, "a call without a name"
