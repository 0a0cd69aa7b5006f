"""The ways in which record --proc finds out what processes do: tests that take the fixture `way` run once for each that is possible here."""

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
    """The reason why it is not possible here, or None."""
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


# For tests of what only one of them has, with indirect=True.
only_ptrace = pytest.mark.parametrize("way", ["ptrace"], indirect=True)
only_bpf = pytest.mark.parametrize("way", ["bpf"], indirect=True)


def proc():
    """The option, by the way of the test that runs."""
    return f"--proc={_chosen[0]}"


def what_matters(all_events):
    """All events, without the numbers and names that are others each time."""
    same = Counter()
    for event in all_events:
        args = {key: value for key, value in event["args"].items() if key not in ("child", "process", "thread")}
        # The probe's way to its recorder is another one each time.
        args["environment"] = [word for word in args.get("environment", "").split("\0") if not word.startswith("UTRAIL_")]
        text = re.sub(r"(pipe:\[|socket:\[|/proc/|/tmp/cc)\w+", r"\1", json.dumps(args, sort_keys=True))
        same[event["event"], text] += 1
    return same
