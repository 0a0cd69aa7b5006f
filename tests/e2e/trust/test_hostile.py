"""Programs that are hard to record: stacks that are switched, overrun or very deep, odd names,
forbidden system calls."""

import os
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import METHODS, SOURCES, Program, Variant, build, chosen, in_turn, program
from tools import UTRAIL, environment, run, utrail

VARIANTS = chosen([Variant("gcc", method, opt) for method in METHODS for opt in ("O0", "O2")])
each = pytest.mark.parametrize("variant", VARIANTS, ids=str)


def record(name, variant, *options, args=(), status=None):
    """The recording of a program, which is checked to give the same as a plain run."""
    exe = build(program(name), variant)
    plain = run(exe, *args)
    traced = utrail("record", *options, exe, *args)
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err
    if status is not None:
        assert plain.status == status
    return Recording("uftrace.data")


def count(task, name, kind=ENTRY):
    return sum(r.kind == kind and r.name == name for r in task.records)


@each
def test_deep_recursion(variant):
    """A hundred thousand levels: the outer ones are recorded, the inner ones run untouched."""
    recording = record("deep", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "dive") == count(task, "dive", EXIT) == 1023
    assert trees.of_records(task) == "main{" + "dive{" * 1023 + "}" * 1023 + "after{}}"


@each
@pytest.mark.parametrize("limit", [65535, 2000])
def test_deep_recursion_followed_further(variant, limit):
    """--max-stack above the record's ten bits of depth: calls and returns still pair."""
    recording = record("deep", variant, "--max-stack", limit, "-D", "65534", status=0)
    (task,) = recording.tasks.values()
    calls, returns = count(task, "dive"), count(task, "dive", EXIT)
    assert calls == returns and calls >= 1023
    assert count(task, "after") == 1


CUTS = [
    # options, the number of levels that are kept, True when the options ask for that
    ((), 1024, False),
    (("-F", "main"), 1024, False),
    (("-t", "1ns"), 1024, False),
    (("--max-stack=3000",), 3000, False),
    (("--max-stack=65535",), 65535, False),
    (("--max-stack=2000", "-D", "60000"), 2000, False),
    (("-D", "1024"), 1024, True),
    # Each of the two functions may have 1000 levels below it.
    (("-F", "main", "-F", "dive", "-D", "1000"), 1024, False),
    (("-T", "dive@depth=1000", "-D", "1000"), 1024, False),
    (("--opt-file=options", "--max-stack=3000"), 1024, True),
    (("-D", "50", "--max-stack=3000"), 50, True),
    (("--max-stack=60",), 60, True),
]


def said_of_depth(exe, options, levels, is_asked):
    Path("options").write_text("-D 1024\n")
    traced = utrail("record", *options, exe).must()
    assert traced.out == "100000\n"
    (task,) = Recording("uftrace.data").tasks.values()
    assert count(task, "dive") == count(task, "dive", EXIT) == levels - 1
    info = utrail("info").must().out
    lines = [line.split("|", 1)[-1].strip() for line in utrail("replay").must().out.splitlines()]
    lines = [line for line in lines if not line.startswith("/* linux:")]
    mark = "/* limit:max-stack (deeper calls are not recorded) */"
    if is_asked:
        assert "deeper than" not in traced.err + info and mark not in lines
        return
    # The mark stands once, in the innermost recorded call.
    assert lines.count(mark) == 1 and lines[lines.index(mark) - 1] == "dive() {" and lines[lines.index(mark) + 1] == "} /* dive */"
    missing = 100000 - (levels - 1)
    assert f"{missing} calls were not recorded: they were deeper than {levels} levels" in traced.err
    assert ("--max-stack=N" in traced.err) == (levels < 65535)
    assert re.search(rf"# too deep +: {missing} calls, deeper than {levels} levels "
                     rf"\(task \d+: {missing}\)\n", info)


@each
@pytest.mark.parametrize("options, levels, is_asked", CUTS, ids=str)
def test_missing_levels_are_told(variant, options, levels, is_asked):
    """Calls beyond the limit are counted and reported, unless the user has set that limit."""
    said_of_depth(build(program("deep"), variant), options, levels, is_asked)


@pytest.mark.parametrize("options, levels, is_asked", CUTS, ids=str)
def test_missing_levels_are_told_of_patched(options, levels, is_asked):
    exe = build(program("deep"), Variant("gcc", "none", "O0"))
    said_of_depth(exe, ("-P", ".", *options), levels, is_asked)


@each
@pytest.mark.parametrize("options", [("-F", "main@depth=5"), ("-T", "main@depth=5"), ("-F", "main", "-D", "5")], ids=str)
def test_levels_that_nobody_wants_are_not_missing(variant, options):
    """Calls that a limit of depth leaves out are not counted as missing, even when they are so deep
    that no frames are left."""
    exe = build(program("dives"), variant)
    traced = utrail("record", *options, exe).must()
    (task,) = Recording("uftrace.data").tasks.values()
    assert count(task, "dive") + count(task, "rise") == 3 * 4
    assert "deeper than" not in traced.err


