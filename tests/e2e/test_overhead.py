"""`record --overhead`: what recording may cost, and the functions that are left out for it."""

import subprocess
import time
from pathlib import Path

import pytest

from data import ENTRY, EXIT, Recording
from programs import METHODS, Variant, build, program
from tools import UTRAIL, environment, utrail, wait_until

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
PG, _, CYG = VARIANTS
CASES = [(variant, "") for variant in VARIANTS] + [(PG, "threads"), (CYG, "threads"), (PG, "fork")]
NOTES = Path("uftrace.data/left-out.txt")


def lines(kind):
    return [line.split() for line in NOTES.read_text().splitlines() if line.startswith(kind)] if NOTES.exists() else []


def data_bytes():
    return sum(p.stat().st_size for p in Path("uftrace.data").glob("[0-9]*.dat"))


def is_quiet():
    """Nobody has called the tiny function for a while, or it would show: a round of it is 640 kB, and one without it 32 bytes."""
    before = data_bytes()
    time.sleep(0.4)
    return data_bytes() - before < 500_000


def record(*options, variant=PG, argument=""):
    """The program runs until something is left out and nothing of it comes any more."""
    exe = build(program("control/budget"), variant)
    command = [UTRAIL, "record", "--no-libcall", "--no-event", "--overhead=20%", *options, exe, argument]
    proc = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    )
    try:
        wait_until(lambda: lines("function") and is_quiet())
    finally:
        out, err = proc.communicate("\n", timeout=60)
    assert (out, err, proc.returncode) == ("counted right\n", "", 3)
    return Recording("uftrace.data")


def check_task(task):
    """Each entry has its exit, of the same function; the tiny one is not called any more when the others still are."""
    stack, last = [], {}
    for r in task.records:
        if r.kind == ENTRY:
            stack.append(r.name)
            last[r.name] = r.time
        elif r.kind == EXIT:
            assert stack.pop() == r.name
    assert not stack
    if "tiny" in last:
        assert last["tiny"] < last["work"]


@pytest.mark.parametrize("variant, argument", CASES, ids=str)
def test_the_tiny_function_is_left_out(variant, argument):
    recording = record(variant=variant, argument=argument)
    assert recording.lost == 0
    for task in recording.tasks.values():
        check_task(task)
    # First of all, with who calls it. On a busy machine even its caller, later, may cost more than the budget.
    left_out = lines("function")
    assert int(left_out[0][2]) > 900 and lines("caller")
    assert len({address for _, _, _, address, _ in left_out}) == len(left_out) <= 2
    text = utrail("report", "--no-pager").must().out
    assert [line for line in text.splitlines() if " tiny (since 0." in line and line.endswith("% of calls)")]
    end = "s not all that it calls is recorded)" if len(left_out) == 1 else "% of calls)"
    assert [line for line in text.splitlines() if " work (since 0." in line and line.endswith(end)]
    assert len(left_out) == 2 or not [line for line in text.splitlines() if " main (" in line]
    assert "# tiny: since 0." in utrail("info").must().out
    assert utrail("replay", "--no-pager").must().out.count("not recorded from here on, by --overhead: tiny (") == 1


def test_what_a_filter_names_stays():
    """Only the filter's function is called within it, and that is what was asked for."""
    exe = build(program("control/budget"), PG)
    proc = subprocess.Popen(
        [UTRAIL, "record", "--no-libcall", "--no-event", "--overhead=20%", "-F", "tiny", exe],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    wait_until(lambda: Path("uftrace.data").exists() and data_bytes() > 20_000_000)
    out, err = proc.communicate("\n", timeout=60)
    assert (out, err, proc.returncode) == ("counted right\n", "", 3)
    assert not NOTES.exists()


def test_within_a_filter():
    recording = record("-F", "work")
    for task in recording.tasks.values():
        check_task(task)
    assert 1 <= len(lines("function")) <= 2


def test_little_is_left_alone():
    utrail("record", "--overhead=100%", "--no-event", build(program("recursion"), PG)).must(25)
    assert not NOTES.exists()


@pytest.mark.parametrize(
    "word, why",
    [
        ("abc", "'abc' for '--overhead' is no percentage: 20% is one"),
        ("20x", "'20x' for '--overhead' is no percentage: 20% is one"),
        ("-5%", "'-5%' for '--overhead' is no percentage: 20% is one"),
        ("0%", "'0%' for '--overhead' is out of range: 1% to 100%"),
        ("1000%", "'1000%' for '--overhead' is out of range: 1% to 100%"),
    ],
)
def test_wrong_words(word, why):
    assert utrail("record", f"--overhead={word}", "true").must(2).err == f"utrail: {why}\n"


@pytest.mark.parametrize("option", ["--flight=1m", "--estimate-return"])
def test_what_excludes_it(option):
    err = utrail("record", "--overhead=5%", option, "true").must(2).err
    assert err.startswith(f"utrail: '--overhead' cannot be used together with '{option.split('=')[0]}'")
