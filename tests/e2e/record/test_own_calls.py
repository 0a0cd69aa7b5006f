"""Calls that the probe makes itself are not recorded as the program's."""

import pytest

from tools import utrail


@pytest.mark.parametrize("options", [[], ["-a"], ["-e"]], ids=lambda o: "".join(o) or "plain")
def test_nothing_is_lost_inside(options):
    """bash changes its signal mask often, and the probe then reads the mask."""
    script = "for i in 1 2 3 4 5; do x=$(echo $i); y=${x/1/2}; done; echo $y"
    traced = utrail("record", "-P", ".", "-P", ".@libc.so.6", *options, "bash", "-c", script).must()
    assert traced.out == "5\n" and "lost" not in traced.err, traced.err
