"""Arguments and results of Python functions: values of Python's own types as Python writes them,
classes for all others. No code of the program runs for that."""

import re
from pathlib import Path

import pytest

from tools import peer, run, utrail

PYTHON = "/usr/bin/python3"

pytestmark = [
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"needs {PYTHON}"),
    pytest.mark.skipif(
        run(PYTHON, "-c", "import sys; print(sys.version_info >= (3, 11))").out != "True\n" if Path(PYTHON).exists() else True,
        reason="code has qualified names from 3.11 on",
    ),
]

FUNCTIONS = """\
class Plain:
    def __repr__(self):
        print("a program's own code ran")
        return "bad"
    def method(self, x, y=2):
        return x + y
class Meta(type):
    def __getattribute__(cls, name):
        print("a program's own code ran")
        return type.__getattribute__(cls, name)
class Odd(metaclass=Meta):
    pass
class Number(int):
    __repr__ = Plain.__repr__
def f(a, b):
    return 3
def g(a, b=5, *args, c=7, **kw):
    pass
def one(v):
    return v
def numbers(n):
    yield n
    yield n + 1
def fails(x):
    raise KeyError(x)
def closed(n):
    def inner():
        return n
    return inner()
def forgets(a):
    del a
    yield 1
f(1, 'x')
g(1)
g(1, 2, 3, 4, c=8, k=9)
Plain().method(1)
one(Odd())
one(Number(3))
list(numbers(1))
try:
    fails('e')
except KeyError:
    pass
closed(4)
list(forgets(1))
(lambda q: q)(1)
"""

FUNCTIONS_TREE = """\
  f(1, 'x') = 3;
  g(1, 5, 7, (), {}) = None;
  g(1, 2, 8, (3, 4), {'k': 9}) = None;
  Plain.method(<__main__.Plain object>, 1, 2) = 3;
  one(<__main__.Odd object>) = <__main__.Odd object>;
  one(<__main__.Number object>) = <__main__.Number object>;
  numbers(1) = 1;
  numbers(1) = 2;
  numbers(1) = None;
  fails('e');
  closed(4) {
    closed.<locals>.inner() = 4;
  } = 4; /* closed */
  forgets(1) = 1;
  forgets(<unset>) = None;
  <lambda>(1) = 1;
"""


def record(cwd, text, *options):
    """Record the program, and check that it does the same as untraced."""
    path = cwd / "prog.py"
    path.write_text(text)
    bare = run(PYTHON, path, cwd=cwd)
    got = utrail("record", *options, "--no-event", PYTHON, path, cwd=cwd).must()
    assert (got.out, got.status, got.err) == (bare.out, bare.status, bare.err)
    return got.out


def lines(cwd, *options, tool=utrail):
    text = tool("replay", "-f", "none", *options, cwd=cwd).must().out
    body = text.split("} /* __main__.<module> */")[0].split("} = None; /* __main__.<module> */")[0]
    return [line for line in body.splitlines() if "__build_class__" not in line]


def calls(cwd, *options, tool=utrail):
    """The calls of the program's functions, from f() on."""
    found = lines(cwd, *options, tool=tool)
    first = next(i for i, line in enumerate(found) if line.startswith("  f("))
    return "".join(line + "\n" for line in found[first:])


def test_all_arguments_and_results(tmp_path):
    record(tmp_path, FUNCTIONS, "-a")
    assert calls(tmp_path) == FUNCTIONS_TREE


def test_all_while_it_runs(tmp_path):
    (tmp_path / "prog.py").write_text(FUNCTIONS)
    got = utrail("live", "-a", "-f", "none", "--no-event", PYTHON, "prog.py", cwd=tmp_path).must()
    assert FUNCTIONS_TREE in got.out


@pytest.mark.needs_peer
def test_the_peer_shows_them_as_strings(tmp_path):
    record(tmp_path, FUNCTIONS, "-a")
    theirs = calls(tmp_path, tool=peer)
    assert 'f("1", "\'x\'") = "3";' in theirs
    assert 'g("1", "2", "8", "(3, 4)", "{\'k\': 9}") = "None";' in theirs
    assert 'fails("\'e\'");' in theirs


CHOICES = [
    (["-A", "f@arg1,arg2", "-R", "f@retval"], "f(1, 'x') = 3;"),
    (["-A", "^f$@arg2"], "f('x');"),
    (["-R", "^f$@retval/x"], "f() = 3;"),
    (["-A", "f"], "f(1, 'x');"),
    (["-R", "f"], "f() = 3;"),
    (["-T", "f@arg1,retval"], "f(1) = 3;"),
    (["-a", "-A", "^f$@arg2"], "f('x') = 3;"),
    (["-A", "f@arg1,arg7"], "f(1, <unset>);"),
    (["-A", "f@python.fake,arg1"], "f(1);"),
    (["--match=glob", "-A", "f@arg1"], "f(1);"),
]


@pytest.mark.parametrize("options, call", CHOICES)
def test_some_of_them(tmp_path, options, call):
    record(tmp_path, FUNCTIONS, *options)
    assert calls(tmp_path).splitlines()[0].strip() == call


@pytest.mark.needs_peer
@pytest.mark.parametrize("options, call", [row for row in CHOICES if "python.fake" not in row[0][1]])
def test_the_peer_reads_some_of_them(tmp_path, options, call):
    record(tmp_path, FUNCTIONS, *options)
    theirs = calls(tmp_path, tool=peer).splitlines()[0].strip()
    assert theirs.replace('"', "") == call


