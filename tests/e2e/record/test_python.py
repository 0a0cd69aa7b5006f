"""Python programs: calls of functions in Python and in C, without a change of the program, its
command line or its environment. When a program begins, the probe becomes a tool of sys.monitoring
in an audit hook. Before Python 3.12 it sets a profile function instead."""

import pstats
import re
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from tools import UTRAIL, peer, run, utrail

PYTHON = "/usr/bin/python3"

pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"needs {PYTHON}")


def other_pythons():
    found = {Path(f"/usr/bin/python{v}") for v in ("3.9", "3.10", "3.12", "3.13") if Path(f"/usr/bin/python{v}").exists()}
    found |= {p.resolve() for p in Path.home().glob(".pyenv/versions/3.*/bin/python3") if p.resolve().name in ("python3.9", "python3.10", "python3.12", "python3.13")}
    return sorted(found)


SHAPES = """\
import os
class A:
    def get(self, x):
        return x + 1
    @classmethod
    def make(cls):
        return cls()
class B(A):
    pass
def outer():
    def inner(n):
        return n * 2
    return sorted([3, 1], key=lambda v: inner(-v))
def numbers():
    yield 1
    yield 2
def fails():
    raise ValueError("no")
def catches():
    try:
        fails()
    except ValueError:
        return len("abc")
A.make().get(4)
B().get(5)
outer()
print(sum(numbers()), catches(), os.getpid() > 0)
"""

SHAPES_TREE = """\
__main__.<module>() {
  builtins.__build_class__() {
    A();
  } /* builtins.__build_class__ */
  builtins.__build_class__() {
    B();
  } /* builtins.__build_class__ */
  A.make();
  A.get();
  A.get();
  outer() {
    builtins.sorted() {
      outer.<locals>.<lambda>() {
        outer.<locals>.inner();
      } /* outer.<locals>.<lambda> */
      outer.<locals>.<lambda>() {
        outer.<locals>.inner();
      } /* outer.<locals>.<lambda> */
    } /* builtins.sorted */
  } /* outer */
  builtins.sum() {
    numbers();
    numbers();
    numbers();
  } /* builtins.sum */
  catches() {
    fails();
    builtins.len();
  } /* catches */
  posix.getpid();
  builtins.print();
} /* __main__.<module> */
"""


def write(cwd, text, name="prog.py"):
    path = cwd / name
    path.write_text(text)
    return path


def record(cwd, text, *options, python=PYTHON, status=0):
    """The program's output, which is checked to be the same untraced."""
    path = write(cwd, text)
    # Python 3.12 warns of a fork while there are threads, which may just be about to end.
    env = {"PYTHONWARNINGS": "ignore"}
    bare = run(python, path, cwd=cwd, env=env)
    got = utrail("record", *options, "--no-event", python, path, cwd=cwd, env=env).must(status)
    assert (got.out, got.status, got.err) == (bare.out, bare.status, bare.err)
    return got.out


def tree(cwd, *options, tool=utrail):
    text = tool("replay", "-f", "none", *options, cwd=cwd).must().out
    # The calls at the interpreter's end are not tested.
    return text.split("\n} /* __main__.<module> */\n")[0] + "\n} /* __main__.<module> */\n"


def calls(cwd, *options):
    report = utrail("report", "-f", "call", *options, cwd=cwd).must().out
    rows = re.findall(r"^ +(\d+)  (\S+)$", report, re.M)
    return {name: int(nr) for nr, name in rows}


def has_qualified_names():
    return run(PYTHON, "-c", "import sys; print(sys.version_info >= (3, 11))").out == "True\n"


@pytest.mark.skipif(not has_qualified_names(), reason="code has qualified names from 3.11 on")
def test_calls_are_a_tree(tmp_path):
    record(tmp_path, SHAPES)
    assert tree(tmp_path) == SHAPES_TREE


@pytest.mark.needs_peer
@pytest.mark.skipif(not has_qualified_names(), reason="code has qualified names from 3.11 on")
def test_the_peer_reads_it(tmp_path):
    record(tmp_path, SHAPES)
    assert tree(tmp_path, tool=peer).replace("}; /*", "} /*").split("\n", 1)[1] == SHAPES_TREE.split("\n", 1)[1]


def test_a_script_is_recorded_without_force(tmp_path):
    for line in f"#!{PYTHON} -s", "#!/usr/bin/env python3":
        path = write(tmp_path, f"{line}\ndef f(): pass\nf()\n")
        path.chmod(0o755)
        utrail("record", "--no-event", path, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}).must()
        assert calls(tmp_path)["f"] == 1
    path = write(tmp_path, "#!/bin/sh\ntrue\n")
    assert "use --force" in utrail("record", path, cwd=tmp_path).must(1).err


@pytest.mark.parametrize("rule", [".", "Py_BytesMain"])
def test_a_patched_interpreter_is_left_to_itself(tmp_path, rule):
    """-P asks for the interpreter's own calls. Python's functions are not recorded then, since a
    profile function would add calls."""
    (tmp_path / "prog.py").write_text("def f():\n    return len('x')\nprint(f())\n")
    result = utrail("record", "-P", rule, "-d", tmp_path / "data", PYTHON, tmp_path / "prog.py").must()
    assert result.out == "1\n"
    assert "functions of Python's own interpreter are patched (-P)" in result.err
    names = utrail("report", "-d", tmp_path / "data", "-f", "none").must().out.split()
    assert "Py_BytesMain" in names and "f" not in names
    assert not {"PyEval_SetProfile", "_PyEval_SetProfile"} & set(names)