@each
def test_stack_overflow(variant):
    """A stack overflow ends in SIGSEGV as untraced, and is recorded up to there."""
    recording = record("overflow", variant, status=139)
    (task,) = recording.tasks.values()
    assert count(task, "dive") >= 1000


@each
def test_setjmp_from_above(variant):
    """A thousand longjmps, each back into a frame whose callers have made other calls meanwhile."""
    recording = record("jumper", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "leap") == 1000
    assert trees.of_records(task).startswith("main{")
    assert trees.of_records(task).endswith("after{}}")


@each
def test_signal_storm(variant):
    """A timer's signals hit the program and the probe at any instruction; calls and returns still
    pair."""
    recording = record("storm", variant, status=0)
    (task,) = recording.tasks.values()
    entries = sum(r.kind == ENTRY for r in task.records)
    exits = sum(r.kind == EXIT for r in task.records)
    # Records that could not be written are counted: the writer had no CPU, or the probe was
    # interrupted twice.
    assert abs(entries - exits) <= recording.lost
    assert count(task, "work") + count(task, "work", EXIT) + recording.lost >= 400000
    assert count(task, "work") <= 200000


@each
def test_threads_and_fork(variant):
    """fork() while other threads make calls; each child makes calls, too."""
    recording = record("thread_fork", variant, status=0)
    children = [t for t in recording.tasks.values() if count(t, "child_work")]
    assert len(children) == 20
    assert all(count(t, "leaf") == 10 for t in children)


@each
def test_backtrace(variant):
    """backtrace(3) finds the program's own return addresses."""
    record("backtrace", variant, status=0)
    if variant.opt == "O2":
        recording = Recording("uftrace.data")
        (task,) = recording.tasks.values()
        assert count(task, "walks") == 1


@each
def test_seccomp(variant):
    """The program's filter allows only write and exit: calls of the probe must not end it."""
    recording = record("seccomp", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "before") == 1


@pytest.mark.parametrize(
    "name",
    ["with blank", 'quote"inside', "back\\slash", "ümläut", "new\nline", "-dash", "a" * 200, "$(x)"],
    ids=repr,
)
def test_odd_names(workdir, name):
    """Programs, directories and threads with odd names."""
    os.mkdir(name)
    command = ["gcc", "-pg", "-o", f"./{name}/{name}", SOURCES / "plain.c"]
    subprocess.run(command, check=True)
    utrail("record", "-d", f"./{name}/data", f"./{name}/{name}").must()
    replayed = utrail("replay", "-d", f"./{name}/data", "--no-libcall", "-f", "tid").must().out
    assert list(trees.of_replay(replayed)[0].values()) == ["main{a{b{c{}}}b{c{}}c{}}"]
    utrail("report", "--task", "-d", f"./{name}/data").must()
    assert utrail("info", "-d", f"./{name}/data").must().out


def test_recording_inside_a_recording(workdir):
    """The recorded program is a recorder that records another program."""
    exe = build(program("plain"), VARIANTS[0])
    command = f"{UTRAIL} record -d inner {exe}; {exe}"
    utrail("record", "--force", "-d", "outer", "/bin/sh", "-c", command).must()
    for directory in ("inner", "outer"):
        all_trees = [trees.of_records(t) for t in Recording(directory).tasks.values()]
        assert "main{a{b{c{}}}b{c{}}c{}}" in all_trees


def test_two_recordings_at_a_time(workdir):
    exe = build(program("threads"), VARIANTS[0])
    running = [
        subprocess.Popen([UTRAIL, "record", "-d", f"d{i}", exe], env=environment()) for i in range(8)
    ]
    assert [p.wait(60) for p in running] == [0] * 8
    for i in range(8):
        assert len(Recording(f"d{i}").tasks) == 9


def test_many_processes(workdir):
    """A shell starts two hundred short children, in sequence and in parallel."""
    exe = build(program("plain"), VARIANTS[-1])
    script = f"for i in $(seq 100); do {exe} >/dev/null & {exe} >/dev/null; done; wait"
    utrail("record", "--force", "/bin/sh", "-c", script).must()
    recording = Recording("uftrace.data")
    full = [t for t in recording.tasks.values() if trees.of_records(t) == "main{a{b{c{}}}b{c{}}c{}}"]
    assert len(full) == 200


@each
def test_handlers_that_interrupt_the_probe(variant):
    """Handlers that interrupt the probe are recorded like others, whether they return or jump out;
    lost ones are counted."""
    exe = build(program("sigcount"), variant)
    result = utrail("record", "--no-libcall", "--no-event", exe).must()
    recording = Recording("uftrace.data")
    (task,) = recording.tasks.values()
    handled = int(result.err.splitlines()[0])
    seen = count(task, "handler_work")
    # A handler's whole tree is lost: on_alarm, handler_work and two inner, each with ENTRY and
    # EXIT.
    assert recording.lost % 8 == 0
    assert seen + recording.lost // 8 == handled
    # The number depends on the time that hooks wait for a writer without a CPU. A loaded machine
    # still records far more than half.
    assert seen > handled // 2
    assert count(task, "inner") == 2 * seen