# Values of Python's own types, which are shown as repr() writes them.
VALUES = """\
1, -1, 0, 2**63 - 1, -2**63, 2**63, -2**70, 10**80, 1.5, 0.1, 1e300, float('inf'), -0.0, True, False, None,
'', "it's", '"', "\\"'", 'a\\nb\\t\\r\\\\', '\\u2028', '\\ud800', '\\x00\\x7f\\x9f', 'caf\\u00e9', '\\U0001F600',
b'', b'ab\\x00\\xff\\'', b"'\\"", [], [1, 'a'], (), (1,), (1, 2), {}, {'a': 1, 2: None}, set(), {1}, frozenset(), frozenset([2])"""

VALUES_SHOWN = f"""\
def f(v):
    return v
for value in [{VALUES}]:
    f(value)
    print(ascii(repr(value)))
"""


def test_values_are_written_as_python_does(tmp_path):
    texts = [eval(line) for line in record(tmp_path, VALUES_SHOWN, "-a").splitlines()]  # noqa: S307
    shown = [line.strip() for line in lines(tmp_path) if line.startswith("  f(")]
    assert shown == [f"f({text}) = {text};" for text in texts]


LONG = """\
def f(v):
    return 0
def many(a, b, c, d, e, f, g, h, i, j, k, l):
    return 0
class Quiet:
    pass
big = 'x' * 200
f(big)
f('\\u00e9' * 200)
f([7] * 100)
f([[1], (2,), {3: 4}, {5}, [], ()])
f({1: [2], 3: Quiet()})
f(10**400)
f(len)
many(*[big] * 12)
loop = []
loop.append(loop)
f(loop)
"""


def test_long_ones_are_cut(tmp_path):
    record(tmp_path, LONG, "-a")
    shown = calls(tmp_path).splitlines()
    assert [line.strip() for line in shown[:7]] == [
        "f('" + "x" * 94 + "...) = 0;",
        "f('" + "é" * 47 + "...) = 0;",
        "f([" + "7, " * 31 + "7...) = 0;",
        "f([[...], (...), {...}, {...}, [], ()]) = 0;",
        "f({1: [...], 3: <__main__.Quiet object>}) = 0;",
        "f(<int of more than 300 digits>) = 0;",
        "f(<builtins.builtin_function_or_method object>) = 0;",
    ]
    # All texts of a call share the room of one record.
    assert shown[7].count("'xxxxx") == 12 and shown[7].count("...") == 12
    assert shown[-1].strip() == "f([[...]]) = 0;"


THROWN = """\
import gc
def f():
    pass
f()
def waits(v):
    try:
        yield v
    except ValueError as e:
        yield str(e)
g = waits('a')
next(g)
print(g.throw(ValueError('thrown')))
g.close()
def deep(n):
    return deep(n - 1) if n else 'end'
deep(300)
class Dies:
    def __del__(self):
        print("deleted")
def takes(d):
    return None
takes(Dies())
print(gc.collect() >= 0)
"""


def test_errors_that_wait_and_lives_of_objects_stay(tmp_path):
    record(tmp_path, THROWN, "-a")
    shown = calls(tmp_path)
    assert "waits('a') = 'thrown';" in shown
    assert shown.count("= 'end'") == 301
    assert "takes(<__main__.Dies object>) = None;" in shown


THREADS = """\
import os, threading
def f(n, text):
    return n * 2
f(0, '')
def work(n):
    for i in range(200):
        f(i, 'x' * n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
for t in threads:
    t.start()
for t in threads:
    t.join()
pid = os.fork()
if not pid:
    f(1000, 'child')
    os._exit(0)
os.waitpid(pid, 0)
"""


def test_threads_and_forks(tmp_path):
    record(tmp_path, THREADS, "-a")
    # Task by task: in a replay of all tasks, a call in which another thread runs has two lines.
    tids = [path.stem for path in (tmp_path / "uftrace.data").glob("[0-9]*.dat")]
    text = "".join(utrail("replay", "-f", "none", "--tid", tid, cwd=tmp_path).must().out for tid in tids)
    for n in range(1, 5):
        assert len(re.findall(rf"f\(\d+, '{'x' * n}'\) = \d+;", text)) == 200
    assert "f(1000, 'child') = 2000;" in text


@pytest.mark.parametrize("options", [["-D", "2"], ["-t", "1ns"], ["-F", "^f$"], ["-N", "^g$"], ["-C", "^f$"]])
def test_with_filters(tmp_path, options):
    record(tmp_path, FUNCTIONS, "-a", *options)
    text = utrail("replay", "-f", "none", cwd=tmp_path).must().out
    assert "f(1, 'x') = 3;" in text


def test_nothing_is_made_of_what_nobody_asks_for(tmp_path):
    record(tmp_path, FUNCTIONS, "-A", "^f$@arg1")
    assert [line for line in lines(tmp_path) if re.search(r"\(.+\)|=", line) and "f(1)" not in line] == []
    assert not (tmp_path / "uftrace.data" / "python.fake.dbg").exists()


def test_dump_and_scripts_have_them(tmp_path):
    record(tmp_path, FUNCTIONS, "-a")
    dump = utrail("dump", cwd=tmp_path).must().out
    assert "args[1] str: 'x'\n" in dump
    (tmp_path / "s.py").write_text("def uftrace_entry(ctx):\n    if ctx['name'] == 'f':\n        print(ctx['args'])\n")
    got = utrail("script", "-S", "s.py", cwd=tmp_path)
    if "not built" not in got.err and "cannot load" not in got.err:
        assert "('1', \"'x'\")" in got.must().out
