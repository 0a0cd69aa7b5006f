"""`import utrail`: recordings in Python, as a notebook reads them (misc/python).

The numbers must be those of `utrail report` and `utrail script` for the same recording.
"""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from programs import Variant, build, program
from tools import PEER, TOP, UTRAIL, environment, is_alive, peer, run, wait_until
from tools import utrail as tool

PACKAGE = TOP / "misc/python"
sys.path.insert(0, str(PACKAGE / "src"))

import utrail  # noqa: E402  (the path is set above)

PG = Variant("gcc", "pg", "O2")
LOOP = """
__attribute__((noinline)) void f(void) { __asm__ volatile(""); }
int main(void) { for (int i = 0; i < %d; i++) f(); }
"""
EVENTS = """
#include <unistd.h>
void f(void) { usleep(1); }
int main(void) { f(); f(); }
"""
ORDER = ("function", "tid", "timestamp", "duration", "depth")


@pytest.fixture(autouse=True)
def built_in():
    if "python3" not in tool("--version").out.split():
        pytest.skip("this utrail was built without python3")


@pytest.fixture
def children(monkeypatch):
    """The processes that the module starts in this test."""
    started = []
    popen = subprocess.Popen

    def start(*words, **kw):
        started.append(popen(*words, **kw))
        return started[-1]

    monkeypatch.setattr(utrail._tool.subprocess, "Popen", start)
    return started


def record(what, *words, name="data"):
    tool("record", "-d", name, *words, build(program(what), PG))
    return utrail.open(name, utrail=UTRAIL)


def record_c(text, *words, name="data"):
    Path("made.c").write_text(text)
    run("gcc", "-O1", "-pg", "-o", "made", "made.c").must()
    tool("record", "-d", name, *words, "./made").must()
    return utrail.open(name, utrail=UTRAIL)


def rows_of(columns):
    """The columns as the tuples that iterating yields."""
    name = [columns["names"][i] for i in columns["function"]]
    return list(zip(name, *(columns[key] for key in ORDER[1:])))


def counts(calls):
    return Counter(call.name for call in calls)


def open_descriptors():
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("what", ["plain", "threads", "recursion", "sleeps"])
def test_a_session(workdir, what):
    """All ways to read the calls give the same ones, as many of each function as the report."""
    recording = record(what)
    calls = list(recording.calls())
    columns = recording.calls().columns()
    assert rows_of(columns) == calls and len(calls) > 3
    assert {key: columns[key].format for key in ORDER} == dict(zip(ORDER, "IiQQH"))
    assert [row for batch in recording.calls().batches() for row in rows_of(batch)] == calls
    functions = recording.functions()
    assert counts(calls) == {
        f.name: f.calls for f in functions if not f.name.startswith("linux:")
    }
    tids = {task.tid for task in recording.tasks()}
    assert {call.tid for call in calls} <= tids
    assert recording.info()["cmdline"].split()[:2] == ["utrail", "record"]


def test_calls_are_those_of_a_script(workdir):
    recording = record("threads")
    text = "def uftrace_exit(c): print(c['name'], c['tid'], c['timestamp'] - c['duration'], " \
           "c['duration'], c['depth'])\n"
    Path("s.py").write_text(text)
    out = tool("script", "-S", "s.py", "-d", "data").must().out
    assert out == "".join(" ".join(map(str, call)) + "\n" for call in recording.calls())


def test_functions_are_those_of_the_report(workdir):
    recording = record("recursion")
    words = ["report", "-d", "data", "--format=csv", "-f", "total,self,call"]
    report = tool(*words, preempted=True).must().out.splitlines()
    rows = [line.split(",") for line in report[1:]]
    functions = recording.functions()
    shown = [[str(f.total), str(f.self), str(f.calls)] for f in functions]
    assert [row[:3] for row in rows] == shown
    for f in functions:
        assert f.min <= f.avg <= f.max <= f.total or f.calls > 1
        assert f.self_min <= f.self_avg <= f.self_max and f.min <= f.p50 <= f.p99
    by_calls = [f.calls for f in recording.functions(sort="call")]
    assert by_calls == sorted(by_calls, reverse=True)