def test_a_patched_module_in_c_is_beside_python(tmp_path):
    (tmp_path / "prog.py").write_text("import zlib\ndef f():\n    return zlib.crc32(b'x')\nprint(f())\n")
    result = utrail("record", "-P", "crc32@libz.so.1", "-d", tmp_path / "data", PYTHON, tmp_path / "prog.py").must()
    assert "interpreter are patched" not in result.err
    assert "f" in utrail("report", "-d", tmp_path / "data", "-f", "none").must().out.split()


def test_lines_are_told(tmp_path):
    record(tmp_path, SHAPES, "--srcline")
    shown = utrail("replay", "-f", "none", "--srcline", cwd=tmp_path).must().out
    assert re.search(r"A\.get\(\); /\* \S*/prog\.py:3 \*/", shown) or "get(); /*" in shown
    assert "/prog.py:1 */" in shown.split("\n")[0]


LIBRARY = """\
import json, functools, collections
@functools.lru_cache
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)
class Own(list):
    def __len__(self):
        return 7
def use():
    own = Own([3, 1, 2])
    own.append(4)
    own.sort(key=abs)
    d = collections.deque([1])
    d.append(2)
    len(own)
    return json.loads(json.dumps({"a": [1, 2, {"b": None}]}))
def main():
    for i in range(10):
        use()
    cached(20)
main()
"""


def plain_name(name):
    """The last part of a name in cProfile's tables and in ours, without modules and classes."""
    return re.sub(r"<built-in method (\S+)>|<method '(\S+)' of '\S+' objects>", r"\1\2", name).rpartition(".")[2]


def profiled(cwd, text):
    """The calls within main() as cProfile counts them."""
    write(cwd, text.replace("\nmain()\n", "\nimport cProfile, pstats\np = cProfile.Profile()\np.runcall(main)\np.dump_stats('prof')\n"), "profiled.py")
    run(PYTHON, "profiled.py", cwd=cwd).must()
    counts = Counter()
    for (_, _, name), (_, nr, *_) in pstats.Stats(str(cwd / "prof")).stats.items():
        counts[plain_name(name)] += nr
    del counts["disable"]
    return counts


def test_calls_are_as_many_as_cprofile_counts(tmp_path):
    record(tmp_path, LIBRARY, "--nest-libcall", "-F", "main")
    ours = Counter()
    for name, nr in calls(tmp_path).items():
        ours[name.rpartition(".")[2]] += nr
    expected = profiled(tmp_path, LIBRARY)
    assert {name: ours[name] for name in expected} == expected
    # Modules in C call functions of the interpreter and of libc.
    assert not [name for name in set(ours) - set(expected) if not re.match("_?Py|mem|str", name)]


def test_libraries_are_one_level(tmp_path):
    record(tmp_path, LIBRARY)
    shown = calls(tmp_path)
    assert shown["json.dumps"] == shown["json.loads"] == shown["list.append"] == 10
    assert not [name for name in shown if name.startswith("json.encoder")]
    assert not [name for name in shown if name in ("malloc", "memcpy", "strlen")]
    record(tmp_path, LIBRARY, "--no-libcall")
    shown = calls(tmp_path)
    assert {name.rpartition(".")[2] for name in shown} == {"<module>", "cached", "Own", "__len__", "main", "use"}


FILTERED = """\
def leaf(n): return n
def middle(n): return leaf(n) + leaf(n)
def other(n): return leaf(n)
def top(n): return middle(n) + other(n)
for i in range(3):
    top(i)
late = eval("lambda: leaf(9)")
late()
"""


@pytest.mark.parametrize("options, expected", [
    (("-F", "middle"), {"middle": 3, "leaf": 6}),
    (("-N", "middle"), {"__main__.<module>": 2, "top": 3, "other": 3, "leaf": 4, "<lambda>": 1, "builtins.eval": 1}),
    (("-F", "top", "-N", "^mid"), {"top": 3, "other": 3, "leaf": 3}),
    (("-D", "2"), {"__main__.<module>": 1, "top": 3, "<lambda>": 1, "builtins.eval": 1}),
    (("-F", "top@depth=2"), {"top": 3, "middle": 3, "other": 3}),
    (("-C", "other"), {"__main__.<module>": 1, "top": 3, "other": 3}),
    (("-F", "leaf"), {"leaf": 10}),
])
def test_filters_go_by_name(tmp_path, options, expected):
    path = write(tmp_path, FILTERED)
    utrail("record", *options, "--no-event", PYTHON, path, cwd=tmp_path).must()
    own = {name: nr for name, nr in calls(tmp_path).items() if not name.startswith("<module>")}
    assert {name: nr for name, nr in own.items() if "module" not in name or name in expected} == expected


THREADS = """\
import os, threading
def leaf(n): return n
def work(n):
    for i in range(n): leaf(i)
threads = [threading.Thread(target=work, args=(20,)) for _ in range(5)]
for t in threads: t.start()
for t in threads: t.join()
pid = os.fork()
if not pid:
    def fresh(): return leaf(1)
    fresh()
    os._exit(3)
def parent(): return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(parent())
"""


