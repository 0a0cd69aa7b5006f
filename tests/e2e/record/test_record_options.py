"""Options of `record`: each one changes its own part, and nothing else."""

import os
import re
import time

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import METHODS, Variant, build, program
from tools import LIMIT_S, run, utrail

VARIANTS = [Variant("gcc", method, "O2") for method in METHODS]
each_method = pytest.mark.parametrize("variant", VARIANTS, ids=str)


def record(*options, prog="plain", variant=VARIANTS[0], status=0):
    result = utrail("record", "--no-libcall", *options, build(program(prog), variant)).must(status)
    return result, Recording("uftrace.data")


def tree(recording):
    (task,) = recording.tasks.values()
    return trees.of_records(task)


@each_method
@pytest.mark.parametrize(
    "depth, expected",
    [
        (1, "main{}"),
        (2, "main{a{}b{}c{}}"),
        (3, "main{a{b{}}b{c{}}c{}}"),
        (4, "main{a{b{c{}}}b{c{}}c{}}"),
        (65534, "main{a{b{c{}}}b{c{}}c{}}"),
    ],
)
def test_depth(variant, depth, expected):
    assert tree(record("-D", depth, variant=variant)[1]) == expected


@each_method
def test_depth_of_signal_handlers_and_jumps(variant):
    """Calls that are left out must not unbalance the calls around them."""
    recording = record("-D", 2, prog="longjmp", variant=variant, status=2)[1]
    assert tree(recording) == "main{tries{}after{}}"
    recording = record("-D", 3, prog="signal", variant=variant)[1]
    assert tree(recording) == "main{work{handler{}}after{}}"


def tree_without_late(recording, threshold_ns, *, late):
    """The tree without those calls of @late that took longer than the threshold: on a busy machine
    a nap may take much longer."""
    (task,) = recording.tasks.values()
    calls = [r for r in task.records if r.kind in (ENTRY, EXIT)]
    left_out = set()
    for i, (entry, end) in enumerate(zip(calls, calls[1:])):
        if entry.kind == ENTRY and end.kind == EXIT:
            assert end.time - entry.time > threshold_ns, f"{entry.name} is too short to be recorded"
            if entry.name in late:
                left_out |= {i, i + 1}
    task.records = [r for i, r in enumerate(calls) if i not in left_out]
    return trees.of_records(task)


@each_method
def test_time_filter(variant):
    """With -t, only calls that took longer than this time are recorded, and their callers. The
    option is also in default.opts, for commands that read the recording."""
    recording = record("-t", "20ms", prog="sleeps", variant=variant)[1]
    assert tree_without_late(recording, 20000000, late={"nap_10ms", "quick"}) == "main{outer{nap_30ms{}}nap_30ms{}}"
    assert "-t" in (recording.path / "default.opts").read_text()
    recording = record("-t", "5ms", prog="sleeps", variant=variant)[1]
    assert tree_without_late(recording, 5000000, late={"quick"}) == "main{nap_10ms{}outer{nap_30ms{}}nap_30ms{}}"


@each_method
def test_time_filter_of_a_program_that_does_not_return(variant):
    """Calls that never return have no duration, so -t does not record them."""
    recording = record("-t", "20ms", prog="end_exit", variant=variant, status=4)[1]
    assert all(task.records == [] for task in recording.tasks.values())


@each_method
def test_size_filter(variant):
    """Smaller functions are left out, the functions that they call are not."""
    recording = record("-Z", 200, prog="sizes", variant=variant)[1]
    assert tree(recording) == "large{}"
    recording = record("-Z", 1, prog="sizes", variant=variant)[1]
    assert tree(recording) == "main{small{large{}}}"


@each_method
def test_trace_off(variant):
    result, recording = record("--trace=off", prog="end_exit", variant=variant, status=4)
    assert all(task.records == [] for task in recording.tasks.values())
    assert result.out == "going to end\n"


def test_no_randomize_addr():
    bases = set()
    for _ in range(2):
        recording = record("--no-randomize-addr")[1]
        (modules,) = recording.maps.values()
        bases.add(tuple((start, path) for start, _, path in modules))
    assert len(bases) == 1
    assert tree(recording) == "main{a{b{c{}}}b{c{}}c{}}"


@pytest.mark.parametrize("size", ["1", "4096", "4k", "64k", "1M", "32m"])
def test_buffer(size):
    recording = record("-b", size, prog="threads")[1]
    assert recording.lost == 0
    worker = trees.expand("worker{work{leaf*100{}}}")
    assert [trees.of_records(t) for t in recording.tasks.values()].count(worker) == 8


@pytest.mark.parametrize("writers", [1, 2, 16, 64])
def test_num_thread(writers):
    recording = record("--num-thread", writers, prog="threads_many")[1]
    assert recording.lost == 0
    short = [t for t in recording.tasks.values() if trees.of_records(t) == "worker{leaf{}leaf{}}"]
    assert len(short) == 1000