def test_filters(workdir):
    """Filters give the calls of `utrail script`. Texts, numbers and lists are accepted."""
    recording = record("recursion")
    every = list(recording.calls())
    assert [c for c in every if c.depth < 2] == list(recording.calls(depth=2))
    assert [c.name for c in recording.calls(function="^main$", depth=1)] == ["main"]
    assert "main" not in counts(recording.calls(notrace=["main"]))
    slow = max(every, key=lambda call: call.duration).duration
    assert all(call.duration >= slow for call in recording.calls(time=slow))
    assert list(recording.calls(time=f"{slow}ns")) == list(recording.calls(time=slow))
    assert list(recording.calls(tids=every[0].tid)) == list(recording.calls(tids=[every[0].tid]))
    libraries = set(counts(every)) - set(counts(recording.calls(libcalls=False)))
    assert libraries and "main" not in libraries
    assert list(recording.calls(function="mai*", match="glob")) \
        == list(recording.calls(function="main"))
    assert {f.name for f in recording.functions(function="main", depth=1)} == {"main"}


def test_range(workdir):
    """A range of numbers has timestamps in nanoseconds, of which one may be None; a text is read by
    utrail."""
    recording = record_c(EVENTS)
    every = list(recording.calls())
    first, last = [call for call in every if call.name == "f"]
    during = list(recording.calls(range=(first.timestamp, first.timestamp + first.duration)))
    assert first in during and last not in during
    text = "{}.{:09}~".format(*divmod(last.timestamp, 10**9))
    after = list(recording.calls(range=text))
    assert after == list(recording.calls(range=(last.timestamp, None)))
    assert last in after and first not in after


def test_numpy(workdir):
    """Arrays share the memory of columns; without numpy the error names it."""
    recording = record("recursion")
    if not importlib.util.find_spec("numpy"):
        with pytest.raises(ImportError, match="numpy"):
            recording.calls().numpy()
        pytest.skip("numpy is not installed (apt-get install python3-numpy)")
    arrays, columns = recording.calls().numpy(), recording.calls().columns()
    for key in ORDER:
        assert arrays[key].tolist() == columns[key].tolist() and arrays[key].flags.aligned
        assert not arrays[key].flags.owndata


def test_events(workdir):
    recording = record_c(EVENTS, "-T", "f@read=proc/statm")
    events = list(recording.events())
    assert [event.name for event in events] == ["read:proc/statm", "diff:proc/statm"] * 2
    for event in events:
        assert {"vmsize", "vmrss", "shared"} == set(event.data)
        assert event.text.startswith("vmsize=") and event.tid == event.pid
    calls = [call for call in recording.calls() if call.name == "f"]
    for call, event in zip(calls, events[::2]):
        assert call.timestamp <= event.timestamp <= call.timestamp + call.duration
    assert [e.name for e in recording.events(event="diff:proc/statm")] == ["diff:proc/statm"] * 2
    assert list(record("plain", name="none").events()) == []


def test_a_million_calls(workdir):
    recording = record_c(LOOP % 1000000)
    assert counts(recording.calls())["f"] == 1000000
    assert {f.name: f.calls for f in recording.functions()}["f"] == 1000000
    columns = recording.calls(function="f").columns()
    assert len(columns["tid"]) == 1000000 and columns["names"] == ["f"]
    sizes = [len(batch["tid"]) for batch in recording.calls(function="f").batches()]
    assert sum(sizes) == 1000000 and max(sizes) < 100000
    f = next(f for f in recording.functions() if f.name == "f")
    assert sum(columns["duration"]) == f.total


def test_left_early(workdir, children):
    """A loop that ends early ends the child, and leaves no descriptor open."""
    recording = record_c(LOOP % 300000)
    before = open_descriptors()
    for call in recording.calls():
        break
    batches = recording.calls().batches()
    assert len(next(batches)["tid"]) > 1000
    assert children[-1].poll() is None
    batches.close()
    next(recording.calls().batches())
    assert all(child.returncode is not None for child in children) and len(children) >= 4
    assert open_descriptors() == before


