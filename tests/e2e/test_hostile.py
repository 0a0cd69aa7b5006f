"""Programs that make it hard: stacks that are switched, run over or very deep, odd names, forbidden system calls."""

import os
import subprocess

import pytest

import trees
from data import ENTRY, EXIT, Recording
from programs import METHODS, SOURCES, Variant, build, program
from tools import UTRAIL, environment, run, utrail

VARIANTS = [Variant("gcc", method, opt) for method in METHODS for opt in ("O0", "O2")]
each = pytest.mark.parametrize("variant", VARIANTS, ids=str)


def record(name, variant, *options, args=(), status=None):
    """Recorded and plain runs give the same; the recording."""
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
    """A hundred thousand deep: the outer levels are recorded, the inner ones run untouched."""
    recording = record("deep", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "dive") == count(task, "dive", EXIT) == 1023
    assert trees.of_records(task) == "main{" + "dive{" * 1023 + "}" * 1023 + "after{}}"


@each
@pytest.mark.parametrize("limit", [65535, 2000])
def test_deep_recursion_followed_further(variant, limit):
    """--max-stack beyond what the record's ten bits of depth can say: calls and returns still pair."""
    recording = record("deep", variant, "--max-stack", limit, "-D", "65534", status=0)
    (task,) = recording.tasks.values()
    calls, returns = count(task, "dive"), count(task, "dive", EXIT)
    assert calls == returns and calls >= 1023
    assert count(task, "after") == 1


@each
def test_stack_overflow(variant):
    """Runs into its stack's end: dies of SIGSEGV as it does untraced, and is recorded up to there."""
    recording = record("overflow", variant, status=139)
    (task,) = recording.tasks.values()
    assert count(task, "dive") >= 1000


@each
def test_coroutines(variant):
    """swapcontext: stacks change under the probe. All calls are there, each one returns where it must."""
    recording = record("coroutines", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "leaf") == count(task, "leaf", EXIT) == 2000
    assert count(task, "step") == 2000
    assert count(task, "first") == count(task, "second") == 1
    utrail("replay").must()


@each
def test_setjmp_from_above(variant):
    """longjmp back into a frame whose callers have made other calls meanwhile; a thousand times."""
    recording = record("jumper", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "leap") == 1000
    assert trees.of_records(task).startswith("main{")
    assert trees.of_records(task).endswith("after{}}")


@each
def test_signal_storm(variant):
    """A timer's signals hit the program and the probe at any instruction; nothing gets out of step."""
    recording = record("storm", variant, status=0)
    (task,) = recording.tasks.values()
    lost = recording.lost
    entries = sum(r.kind == ENTRY for r in task.records)
    exits = sum(r.kind == EXIT for r in task.records)
    assert entries == exits
    # Calls of handlers that interrupted the probe itself are counted as lost, ENTRY and EXIT.
    assert count(task, "work") + count(task, "handler") + lost // 2 >= 200000
    assert count(task, "work") == 200000


@each
def test_threads_and_fork(variant):
    """fork while other threads call; each child calls, too."""
    recording = record("thread_fork", variant, status=0)
    children = [t for t in recording.tasks.values() if count(t, "child_work")]
    assert len(children) == 20
    assert all(count(t, "leaf") == 10 for t in children)


@each
def test_backtrace(variant):
    """backtrace(3) sees the program's own return addresses."""
    record("backtrace", variant, status=0)
    if variant.opt == "O2":
        recording = Recording("uftrace.data")
        (task,) = recording.tasks.values()
        assert count(task, "walks") == 1


@each
def test_seccomp(variant):
    """After a filter that allows nothing but write and exit, the program must not be killed for our calls."""
    recording = record("seccomp", variant, status=0)
    (task,) = recording.tasks.values()
    assert count(task, "before") == 1


@pytest.mark.parametrize(
    "name",
    ["with blank", 'quote"inside', "back\\slash", "ümläut", "new\nline", "-dash", "a" * 200, "$(x)"],
    ids=repr,
)
def test_odd_names(workdir, name):
    """Programs, directories and threads may be called anything."""
    os.mkdir(name)
    command = ["gcc", "-pg", "-o", f"./{name}/{name}", SOURCES / "plain.c"]
    subprocess.run(command, check=True)
    utrail("record", "-d", f"./{name}/data", f"./{name}/{name}").must()
    replayed = utrail("replay", "-d", f"./{name}/data", "--no-libcall", "-f", "tid").must().out
    assert list(trees.of_replay(replayed)[0].values()) == ["main{a{b{c{}}}b{c{}}c{}}"]
    utrail("report", "--task", "-d", f"./{name}/data").must()
    assert utrail("info", "-d", f"./{name}/data").must().out


def test_recording_inside_a_recording(workdir):
    """A recorded program that records another one."""
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
    """Two hundred short children, one after the other and at the same time, by a shell."""
    exe = build(program("plain"), VARIANTS[1])
    script = f"for i in $(seq 100); do {exe} >/dev/null & {exe} >/dev/null; done; wait"
    utrail("record", "--force", "/bin/sh", "-c", script).must()
    recording = Recording("uftrace.data")
    full = [t for t in recording.tasks.values() if trees.of_records(t) == "main{a{b{c{}}}b{c{}}c{}}"]
    assert len(full) == 200


@each
def test_handlers_that_interrupt_the_probe(variant):
    """They are recorded like any others, whether they return or jump out; what is not is counted."""
    exe = build(program("sigcount"), variant)
    result = utrail("record", "--no-libcall", "--no-event", exe).must()
    recording = Recording("uftrace.data")
    (task,) = recording.tasks.values()
    handled = int(result.err.splitlines()[0])
    seen = count(task, "handler_work")
    # A lost tree of calls: on_alarm, handler_work and two inner, each with ENTRY and EXIT.
    assert recording.lost % 8 == 0
    assert seen + recording.lost // 8 == handled
    assert seen > handled * 9 // 10
    assert count(task, "inner") == 2 * seen


@each
@pytest.mark.parametrize("options", [(), ("--no-libcall",), ("-t", "1us"), ("-D", "3"), ("-l",)], ids=" ".join)
def test_unwinders(variant, options):
    """Exceptions, cancelled threads and backtraces come out as they do untraced."""
    record("unwind", variant, *options, status=134)