def test_threads_and_forks(tmp_path):
    record(tmp_path, THREADS)
    shown = calls(tmp_path)
    assert (shown["work"], shown["leaf"], shown["fresh"], shown["parent"]) == (5, 101, 1, 1)


METACLASS = """\
class Meta(type):
    def __getattribute__(cls, name):
        print("looked at", name)
        return type.__getattribute__(cls, name)
class Own(list, metaclass=Meta): pass
class Getter:
    def __get__(self, o, t): raise SystemExit("got")
class Other(list):
    append = Getter()
def f():
    Own().extend([1])
    list.append(Other(), 1)
    dict.fromkeys("ab")
    str.maketrans("a", "b")
f()
"""


def test_names_of_methods_run_no_code_of_the_programs(tmp_path):
    record(tmp_path, METACLASS)
    shown = calls(tmp_path)
    assert shown["list.extend"] == shown["list.append"] == shown["dict.fromkeys"] == shown["str.maketrans"] == 1


ENDS = {
    "an exception that nobody catches": ("def f(): raise KeyError(1)\nf()\n", 1),
    "exit in a function": ("import sys\ndef f(): sys.exit(5)\nf()\n", 5),
    "_exit in a function": ("import os\ndef f(): os._exit(6)\nf()\n", 6),
    "a generator that is never finished": ("def g():\n    yield 1\n    yield 2\nx = g()\nnext(x)\ndef f(): pass\nf()\n", 0),
    "too deep": ("def d(n): return d(n + 1)\ntry:\n    d(0)\nexcept RecursionError: print('deep')\ndef f(): pass\nf()\n", 0),
    "a destructor at the end": ("class D:\n    def __del__(self): f()\ndef f(): print('bye')\nd = D()\n", 0),
    "atexit": ("import atexit\ndef f(): print('bye')\natexit.register(f)\n", 0),
    "coroutines": ("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 3\nprint(asyncio.run(f()))\n", 0),
    "other interpreters": ("""\
try: import _xxsubinterpreters as interpreters
except ImportError: interpreters = None
def f(): pass
f()
for i in range(3 if interpreters else 0):
    one = interpreters.create()
    interpreters.run_string(one, "def inside(n): return n\\ninside(1)\\ninside(2)\\nimport json\\njson.dumps([1])")
    interpreters.destroy(one)
print("done")
""", 0),
    "a name with a line end": ("def f(): pass\nf.__code__ = f.__code__.replace(co_name='a\\nb')\nf()\ndef f(): pass\nf()\n", 0),
}


@pytest.mark.parametrize("what", ENDS)
def test_programs_end_as_by_themselves(tmp_path, what):
    text, status = ENDS[what]
    path = write(tmp_path, text)
    bare = run(PYTHON, path, cwd=tmp_path).must(status)
    got = utrail("record", "--no-event", PYTHON, path, cwd=tmp_path).must(status)
    assert (got.out, got.err) == (bare.out, bare.err)
    assert any(name.rpartition(".")[2] in ("f", "a?b") for name in calls(tmp_path))


OWN_PROFILE = """\
import sys, threading, cProfile
seen = []
def own(frame, event, arg):
    seen.append((event, frame.f_code.co_name))
def called(): return 1
def before(): return 1
def after(): return 1
assert sys.getprofile() is None
before()
sys.setprofile(own)
assert sys.getprofile() is own
called()
sys.setprofile(None)
assert sys.getprofile() is None
for i in range(3): after()
traced = []
sys.settrace(lambda *a: traced.append(a[1]))
after()
sys.settrace(None)
with cProfile.Profile() as p:
    called()
print(seen, traced, len(p.getstats()))
"""


def test_the_programs_own_profile_functions_go_on(tmp_path):
    record(tmp_path, OWN_PROFILE)
    shown = calls(tmp_path)
    assert (shown["before"], shown["called"], shown["after"]) == (1, 2, 4)


EXTENSION = r"""
#include <Python.h>
static __attribute__((noinline)) long leaf(long n) { return n * 2; }
static PyObject *calc(PyObject *self, PyObject *arg) { return PyLong_FromLong(leaf(PyLong_AsLong(arg))); }
static PyObject *call_back(PyObject *self, PyObject *fn) { PyObject *result = PyObject_CallObject(fn, NULL); return result; }
static PyMethodDef methods[] = { { "calc", calc, METH_O, NULL }, { "call_back", call_back, METH_O, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "cext", NULL, -1, methods };
PyMODINIT_FUNC PyInit_cext(void) { return PyModule_Create(&module); }
"""

USES_EXTENSION = """\
import cext
def back():
    return cext.calc(1)
def fails():
    raise ValueError
def run():
    cext.call_back(back)
    try:
        cext.call_back(fails)
    except ValueError:
        cext.calc(2)
run()
"""

EXTENSION_TREE = """\
run() {
  cext.call_back() {
    call_back() {
      back() {
        cext.calc() {
          calc() {
            leaf();
          } /* calc */
        } /* cext.calc */
      } /* back */
    } /* call_back */
  } /* cext.call_back */
  cext.call_back() {
    call_back() {
      fails();
    } /* call_back */
  } /* cext.call_back */
  cext.calc() {
    calc() {
      leaf();
    } /* calc */
  } /* cext.calc */
} /* run */
"""