def program_that_tells(text):
    """A program in the place of utrail: it runs @text, then utrail; for `info`, utrail alone."""
    path = Path("front")
    path.write_text(f'#!/bin/sh\n[ "$1" = info ] || {{ {text}; }}\nexec {UTRAIL} "$@"\n')
    path.chmod(0o755)
    return path.resolve()


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL])
def test_interrupted(workdir, sig):
    """A notebook's kernel alone is interrupted or killed: its child ends, too."""
    record_c(LOOP % 300000)
    front = program_that_tells("echo $$ > pid.tmp; mv pid.tmp pid")
    text = f"""
import sys, time
sys.path.insert(0, {str(PACKAGE / "src")!r})
import utrail
for batch in utrail.open("data", utrail={str(front)!r}).calls().batches():
    print("batch", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(), start_new_session=True, text=True,
    ) as notebook:
        assert notebook.stdout.readline() == "batch\n"
        notebook.send_signal(sig)
        err = notebook.communicate()[1]
    assert ("KeyboardInterrupt" in err) == (sig == signal.SIGINT)
    pid = int(Path("pid").read_text())
    wait_until(lambda: not is_alive(pid))


@pytest.mark.parametrize("path, said", [
    ("none", "cannot open '.*/none': No such file or directory"),
    ("--help", "cannot open '.*/--help': No such file or directory"),
    ("/dev/null", "Not a directory"), (".", "info"), ("a\0b", "null byte"),
])
def test_no_recording(workdir, children, path, said):
    with pytest.raises(utrail.Error, match=said):
        utrail.open(path, utrail=UTRAIL)
    assert all(child.returncode is not None for child in children)


@pytest.mark.parametrize("options, said", [
    ({"function": "a("}, "not a regular expression"), ({"depth": 0}, "'--depth': invalid number"),
    ({"time": "soon"}, "invalid time 'soon'"), ({"range": "x"}, "invalid time range"),
    ({"match": "no"}, "unknown word 'no'"), ({"notrace": "a\0"}, "null byte"),
])
def test_options_that_cannot_be(workdir, options, said):
    recording = record("plain")
    before = open_descriptors()
    for method in recording.calls(**options).columns, lambda: recording.functions(**options):
        with pytest.raises(utrail.Error, match=said):
            method()
    assert open_descriptors() == before


@pytest.mark.parametrize("text, said", [
    ("echo 'utrail: no room' >&2; exit 255", "^no room$"), ("exit 0", "status 0"),
    ("kill -9 $$", "status -9"), ("echo '[{' ; exit 0", "not JSON|status 0"),
])
def test_a_child_that_fails(workdir, text, said):
    record("plain")
    recording = utrail.open("data", utrail=program_that_tells(text))
    with pytest.raises(utrail.Error, match=said):
        list(recording.calls())
    with pytest.raises(utrail.Error, match="no room|not JSON|status"):
        recording.functions()


def test_damaged(workdir):
    """The calls before the damage are there, with a warning."""
    recording = record_c(LOOP % 100000)
    dat = max(Path("data").glob("*.dat"), key=lambda path: path.stat().st_size)
    with open(dat, "r+b") as file:
        file.seek(dat.stat().st_size // 2 // 16 * 16)
        file.write(b"\xff" * 16)
    with pytest.warns(utrail.RecordingWarning, match="^'.*dat' is damaged at offset"):
        few = counts(recording.calls())["f"]
    with pytest.warns(utrail.RecordingWarning, match="is damaged"):
        reported = {f.name: f.calls for f in recording.functions()}["f"]
    # The report counts the open call, too.
    assert 10000 < few <= reported < 100000


@pytest.mark.parametrize("name", ["-d", "a b; touch c $(touch c) `touch c`", "\n'\"", "\udcff"])
def test_any_directory(workdir, name):
    recording = record("recursion")
    os.mkdir("sub")
    os.rename("data", f"sub/{name}")
    os.chdir("sub")
    moved = utrail.open(name, utrail=UTRAIL)
    os.chdir("..")
    assert counts(moved.calls())["main"] == 1 and moved.functions() and moved.tasks()
    assert os.listdir("sub") == [name] and recording.path != moved.path


def test_any_name(workdir):
    """The names of a stranger's recording are text, never code, options or structure."""
    recording = record("plain")
    names = {"a": "größe", "b": "\udcff\udcfe", "c": "__import__('os').abort()\"},{\"name\":\"x"}
    for sym in Path("data").glob("*.sym"):
        lines = [line.rpartition(" ") for line in sym.read_text().split("\n")]
        text = "\n".join(front + space + names.get(name, name) for front, space, name in lines)
        sym.write_text(text, errors="surrogateescape")
    called = counts(recording.calls())
    assert called["größe"] and called[names["c"]] and called[r"\xff\xfe"]
    reported = {f.name: f.calls for f in recording.functions()}
    assert reported["größe"] == called["größe"] and reported[names["c"]] == called[names["c"]]


