"""The ways in which record --proc follows processes. Tests with the fixture `way` run once for each
way that is possible here."""

import functools
import json
import re
import tempfile
from collections import Counter

import pytest

from tools import utrail

WAYS = ["ptrace", "bpf"]
_chosen = ["ptrace"]


@functools.cache
def lacking(way):
    """The reason why a way is not possible here, or None."""
    with tempfile.TemporaryDirectory() as place:
        result = utrail("record", f"--proc={way}", "--no-proc-files", "--no-libcall", "-d", f"{place}/data", "true")
    return result.err.strip().splitlines()[-1] if result.status else None


@pytest.fixture(params=WAYS, autouse=True)
def way(request):
    why = lacking(request.param)
    if why:
        pytest.skip(why)
    _chosen[0] = request.param
    return request.param


# Marks for tests of one way only, with indirect=True.
only_ptrace = pytest.mark.parametrize("way", ["ptrace"], indirect=True)
only_bpf = pytest.mark.parametrize("way", ["bpf"], indirect=True)


def proc():
    """The option --proc for the way of the running test."""
    return f"--proc={_chosen[0]}"


def what_matters(all_events):
    """All events, without the numbers and names that differ in each run."""
    same = Counter()
    for event in all_events:
        args = {key: value for key, value in event["args"].items() if key not in ("child", "process", "thread")}
        # The probe's variables name its recorder, so they differ in each run.
        args["environment"] = [word for word in args.get("environment", "").split("\0") if not word.startswith("UTRAIL_")]
        text = re.sub(r"(pipe:\[|socket:\[|/proc/|/tmp/cc)\w+", r"\1", json.dumps(args, sort_keys=True))
        same[event["event"], text] += 1
    return same
