"""`record --overhead` limits the cost of recording: functions are left out to keep to it."""

import re
import subprocess
import time
from array import array
from contextlib import contextmanager
from pathlib import Path

import pytest

from data import ENTRY, EXIT, Recording
from programs import METHODS, Variant, build, program
from test_control import check_pairs
from test_control_patch import changed_functions
from tools import UTRAIL, environment, utrail, wait_until

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
PG, _, CYG = VARIANTS
CASES = [(variant, "") for variant in VARIANTS] + [(PG, "threads"), (CYG, "threads"), (PG, "fork")]
NOTES = Path("uftrace.data/left-out.txt")


def lines(kind):
    return [line.split() for line in NOTES.read_text().splitlines() if line.startswith(kind)] if NOTES.exists() else []


def data_bytes():
    return sum(p.stat().st_size for p in Path("uftrace.data").glob("[0-9]*.dat"))


def sizes():
    return {path: path.stat().st_size for path in Path("uftrace.data").glob("[0-9]*.dat")}


def is_quiet():
    """Waits for a while. Returns True when no call of the function that was left out first was
    recorded meanwhile. (The amount of other records depends on the machine's speed.)"""
    in_page = int(lines("function")[0][3], 16) & 0xFFF
    before = sizes()
    time.sleep(0.4)
    for path, size in sizes().items():
        with path.open("rb") as file:
            file.seek(before.get(path, 0))
            words = array("Q", file.read((size - before.get(path, 0)) // 16 * 16))
        # A record's second word has the address in its upper 48 bits.
        if any(word >> 16 & 0xFFF == in_page for word in words[1::2]):
            return False
    return True


@contextmanager
def running(*options, variant=PG, argument=""):
    """The recorder and its program, which ends at the end of the `with` block."""
    exe = build(program("control/budget"), variant)
    command = [UTRAIL, "record", "--no-libcall", "--no-event", "--overhead=20%", *options, exe, argument]
    proc = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    )
    try:
        yield proc
    finally:
        out, proc.told = proc.communicate("\n", timeout=60)
    assert (out, proc.returncode) == ("counted right\n", 3)


def record(*options, variant=PG, argument=""):
    """Record until a function is left out and its calls are no longer recorded."""
    with running(*options, variant=variant, argument=argument) as proc:
        wait_until(lambda: lines("function") and is_quiet())
    assert proc.told == ""
    return Recording("uftrace.data")


def check_task(task):
    """Check that each entry has its exit, of the same function; and that calls of tiny() end while
    those of others go on."""
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
    # tiny() is left out first, and work() is listed as its caller. On a busy machine work() may
    # exceed the budget later, and is then left out, too.
    left_out = lines("function")
    assert int(left_out[0][2]) > 900 and lines("caller")
    assert len({address for _, _, _, address, _ in left_out}) == len(left_out) <= 2
    text = utrail("report", "--no-pager").must().out
    assert re.search(r" tiny \(since \d+\..*% of calls\)$", text, re.M)
    end = "s not all that it calls is recorded)" if len(left_out) == 1 else "% of calls)"
    assert re.search(rf" work \(since \d+\..*{re.escape(end)}$", text, re.M)
    assert len(left_out) == 2 or not [line for line in text.splitlines() if " main (" in line]
    assert re.search(r"# tiny: since \d+\.", utrail("info").must().out)
    assert utrail("replay", "--no-pager").must().out.count("not recorded from here on, by --overhead: tiny (") == 1


def child_of(pid):
    return int(wait_until(lambda: Path(f"/proc/{pid}/task/{pid}/children").read_text()))


# Builds with other hooks are left out here (test_control_patch.py has them): reading the records
# from before the change would take seconds for each.
BUILDS = {
    "none": Variant("gcc", "none", "O2"),
    "xray": Variant("clang", "xray", "O2"),
    "pg": PG,
}


def wait_until_its_hooks_are_out(pid, method):
    """Wait until tiny() has no hook. A compiled-in call becomes nops; a patch is removed, so the
    code is that of the file."""
    was_compiled_in = method in METHODS
    wait_until(lambda: lines("function") and ("tiny" in changed_functions(pid)) == was_compiled_in)


@pytest.mark.parametrize("method", BUILDS)
def test_its_hooks_are_taken_out(method):
    """tiny() loses its hook, and its caller is still recorded. A library that is loaded later works,
    and so does a child, in which tiny() has no hook, either."""
    patch = [] if method in METHODS else ["-P", "."]
    with running(*patch, variant=BUILDS[method], argument="after") as proc:
        pid = child_of(proc.pid)
        wait_until_its_hooks_are_out(pid, method)
        assert ("work" in changed_functions(pid)) == (method not in METHODS)
        before = data_bytes()
        wait_until(lambda: data_bytes() > before + 3200)
    assert proc.told == ""
    recording = Recording("uftrace.data")
    assert recording.lost == 0 and len(recording.tasks) == 2
    for task in recording.tasks.values():
        stack = []
        for r in task.records:
            if r.kind == ENTRY:
                stack.append(r.name)
            elif r.kind == EXIT:
                assert stack.pop() == r.name
        # The child ends inside main().
        assert stack in ([], ["main"])
    names = [[r.name for r in task.records if r.kind == ENTRY] for task in recording.tasks.values()]
    child = min(names, key=len)
    assert child.count("work") == 1 and "tiny" not in child
    assert len(lines("function")) == 1


def test_of_every_process():
    with running("-P", ".", variant=BUILDS["none"], argument="fork") as proc:
        pid = child_of(proc.pid)
        for each in pid, child_of(pid):
            wait_until_its_hooks_are_out(each, "none")
    assert proc.told == ""
    for task in Recording("uftrace.data").tasks.values():
        check_task(task)


def test_the_user_goes_before_it():
    """Functions that the user patches again are recorded from then on, whatever the cost. Readers
    show until when they were left out."""
    with running("-g", "-P", ".", variant=BUILDS["none"]) as proc:
        pid = child_of(proc.pid)
        wait_until_its_hooks_are_out(pid, "none")
        assert utrail("control", "uftrace.data", "patch", "tiny").must().out == "patched: 1 functions\nunpatched: 0 functions\n"
        assert "tiny" in changed_functions(pid)
    assert proc.told == ""
    recording = Recording("uftrace.data")
    check_pairs(recording)
    again = lines("again")
    # The function is not left out again. Others may be, as the cost is too high now.
    assert len(again) == 1 and [line[3] for line in lines("function")].count(again[0][3]) == 1
    since = int(again[0][1].replace(".", ""))
    assert any(r.name == "tiny" and r.time > since for task in recording.tasks.values() for r in task.records)
    assert re.search(r" tiny \(from \d+\.", utrail("report", "--no-pager").must().out)
    assert "; again since " in utrail("info").must().out


@pytest.mark.parametrize(
    "variant, argument, why",
    [
        (BUILDS["none"], "caged", "1 hook of functions that are left out stays: cannot attach to process [0-9]+: it is confined by seccomp"),
        (CYG, "", "'tiny' is left out, but its hooks cannot be taken out: a call of it still costs some nanoseconds\n"),
    ],
    ids=["seccomp", "cyg"],
)
def test_hooks_that_stay(variant, argument, why):
    """Functions whose hooks cannot be taken out are left out by the plan, and -v gives the
    reason."""
    patch = ["-P", "."] if variant == BUILDS["none"] else []
    with running("-v", *patch, variant=variant, argument=argument) as proc:
        wait_until(lambda: lines("function"))
    assert re.search(why, proc.told), proc.told


def test_what_a_filter_names_stays():
    """The function that a filter names is not left out, though it alone exceeds the budget: the
    user asked for it."""
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