EMBEDDER = r"""
#include <Python.h>
int main(void)
{
	Py_Initialize();
	PyRun_SimpleString("def f(n):\n    return n\nfor i in range(3): f(i)\nprint('hi', flush=True)");
	return Py_FinalizeEx();
}
"""


def compile_with_python(source, *flags):
    include = sysconfig.get_paths()["include"]
    if run("gcc", "-pg", "-O1", f"-I{include}", source, *flags).status:
        pytest.skip("needs python3-dev")


def test_compiled_extensions_are_in_the_tree(tmp_path):
    compile_with_python(write(tmp_path, EXTENSION, "cext.c"), "-shared", "-fPIC", "-o", tmp_path / "cext.so")
    record(tmp_path, USES_EXTENSION)
    shown = utrail("replay", "-f", "none", "-F", "run", cwd=tmp_path).must().out
    assert shown == EXTENSION_TREE


def test_programs_that_embed_python(tmp_path):
    version = run(PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").out.strip()
    compile_with_python(write(tmp_path, EMBEDDER, "embeds.c"), f"-lpython{version}", "-o", tmp_path / "embeds")
    assert utrail("record", "--no-event", "./embeds", cwd=tmp_path).must().out == "hi\n"
    shown = calls(tmp_path)
    assert shown["f"] == 3 and shown["main"] == 1 and "site.main" not in shown


@pytest.mark.parametrize("options", [("-X", "dev"), ("-I",), ("-S",), ("-E", "-X", "faulthandler"), ("-O",), ("-X", "tracemalloc")])
def test_options_of_python(tmp_path, options):
    write(tmp_path, "def f(): print('f')\nf()\n")
    for env in {}, {"PYTHONMALLOC": "debug"}, {"PYTHONMALLOC": "malloc"}:
        got = utrail("record", "--no-event", PYTHON, *options, "prog.py", cwd=tmp_path, env=env).must()
        assert (got.out, got.err) == ("f\n", "") and calls(tmp_path)["f"] == 1


def results(text):
    """The results of unittest's tests, and their number."""
    return sorted(re.findall(r"^\w+ \(test\S+\) \.\.\. \w+$|^Ran \d+ tests?|^OK.*|^FAILED.*", text, re.M))


@pytest.mark.parametrize("suite", ["test_sys_setprofile", "test_generators", "test_exceptions"])
def test_pythons_own_tests_have_the_same_results(tmp_path, suite):
    command = (PYTHON, "-m", "unittest", "-v", f"test.{suite}")
    if run(PYTHON, "-c", f"import test.{suite}").status:
        pytest.skip("needs libpython3-testsuite")
    bare = run(*command, cwd=tmp_path)
    got = utrail("record", "--no-event", *command, cwd=tmp_path)
    assert (got.status, results(got.err)) == (bare.status, results(bare.err)) and results(got.err)


# The main thread joins another one: a wait that a signal does not interrupt.
SIGNALS = """\
import os, signal, threading, time
handled = []
signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number))
signal.siginterrupt(signal.SIGUSR1, False)
def leaf(): pass
def work():
    time.sleep(0.1)
    for i in range(20):
        os.kill(os.getpid(), signal.SIGUSR1)
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            leaf()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(len(handled) > 0)
"""


@pytest.mark.parametrize("python", [Path(PYTHON), *other_pythons()], ids=lambda p: p.name)
def test_a_signal_of_the_main_thread_stops_no_other(tmp_path, python):
    write(tmp_path, SIGNALS)
    for _ in range(3):
        got = utrail("record", "--no-event", python, "prog.py", cwd=tmp_path).must()
        assert got.out == "True\n"
    assert calls(tmp_path)["leaf"] > 20


# The program waits for each signal: one that the main thread misses would delay all later ones.
SEEN = """\
import os, signal, threading, time
nr = 0
def handle(number, frame):
    global nr
    nr += 1
signal.signal(signal.SIGUSR1, handle)
def leaf(): pass
def work():
    for i in range(200):
        before = nr
        os.kill(os.getpid(), signal.SIGUSR1)
        while nr == before:
            leaf()
thread = threading.Thread(target=work)
thread.start()
while thread.is_alive():
    leaf()
    time.sleep(0)
print(nr)
"""


@pytest.mark.parametrize("python", [Path(PYTHON), *other_pythons()], ids=lambda p: p.name)
def test_the_main_thread_handles_each_signal(tmp_path, python):
    write(tmp_path, SEEN)
    assert utrail("record", "--no-event", python, "prog.py", cwd=tmp_path).must().out == "200\n"


def test_names_that_come_late_are_shown_live(tmp_path):
    """live shows functions whose names come after the reader has read those of the first second."""
    write(tmp_path, "import time\ndef one(): pass\ndef two(): pass\none()\ntime.sleep(1)\ntwo()\ntime.sleep(0.3)\ndef three(): pass\nthree()\n")
    shown = utrail("live", "--no-event", "-f", "none", PYTHON, "prog.py", cwd=tmp_path).must().out
    assert [line.strip() for line in shown.splitlines() if re.match("  [a-z]+\\(", line)] == ["one();", "two();", "three();"]


def test_a_python_that_is_not_known_says_so(tmp_path):
    old = [p for p in Path.home().glob(".pyenv/versions/3.8*/bin/python3.8")] + [p for p in [Path("/usr/bin/python3.8")] if p.exists()]
    if not old:
        pytest.skip("needs Python 3.8")
    write(tmp_path, "print(1)\n")
    got = utrail("record", "--no-event", old[0], "prog.py", cwd=tmp_path).must()
    assert got.out == "1\n" and "no CPython from 3.9" in got.err


BOUND = """\
def key(n):
    kept.append(kept.copy)
    return -n
def after(): pass
def f():
    numbers.sort(key=key)
    after()
kept = []
numbers = [1, 2]
f()
"""

BOUND_TREE = """\
f() {
  list.sort() {
    key() {
      list.append();
    } /* key */
    key() {
      list.append();
    } /* key */
  } /* list.sort */
  after();
} /* f */
"""


@pytest.mark.parametrize("python", other_pythons(), ids=lambda p: p.name)
def test_other_versions(tmp_path, python):
    record(tmp_path, THREADS, python=python)
    shown = calls(tmp_path)
    assert (shown["work"], shown["leaf"], shown["fresh"], shown["parent"]) == (5, 101, 1, 1)


@pytest.mark.parametrize("python", [Path(PYTHON), *other_pythons()], ids=lambda p: p.name)
def test_methods_end_where_they_return(tmp_path, python):
    record(tmp_path, BOUND, python=python)
    assert utrail("replay", "-f", "none", "-F", "f", cwd=tmp_path).must().out == BOUND_TREE


# A call that ends by an exception, a generator that is left, an exception thrown into a generator;
# and a tool of the program that wants our tool's number.
MONITORED = """\
import gc, sys
def fails(): raise ValueError
def numbers():
    try: yield 1
    except KeyError: yield 2
def deep(n): return n and deep(n - 1)
def f():
    try: fails()
    except ValueError: pass
    g = numbers()
    next(g)
    g.throw(KeyError())
    g.close()
    deep(3)
    try: "".join(5)
    except TypeError: pass
    try: str.upper()
    except TypeError: pass
seen = []
m = sys.monitoring
m.use_tool_id(m.PROFILER_ID, "own")
m.register_callback(m.PROFILER_ID, m.events.PY_START, lambda code, at: seen.append(code.co_name))
m.set_events(m.PROFILER_ID, m.events.PY_START)
f()
m.set_events(m.PROFILER_ID, 0)
print(seen, m.get_tool(0), m.get_tool(m.PROFILER_ID))
f()
# Functions of ours that the program finds are called in vain.
for o in gc.get_objects():
    if type(o) is type(len) and o.__name__ == "utrail":
        o(), o(1), o(1, 2, 3), o(deep.__code__, 0, None, None), o(f, 1, 2, 3, x=1)
"""

MONITORED_TREE = """\
f() {
  fails();
  builtins.next() {
    numbers() = 1;
  } /* builtins.next */
  generator.throw() {
    numbers() = 2;
  } /* generator.throw */
  generator.close() {
    numbers();
  } /* generator.close */
  deep(3) {
    deep(2) {
      deep(1) {
        deep(0) = 0;
      } = 0; /* deep */
    } = 0; /* deep */
  } = 0; /* deep */
  str.join();
} = None; /* f */
"""


@pytest.mark.parametrize("python", [p for p in other_pythons() if p.name in ("python3.12", "python3.13")], ids=lambda p: p.name)
def test_monitoring_tells_how_calls_end(tmp_path, python):
    record(tmp_path, MONITORED, "-a", python=python)
    shown = utrail("replay", "-f", "none", "-F", "f", cwd=tmp_path).must().out
    # close() of Python 3.13 does not run a generator that waits outside of any try.
    if python.name == "python3.13":
        shown = shown.replace("  generator.close();\n", "  generator.close() {\n    numbers();\n  } /* generator.close */\n")
    assert shown == 2 * MONITORED_TREE


# In the code of a library that is not recorded, the probe turns off single places by
# sys.monitoring.DISABLE. They are off for the probe's tool only: a tool of the program still gets
# the events of these places.
PLACES = """\
import sys
TEXT = '''
def outer(values, key):
    inner(values)
    try: list(fails())
    except ValueError: pass
    made = sorted(values, key=key)
    return made[:len(made)]
def inner(values): return max(values)
def fails():
    yield 1
    raise ValueError
'''
lib = {"__name__": "lib"}
exec(compile(TEXT, "/x/site-packages/lib.py", "exec"), lib)
def key(n): return abs(n)
def f(): return lib["outer"]([1, 2], key)
seen = []
def tool():
    m = sys.monitoring
    m.use_tool_id(m.PROFILER_ID, "own")
    for event in m.events.CALL, m.events.PY_START, m.events.PY_RETURN:
        m.register_callback(m.PROFILER_ID, event, lambda code, *rest: seen.append(code.co_name))
    m.set_events(m.PROFILER_ID, m.events.CALL | m.events.PY_START | m.events.PY_RETURN)
f()
if hasattr(sys, "monitoring"): sys.monitoring.restart_events()
f()
if hasattr(sys, "monitoring"): tool()
f()
print(len(seen), seen.count("outer"))
"""

OWN_KEYS = "key() {\n  builtins.abs();\n} /* key */\n" * 2
PLACES_TREES = {
    "--libcall": "lib.outer() {\n" + OWN_KEYS + "} /* lib.outer */\n",
    "--no-libcall": "key();\n" * 2,
    "--nest-libcall": "lib.outer() {\nlib.inner() {\nbuiltins.max();\n} /* lib.inner */\nlib.fails();\nlib.fails();\n"
                      "builtins.sorted() {\n" + OWN_KEYS + "} /* builtins.sorted */\nbuiltins.len();\n} /* lib.outer */\n",
}


@pytest.mark.parametrize("python", [Path(PYTHON), *other_pythons()], ids=lambda p: p.name)
@pytest.mark.parametrize("option", PLACES_TREES)
def test_what_libraries_call_is_left_alone(tmp_path, option, python):
    record(tmp_path, PLACES, *([option] if option != "--libcall" else []), python=python)
    shown = utrail("replay", "-f", "none", "-F", "^(f|key|builtins[.].*|lib[.].*)$", cwd=tmp_path).must().out
    shown = shown[shown.index("f() {"):]
    tree = "f() {\n" + PLACES_TREES[option] + "} /* f */\n"
    calls_of_f = [line.strip() for line in tree.splitlines()]
    lines = [line.strip() for line in shown.splitlines()]
    begins = [i for i, line in enumerate(lines) if line == "f() {"]
    assert [lines[i:i + len(calls_of_f)] for i in begins] == 3 * [calls_of_f]


# Code from strings belongs to the module whose globals it has. Named tuples are made in modules
# without a file.
MADE = """\
import collections, dataclasses
Pair = collections.namedtuple("Pair", "a b")
@dataclasses.dataclass
class Own:
    n: int
lib = {"__name__": "lib", "__file__": "/x/site-packages/lib.py"}
exec("def made(): return inner()\\ndef inner(): pass", lib)
exec("def mine(): pass", own := {})
def f():
    Pair(1, 2), Own(1), lib["made"](), own["mine"](), eval("(lambda: 1)()")
f()
"""


@pytest.mark.skipif(not has_qualified_names(), reason="code has qualified names from 3.11 on")
def test_code_of_strings_is_of_its_module(tmp_path):
    record(tmp_path, MADE)
    shown = utrail("replay", "-f", "none", "-F", "f", "-N", "__new__|__init__$", cwd=tmp_path).must().out
    assert [line.strip() for line in shown.splitlines()] == [
        "f() {", "namedtuple_Pair.<lambda>();", "lib.made();", "mine();", "builtins.eval() {", "__main__.<module>() {", "<lambda>();", "} /* __main__.<module> */",
        "} /* builtins.eval */", "} /* f */"]
    assert not [name for name in calls(tmp_path) if re.match("namedtuple_.*<module>", name)]


# The program takes all numbers of tools, also our tool's.
TOOLS = """\
import sys
m=sys.monitoring
def f(): pass
print([m.get_tool(i) for i in range(6)])
for i in 4,3,5:
    m.use_tool_id(i, f"own{i}"); f()
    print([m.get_tool(i) for i in range(6)], m.get_events(i))
    assert m.register_callback(i, m.events.PY_START, None) is None
try: m.use_tool_id(4, "again")
except ValueError as e: print(e)
try: m.use_tool_id(9, "again")
except ValueError as e: print(e)
try: m.use_tool_id("4", "again")
except TypeError as e: print(e)
class I(int):
    def __index__(self): print("index"); return 1
try: m.use_tool_id(I(1), "again")
except ValueError as e: print(e)
f()
for i in 0,1,2:
    try: m.use_tool_id(i, "x")
    except ValueError as e: print(e)
f()
for i in range(6): m.free_tool_id(i)
print([m.get_tool(i) for i in range(6)])
"""


@pytest.mark.parametrize("python", [p for p in other_pythons() if p.name in ("python3.12", "python3.13")], ids=lambda p: p.name)
def test_monitoring_tools_of_the_program_have_any_number(tmp_path, python):
    record(tmp_path, TOOLS, python=python)
    assert calls(tmp_path)["f"] == 4  # four of five calls: the last one found all numbers taken


# Profile functions and audit hooks of the program: each sees, and prints, the same as untraced.
OWN_HOOKS = {
    "one profile function after another": """\
import functools, sys
seen = []
def one(frame, event, arg): seen.append((1, event))
def two(frame, event, arg): seen.append((2, event))
def f(): pass
def sets(): functools.partial(sys.setprofile, one)()
sys.setprofile(one)
f()
sys.setprofile(two)
f()
sys.setprofile(None)
sets()
f()
sys.setprofile(None)
print(seen)
""",
    "in all threads": """\
import sys, threading
seen = []
def own(frame, event, arg): seen.append(event)
def f(): pass
if hasattr(threading, "setprofile_all_threads"):
    threading.setprofile_all_threads(own)
    f()
    threading.setprofile_all_threads(None)
f()
print(seen)
""",
    "while another interpreter runs": """\
import sys
try: import _xxsubinterpreters as interpreters
except ImportError: import _interpreters as interpreters
def f(): pass
def own(frame, event, arg): pass
sys.setprofile(own)
one = interpreters.create()
interpreters.run_string(one, "import json\\njson.dumps([1])")
open("/dev/null").close()
print(sys.getprofile() is own)
sys.setprofile(None)
f()
""",
    "in a thread that nobody was seen to make": """\
import _thread, functools, sys
locks = [_thread.allocate_lock() for _ in range(3)]
for lock in locks: lock.acquire()
def f(): pass
def own(frame, event, arg): pass
def work():
    sys.setprofile(own)
    locks[0].release()
    locks[1].acquire()
    f()
    print(sys.getprofile() is own)
    locks[2].release()
functools.partial(_thread.start_new_thread, work, ())()
locks[0].acquire()
len("x")
locks[1].release()
locks[2].acquire()
""",
    "an audit hook that forbids them": """\
import sys, threading
def hook(event, args):
    if event.startswith("sys."):
        print(event)
    if event == "sys.setprofile":
        raise RuntimeError
sys.addaudithook(hook)
def f(): open("/dev/null").close()
for i in range(2):
    t = threading.Thread(target=f)
    t.start()
    t.join()
f()
""",
}


@pytest.mark.parametrize("python", [Path(PYTHON), *other_pythons()], ids=lambda p: p.name)
@pytest.mark.parametrize("what", OWN_HOOKS)
def test_own_hooks_see_what_they_see_without_us(tmp_path, what, python):
    record(tmp_path, OWN_HOOKS[what], python=python)
    assert calls(tmp_path)["f"] >= 1


LEFT_ALONE = """\
import os, resource, signal, time
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(0.2)
files = [open("/dev/null") for _ in range(200)]
limit = resource.getrlimit(resource.RLIMIT_NOFILE)
functions = [eval(f"lambda n: n + {i}", {}) for i in range(300)]
for f in functions: f(1)
for f in files: os.fstat(f.fileno())
assert resource.getrlimit(resource.RLIMIT_NOFILE) == limit
open("out", "w").write("all there")
"""


def test_a_program_whose_recorder_was_killed_goes_on(tmp_path):
    write(tmp_path, LEFT_ALONE)
    utrail("record", "--no-event", PYTHON, "prog.py", cwd=tmp_path)
    # The child has the output's pipe, and run() reads that to its end: so the child has ended.
    assert (tmp_path / "out").read_text() == "all there"


EXTRA = """\
import ctypes
api = ctypes.pythonapi
free_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
freed = []
free = free_type(freed.append)
def before(): pass
before()
request = getattr(api, "_PyEval_RequestCodeExtraIndex", None) or api.PyUnstable_Eval_RequestCodeExtraIndex
request.argtypes, request.restype = (free_type,), ctypes.c_ssize_t
request(free)
for i in range(10):
    late = eval("lambda: 1")
    late()
    del late
before()
print(freed)
"""


@pytest.mark.parametrize("python", [Path(PYTHON), *other_pythons()], ids=lambda p: p.name)
def test_places_in_code_of_the_programs_are_left_alone(tmp_path, python):
    record(tmp_path, EXTRA, python=python)
    assert calls(tmp_path)["before"] == 2


def test_audit_hooks_before_the_program_see_nothing_of_us(tmp_path):
    write(tmp_path, "import sys\nsys.addaudithook(lambda event, args: print(event) if event.startswith('sys.') else None)\n", "sitecustomize.py")
    write(tmp_path, "def f(): pass\nf()\nprint('end')\n")
    env = {"PYTHONPATH": str(tmp_path)}
    bare = run(PYTHON, "prog.py", cwd=tmp_path, env=env).must()
    got = utrail("record", "--no-event", PYTHON, "prog.py", cwd=tmp_path, env=env).must()
    assert got.out == bare.out and "audit hooks" in got.err


def test_a_process_that_runs_already_says_why_nothing_is_recorded(tmp_path):
    source = "import time\ndef f(): time.sleep(0.01)\nfor i in range(150): f()\ninput()\nprint('end')"
    program = subprocess.Popen([PYTHON, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    got = utrail("record", "--no-event", f"--pid={program.pid}", "--for=0.5s", cwd=tmp_path)
    assert program.communicate("\n")[0] == "end\n" and program.returncode == 0
    assert "from the start of a program only" in got.err or "may not" in got.err


KEYS = """\
class Key(str):
    def __eq__(self, other):
        print("compared")
        return str.__eq__(self, other)
    __hash__ = str.__hash__
names = {Key("__name__"): "other"}
code = compile("lambda: 1", "own", "eval")
f = eval(code, {"__name__": "own", 5: 6})
f()
type(f)(f.__code__.replace(co_name="late"), names)()
"""


def test_keys_of_globals_are_not_compared(tmp_path):
    record(tmp_path, KEYS)
    assert calls(tmp_path)["own.<lambda>"] >= 1


REUSED = """\
import ctypes
class Definition(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]
new = ctypes.pythonapi.PyCFunction_NewEx
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)(lambda s, x: x)
def call(f): return f(3)
definition = Definition(b"first", ctypes.cast(function, ctypes.c_void_p), 8, None)
call(new(ctypes.addressof(definition), None, None))
definition.name = b"second"
call(new(ctypes.addressof(definition), None, None))
"""


def test_a_definition_in_the_place_of_another_has_its_own_name(tmp_path):
    record(tmp_path, REUSED)
    shown = calls(tmp_path)
    assert (shown["first"], shown["second"]) == (1, 1)


STEERED = """\
import os, subprocess
def leaf(n): return n
def top(): return leaf(1)
for i in range(3): top()
subprocess.run([os.environ["UTRAIL"], "control", os.environ["DATA"], "filter", "leaf"], check=True)
for i in range(4): top()
"""


def test_filters_are_changed_by_name_while_it_runs(tmp_path):
    write(tmp_path, STEERED)
    env = {"UTRAIL": str(UTRAIL), "DATA": str(tmp_path / "data")}
    got = utrail("record", "--agent", "-d", "data", "--no-event", PYTHON, "prog.py", cwd=tmp_path, env=env).must()
    assert "matches" not in got.err
    shown = calls(tmp_path, "-d", "data")
    assert (shown["top"], shown["leaf"]) == (3, 7)


TRIGGERS = """\
import time
def leaf(n): return n
def mid(n):
    leaf(n)
    return leaf(n + 1)
def slow(n): time.sleep(n)
def f(a):
    mid(a)
    len("x")
def g(): mid(7)
f(1)
g()
slow(0.002)
slow(0)
"""


@pytest.mark.parametrize("python", [Path(PYTHON), *(p for p in other_pythons() if p.name == "python3.12")], ids=lambda p: p.name)
@pytest.mark.parametrize(
    "options, expected",
    [
        (("-F", "f@depth=2"), {"f": 1, "mid": 1, "builtins.len": 1}),
        (("-F", "f", "-T", "mid@depth=1"), {"f": 1, "mid": 1, "builtins.len": 1}),
        (("-F", "f;g", "-T", "mid@notrace"), {"f": 1, "g": 1, "builtins.len": 1}),
        (("-T", "g@filter"), {"g": 1, "mid": 1, "leaf": 2}),
        (("--trace=off", "-T", "slow@trace_on"), {"slow": 2, "time.sleep": 2, "__main__.<module>": 1}),
        (("-F", "mid;g", "-T", "g@trace_off"), {"mid": 1, "leaf": 2}),
        (("-F", "slow;g", "-T", "slow@time=100s"), {"g": 1, "mid": 1, "leaf": 2}),
        (("-t", "100s", "-T", "slow@time=1ns"), {"slow": 2, "time.sleep": 2, "__main__.<module>": 1}),
        (("-F", "f", "-T", "leaf@finish"), {"f": 1, "mid": 1, "leaf": 1}),
        (("-C", "g", "--no-libcall"), {"__main__.<module>": 1, "g": 1}),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else "",
)
def test_triggers(tmp_path, options, expected, python):
    record(tmp_path, TRIGGERS, *options, python=python)
    assert calls(tmp_path) == expected


def test_values_are_read_at_calls(tmp_path):
    record(tmp_path, TRIGGERS, "-F", "f@depth=1", "-T", "f@read=proc/statm")
    shown = utrail("replay", "-f", "none", cwd=tmp_path).must().out
    assert re.fullmatch(r"f\(\) \{\n  /\* read:proc/statm \(.*\) \*/\n  /\* diff:proc/statm \(.*\) \*/\n\} /\* f \*/\n", shown)


CONDITIONS = """\
def f(a, s="x"): return leaf(a)
def leaf(n): return n
class C:
    def __eq__(self, other): print("compared")
for a in 1, 5, -3, 2.5, True, "5", None, 2**63, -2**63, C(): f(a)
f(5, s="abc")
f(5, s=["abc"])
len("x")
"""


@pytest.mark.parametrize("python", [Path(PYTHON), *(p for p in other_pythons() if p.name == "python3.12")], ids=lambda p: p.name)
@pytest.mark.parametrize(
    "condition, expected",
    [
        ("arg1==5", 3),
        ("arg1!=5", 5),
        ("arg1<0", 2),
        ("arg1==-9223372036854775808", 1),
        ("arg1&4", 4),
        ("arg1/u8==253", 1),
        ("arg1==1 && arg2==\"'x'\"", 2),
        ("arg1==1 || arg2==\"'abc'\"", 3),
        ("arg2=~\"abc\"", 2),
        ("arg1^=\"<__main__.C\"", 1),
        ("arg3==1", 0),
        ("fparg1==2.5", 0),
        ("arg1/f==2.5", 1),
        ("arg1/f!=2.5", 7),
        ("arg1/f>4.999999", 3),
        ("arg1/f>=9223372036854775807", 0),
        ("arg1/f<=-9.3e18", 0),
        ("arg1>2", 4),
        ("arg1>=2", 4),
        ("arg1<3", 5),
    ],
)
def test_conditions_hold_while_recording_as_when_reading(tmp_path, condition, expected, python):
    record(tmp_path, CONDITIONS, "-d", "whole", "-A", "f@arg1,arg2", python=python)
    write(tmp_path, CONDITIONS)
    got = utrail("record", "--no-event", "-F", f"f@if:{condition}", python, "prog.py", cwd=tmp_path).must()
    assert ("WARN: conditions (if:) on fpargN hold for no" in got.err) == condition.startswith("fparg")
    assert (calls(tmp_path) if (tmp_path / "uftrace.data/task.txt").exists() and expected else {}) == ({"f": expected, "leaf": expected} if expected else {})
    shown = utrail("replay", "-d", "whole", "-f", "none", "-F", f"f@if:{condition},depth=1", cwd=tmp_path).out
    assert len(re.findall(r"^f\(", shown, re.M)) == expected


def test_conditions_of_functions_in_c_say_that_they_do_not_hold(tmp_path):
    write(tmp_path, CONDITIONS)
    got = utrail("record", "--no-event", "-N", "builtins.len@if:arg1==1", PYTHON, "prog.py", cwd=tmp_path).must()
    assert "no conditions hold for functions in C" in got.err and calls(tmp_path)["builtins.len"] == 1