CLOCKS = {
    "mono": time.CLOCK_MONOTONIC,
    "mono_raw": time.CLOCK_MONOTONIC_RAW,
    "boot": time.CLOCK_BOOTTIME,
    "realtime": time.CLOCK_REALTIME,
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clock(name):
    """Each record's time lies between two readings of the clock around the run."""
    exe = build(program("plain"), VARIANTS[0])
    before = time.clock_gettime_ns(CLOCKS[name])
    utrail("record", "--clock", name, exe).must()
    after = time.clock_gettime_ns(CLOCKS[name])
    times = [r.time for t in Recording("uftrace.data").tasks.values() for r in t.records]
    assert before <= min(times) and max(times) <= after


def test_clock_agrees_with_the_kernel():
    """For half a second a program notes CLOCK_MONOTONIC before and after each call. The times of a
    call's records must lie between these two times."""
    out = record(prog="notes_time")[0].out
    recording = Recording("uftrace.data")
    (task,) = recording.tasks.values()
    marks = [r for r in task.records if r.name == "mark"]
    notes = [tuple(map(int, line.split())) for line in out.splitlines()]
    assert len(marks) == 2 * len(notes) == 1000
    allowed_ns = 2000
    for (before, after), entry, leave in zip(notes, marks[::2], marks[1::2]):
        assert entry.kind == ENTRY
        assert before - allowed_ns <= entry.time <= leave.time <= after + allowed_ns


@each_method
@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_max_stack(variant, limit):
    recording = record("--max-stack", limit, variant=variant)[1]
    full = ["main{}", "main{a{}b{}c{}}", "main{a{b{}}b{c{}}c{}}", "main{a{b{c{}}}b{c{}}c{}}"]
    assert tree(recording) == full[min(limit, 4) - 1]
    assert recording.max_stack == limit


def test_nop():
    exe = build(program("end_exit"), VARIANTS[0])
    result = utrail("record", "--nop", exe).must(4)
    assert result.out == "going to end\n"
    assert not os.path.exists("uftrace.data")


def test_force():
    """A program that is not instrumented is refused. With --force its instrumented children are
    recorded."""
    exe = build(program("plain"), VARIANTS[0])
    refused = utrail("record", "/bin/env", exe)
    assert refused.status != 0 and refused.out == ""
    assert "/bin/env" in refused.err and "--force" in refused.err
    utrail("record", "--force", "/bin/sh", "-c", f"{exe}; {exe}; exit 7").must(7)
    all_trees = [trees.of_records(t) for t in Recording("uftrace.data").tasks.values()]
    assert sorted(filter(None, all_trees)) == ["main{a{b{c{}}}b{c{}}c{}}"] * 2


def test_time():
    lines = record("--time", prog="sleeps")[0].out.splitlines()[-3:]
    labels = ["elapsed time", " system time", "   user time"]
    for line, label in zip(lines, labels):
        assert re.fullmatch(re.escape(label) + r": +\d+\.\d{9} sec", line) and len(line) == 35, line
    assert 0.07 <= float(lines[0].split()[-2]) < LIMIT_S


def test_data_dir(workdir):
    """-d names the directory. An existing recording becomes .old, which replaces an older one."""
    exe = build(program("plain"), VARIANTS[0])
    for _ in range(3):
        utrail("record", "-d", "elsewhere/", exe).must()
    assert sorted(os.listdir()) == ["elsewhere", "elsewhere.old"]
    assert tree(Recording("elsewhere")) == tree(Recording("elsewhere.old"))


def test_libmcount_path(workdir):
    exe = build(program("plain"), VARIANTS[0])
    failed = utrail("record", "--libmcount-path", workdir, exe)
    assert failed.status != 0 and str(workdir) in failed.err and failed.err.count("\n") == 1
    from tools import BUILD

    for path in (BUILD, BUILD / "libmcount"):
        utrail("record", "--libmcount-path", path, exe).must()
        assert tree(Recording("uftrace.data")) == "main{a{b{c{}}}b{c{}}c{}}"


def test_program_arguments_are_its_own(workdir):
    """Words after the program's name are passed on. The program may be found by a relative path and
    by $PATH."""
    exe = build(program("arguments"), VARIANTS[0])
    expected = ["-d", "x", "--help", "a b", "", "-D1"]
    assert utrail("record", exe, *expected).must().out == "".join(f"<{a}>\n" for a in expected)
    os.symlink(exe, "prog")
    assert utrail("record", "./prog", "1").must().out == "<1>\n"
    path = f"{exe.parent}:{os.environ['PATH']}"
    assert utrail("record", exe.name, "2", env={"PATH": path}).must().out == "<2>\n"


def test_environment_and_streams_are_the_programs_own(workdir):
    """The program has the same stdin and state of signals as without utrail. It also has the same
    environment, except for LD_PRELOAD and variables of utrail."""
    script = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    exe = build(program("plain"), VARIANTS[0])
    with open("input", "w") as f:
        f.write("text\n")
    with open("input") as f:
        got = utrail("record", "--force", "/usr/bin/python3", "-c", script, stdin=f).must()
    assert got.out == "TEXT\n"

    plain = run("/usr/bin/env", env={"LD_PRELOAD": ""}).must().out.splitlines()
    traced = utrail("record", "--force", "/usr/bin/env").must().out.splitlines()
    ours = ("LD_PRELOAD=", "UTRAIL_")
    assert {x for x in plain if not x.startswith(ours)} == {x for x in traced if not x.startswith(ours)}
    assert exe.exists()
    status = "/proc/self/status"
    plain = run("/bin/grep", "^Sig[BIC]", status).must().out
    assert utrail("record", "--force", "/bin/grep", "^Sig[BIC]", status).must().out == plain


def test_command_line_can_be_pasted(workdir):
    """`info` shows the command line so that a shell makes the original words of it. Quotes are
    written as uftrace does."""
    words = ["a b", "it's", 'q"x', "back\\slash", "", "$HOME", "`id`", "!x", "*", "x\\", 'x\\"', "größe"]
    exe = build(program("plain"), VARIANTS[0])
    utrail("record", "-d", "data", exe, *words).must()
    (line,) = re.findall(r"^# cmdline +: (.*)$", utrail("info", "-d", "data").must().out, flags=re.M)
    assert '"q\\"x"' in line
    assert run("sh", "-c", f"printf '%s|' {line}").must().out == "|".join(["utrail", "record", "-d", "data", str(exe), *words, ""])