@each
@pytest.mark.parametrize("options", [(), ("--no-libcall",), ("-t", "1us"), ("-D", "3"), ("-l",)], ids=" ".join)
def test_unwinders(variant, options):
    """Exceptions, cancelled threads and backtraces come out as untraced."""
    record("unwind", variant, *options, status=134)


@each
def test_shadow_stack(workdir, variant):
    """When the CPU checks return addresses, they must not be replaced: the process runs untraced,
    with a message."""
    compiler = [*variant.command(".c"), "-rdynamic"]
    subprocess.run([*compiler, SOURCES / "odd/shadowstack.c", "-o", "prog"], check=True)
    result = utrail("record", "./prog").must(3)
    assert result.out == "2\n"
    assert "1 process was not traced" in result.err and "shadow stack" in result.err
    utrail("record", "--force", "/bin/sh", "-c", f"./prog; {build(program('plain'), variant)}").must()
    assert [t for t in Recording("uftrace.data").tasks.values() if trees.of_records(t) == "main{a{b{c{}}}b{c{}}c{}}"]


def hostile(name):
    """A program of src/hostile. The test is skipped where a library for it is not installed."""
    (path,) = (SOURCES / "hostile").glob(f"{name}.c*")
    needs = {"boost_context": ("libboost-context-dev", "/usr/include", "boost/context/fiber.hpp"),
             "walker": ("libunwind8", "/usr/lib", "libunwind.so.8")}
    if name in needs:
        package, place, file = needs[name]
        if not any((where / file).exists() for where in (Path(place), *Path(place).glob("*-linux-gnu"))):
            pytest.skip(f"{package} is not installed")
    return Program.read(path)


OTHERS = ("generators", "switches", "throws", "clone", "malloc", "walker", "ownstack", "boost_context")
PATHS = [(), ("--no-libcall",), ("-l",), ("-D", "3"), ("-t", "1us")]


RUNS = [pytest.param(*what, way, id=f"{what[0]}-{' '.join(what[1])}-{way}") for what, way in in_turn(list(product(OTHERS, PATHS)), VARIANTS)]


@pytest.mark.parametrize("name, options, variant", RUNS)
def test_runs_as_untraced(name, options, variant):
    prog = hostile(name)
    if not prog.fits(variant):
        pytest.skip("not with this compiler")
    exe = build(prog, variant)
    plain = run(exe).must()
    traced = utrail("record", *options, exe)
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err
    assert all(task.records for task in Recording("uftrace.data").tasks.values())
    utrail("replay").must()


@each
@pytest.mark.parametrize("how", ["user", "chroot", "env", "network", "secret", "memory"])
def test_caged(workdir, how, variant):
    """The program gives up privileges, root directory, environment, namespaces, core dumps or
    memory. Its tracing may end; the program runs on."""
    exe = build(hostile("caged"), variant)
    plain = run(exe, how, limit=30)
    shutil.rmtree("empty", ignore_errors=True)
    traced = utrail("record", exe, how, limit=60)
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err
    recording = Recording("uftrace.data")
    first = max(recording.tasks.values(), key=lambda t: len(t.records))
    assert count(first, "leaf") >= 1100
    utrail("replay").must()


@each
def test_clone(variant):
    """Children of clone(2), which libc's fork handlers do not see, are tasks of their own. Tracing
    ends in children that share memory."""
    utrail("record", "--no-libcall", build(hostile("clone"), variant)).must()
    recording = Recording("uftrace.data")
    assert recording.lost == 0
    counts = sorted(count(t, "leaf") for t in recording.tasks.values())
    # A child that shares memory and stops its parent (as with vfork) is a task of its own, too.
    assert counts == [20] + [100] * 40


@each
def test_many_coroutines(variant):
    """Each call is recorded once, whatever happens to its coroutine. Stacks that follow each other
    at one place are one task."""
    recording = record("fibers_many", variant, "--no-libcall", status=0)
    assert recording.lost == 0
    made = [t for tid, t in recording.tasks.items() if tid >= 5000000]
    for name, calls in ("body", 10000), ("step", 39800), ("leaf", 76200):
        assert sum(count(t, name) for t in made) == calls
        assert count(max(recording.tasks.values(), key=lambda t: count(t, "main")), name) == 0
    assert sum(count(t, "resume") for t in recording.tasks.values()) == 46400
    assert len(made) < 1000


@each
def test_switches_that_nobody_announces(variant):
    """Stacks that the program makes itself are tasks of their own after the first switch that is
    noticed, whichever thread runs them."""
    exe = build(hostile("switches"), variant)
    utrail("record", "--no-libcall", exe).must()
    recording = Recording("uftrace.data")
    tasks = recording.tasks.values()
    names = {r.name for t in tasks for r in t.records}
    (step,) = [n for n in names if "step" in n]
    (thrower,) = [n for n in names if "thrower" in n]
    assert sum(count(t, step) for t in tasks) == sum(count(t, thrower) for t in tasks) == 3000
    assert sum(count(t, step) for tid, t in recording.tasks.items() if tid >= 5000000) >= 2990
