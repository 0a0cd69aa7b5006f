"""utrail-tutorial(7): each typed command prints what the page shows, except times, addresses and
numbers of processes."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tools import BUILD, TOP, run

PAGE = TOP / "doc/man/utrail-tutorial.7.in"
TEXT = Path("/usr/share/common-licenses/GPL-3")

# Each letter stands for a time, an address or a number, which differ from run to run.
CHANCE = [
    (r"[-+]?\d+\.\d{3} (us|ms|s)\b", "T"),
    (r"\b\d+\.\d{9}\b", "S"),
    (r"0x[0-9a-f]+|session: [0-9a-f]+", "A"),
    (r"\[ *\d+\] \|", "[P] |"),
    (r"^(T T) \d+ #*$", r"\1 N"),  # lines of a histogram
    (r"\d+ (linux:schedule)", r"N \1"),
    # The bars of a graph: events of the scheduler between the calls change them.
    (r" : [ |]*(\+-)?", " : "),
]


def pairs():
    """The typed words and the lines of their output, which the page has between .nf and .fi."""
    found = []
    for block in re.findall(r"^\.nf\n(.*?)^\.fi$", PAGE.read_text(), re.M | re.S):
        for line in block.replace("\\-", "-").replace("\\&", "").splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def without_chance(line):
    line = " ".join(line.split())
    for pattern, letter in CHANCE:
        line = re.sub(pattern, letter, line)
    return line.strip()


@pytest.mark.skipif(not TEXT.exists(), reason=f"{TEXT} is not there")
def test_each_command_says_what_the_page_says(workdir):
    shutil.copy(TOP / "doc/samples/words.c", workdir)
    commands = pairs()
    has_events = True
    assert len(commands) > 15
    for typed, expected in commands:
        result = run("bash", "-c", typed, env={"PATH": f"{BUILD}:{os.environ['PATH']}"}).must()
        got = {without_chance(line) for line in result.out.splitlines()}
        if typed == "utrail report":
            has_events = "linux:schedule" in result.out
        for line in expected:
            # Without the scheduler's events no sleep is shown, and usleep() has one line.
            if line == "..." or (not has_events and re.search("linux:|usleep", line)):
                continue
            assert without_chance(line) in got, f"$ {typed}\n{result.out}\n--- the page says\n{line}"


def test_ten_steps():
    steps = re.findall(r"^\.SS (\d+)\. ", PAGE.read_text(), re.M)
    assert steps == [str(i) for i in range(1, 11)]