def test_another_python_around(workdir, monkeypatch):
    """Modules and settings of the notebook's Python do not reach the Python inside utrail."""
    recording = record("plain")
    for module in ("os", "struct", "typing", "_wire"):
        Path(f"{module}.py").write_text("raise SystemExit('not this one')\n")
    monkeypatch.setenv("PYTHONHOME", "/nonexistent")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    before = set((PACKAGE / "src/utrail").iterdir())
    assert counts(recording.calls())["main"] == 1
    assert set((PACKAGE / "src/utrail").iterdir()) == before


@pytest.mark.skipif(not PEER, reason="Debian's uftrace is not installed (apt-get install uftrace)")
def test_recording_of_the_peer(workdir):
    peer("record", "-d", "theirs", build(program("recursion"), PG))
    recording = utrail.open("theirs", utrail=UTRAIL)
    reported = {f.name: f.calls for f in recording.functions() if "linux:" not in f.name}
    assert counts(recording.calls()) == reported and len(reported) > 3


def in_python(text, python=sys.executable, **env):
    return run(python, "-c", text, env=env)


def test_which_program(workdir, monkeypatch):
    """The program is found by the argument, $UTRAIL, the package's prefix, or $PATH; otherwise an
    error tells what to do."""
    record("plain")
    site = Path("prefix/lib/python3/dist-packages").resolve()
    shutil.copytree(PACKAGE / "src/utrail", site / "utrail")
    text = "import utrail; print(utrail.open('data')._program)"
    env = {"PYTHONPATH": site, "PATH": "/nonexistent"}
    assert "no program utrail in $PATH" in in_python(text, **env).must(1).err
    for place in ("path", "prefix/bin", "named"):
        os.makedirs(place)
        os.symlink(UTRAIL, f"{place}/utrail")
    found = [
        in_python(text, **{**env, "PATH": os.path.abspath("path"), **more}).must().out.strip()
        for more in ({}, {"UTRAIL": "named/utrail"})
    ]
    assert found == [os.path.abspath("prefix/bin/utrail"), os.path.abspath("named/utrail")]
    shutil.rmtree("prefix/bin")
    found = in_python(text, **{**env, "PATH": os.path.abspath("path")}).must().out.strip()
    assert found == os.path.abspath("path/utrail")
    assert "'no' (from $UTRAIL)" in in_python(text, **env, UTRAIL="no").must(1).err
    with pytest.raises(utrail.Error, match="'no/such' is not a program"):
        utrail.open("data", utrail="no/such")


def test_version():
    assert f"v{utrail.__version__} " in tool("--version").must().out


def test_installed_by_pip(workdir):
    """pip installs the module from the tree, without a network, into an environment of its own."""
    if not importlib.util.find_spec("ensurepip"):
        pytest.skip("this Python makes no environments (apt-get install python3-venv)")
    missing = [name for name in ("setuptools", "wheel") if not importlib.util.find_spec(name)]
    if missing:
        pytest.skip(f"{missing[0]} is not installed (apt-get install python3-{missing[0]})")
    record("plain")
    shutil.copytree(PACKAGE, "tree")
    run(sys.executable, "-m", "venv", "--system-site-packages", "env").must()
    pip = ["env/bin/python", "-m", "pip", "install", "--no-index", "--no-build-isolation", "./tree"]
    run(*pip).must()
    os.symlink(UTRAIL, "env/bin/utrail")
    text = "import utrail; r = utrail.open('data'); print(utrail.__file__, utrail.__version__); " \
           "print(sorted({c.name for c in r.calls(libcalls=False)}))"
    where, names = in_python(text, "env/bin/python").must().out.splitlines()
    assert where.startswith(os.path.abspath("env")) and where.split()[1] == utrail.__version__
    assert names == str(["a", "b", "c", "main"])
    assert (Path(where.split()[0]).parent / "py.typed").exists()


def test_types():
    """The whole module is annotated, and mypy finds no error."""
    mypy = [sys.executable, "-m", "mypy"]
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed (apt-get install mypy)")
    run(*mypy, "--cache-dir=/dev/null", cwd=PACKAGE).must()


def test_example_of_the_page(workdir):
    """The code in README.md runs on a recording with the functions that it names."""
    record("sleeps", name="uftrace.data")
    blocks = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.S)
    assert len(blocks) > 2
    if not importlib.util.find_spec("numpy"):
        blocks = [block for block in blocks if "numpy" not in block]
    env = {"UTRAIL": UTRAIL, "PYTHONPATH": os.pathsep.join(sys.path)}
    out = in_python("\n".join(blocks), **env).must().out
    assert "main" in out
