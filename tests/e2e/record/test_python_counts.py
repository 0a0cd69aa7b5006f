"""Calls of Python programs are as many as cProfile counts, function by function. The programs use
modules of the library, functions in C, methods, generators, comprehensions and exceptions. Python's
collector is off, since it calls functions at any time."""

import pstats
import re
from collections import Counter
from pathlib import Path

import pytest

from tools import run, utrail

PYTHON = Path("/usr/bin/python3")

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason=f"needs {PYTHON}")

PROGRAMS = {
    "json": """\
import json
def main():
    for indent in None, 2:
        text = json.dumps({str(n): [n, n / 3, None, {"x": "\\u00e4" * n}] for n in range(20)}, indent=indent, sort_keys=True, default=str)
        json.loads(text, parse_float=str)
    try: json.loads("[1,]")
    except ValueError: pass
""",
    "argparse": """\
import argparse
def main():
    p = argparse.ArgumentParser("prog", description="What it does " * 20)
    p.add_argument("files", nargs="*")
    p.add_argument("-v", action="count", default=0)
    p.add_argument("--kind", choices=["a", "b"], type=str.lower)
    sub = argparse.ArgumentParser(parents=[p], add_help=False)
    p.format_help()
    sub.parse_args(["-vv", "--kind", "A", "x", "y"])
""",
    "difflib": """\
import difflib
def main():
    a = [f"line {n * n % 17}" for n in range(60)]
    b = [f"line {n * 3 % 17}" for n in range(60)]
    list(difflib.unified_diff(a, b, lineterm=""))
    list(difflib.ndiff(a[:12], b[:12]))
    difflib.get_close_matches("line 12", a)
""",
    "ast": """\
import ast, inspect, textwrap
class Renamer(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.copy_location(ast.Name(id=node.id + "_", ctx=node.ctx), node)
def main():
    tree = ast.parse(inspect.getsource(textwrap))
    ast.unparse(ast.fix_missing_locations(Renamer().visit(tree)))
    sum(isinstance(n, ast.Call) for n in ast.walk(tree))
""",
    "decimal": """\
import _pydecimal as decimal
def main():
    decimal.getcontext().prec = 40
    x = decimal.Decimal(2)
    for n in range(1, 12):
        x = x.sqrt() + decimal.Decimal(1) / n
    str(x), x.quantize(decimal.Decimal("0.001")), round(x, 2), x.ln()
    try: decimal.Decimal(1) / 0
    except decimal.DivisionByZero: pass
""",
    "tarfile": """\
import io, tarfile
def main():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for n in range(15):
            info = tarfile.TarInfo(f"d/{n}" * (1 + n % 3 * 20))
            info.size = n * 100
            tar.addfile(info, io.BytesIO(b"x" * info.size))
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        [tar.extractfile(m).read() for m in tar if m.isfile()]
""",
    "zipfile": """\
import io, zipfile
def main():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for n in range(15):
            z.writestr(zipfile.ZipInfo(f"{n}.txt"), "abc" * n * 50)
    with zipfile.ZipFile(out) as z:
        {name: z.read(name) for name in z.namelist()}
        z.testzip()
""",
    "http": """\
import http.client, http.cookies, http.server, io
class Socket:
    def __init__(self, data): self.data = data
    def makefile(self, mode, *rest): return io.BytesIO(self.data)
    def sendall(self, data): pass
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("A", "b")
        self.end_headers()
        self.wfile.write(b"x")
    def date_time_string(self, timestamp=None): return "now"
    def log_message(self, *args): pass
def main():
    Handler(Socket(b"GET /x?y HTTP/1.0\\r\\nHost: h\\r\\nB: c\\r\\n\\r\\n"), ("127.0.0.1", 1), None)
    r = http.client.HTTPResponse(Socket(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n3\\r\\nabc\\r\\n0\\r\\n\\r\\n"))
    r.begin()
    r.read(), r.getheaders()
    http.cookies.SimpleCookie("a=b; c=d; path=/").output()
""",
    "sqlite3": """\
import sqlite3
class Sum:
    def __init__(self): self.all = 0
    def step(self, n): self.all += n
    def finalize(self): return self.all
def main():
    db = sqlite3.connect(":memory:")
    db.create_function("twice", 1, lambda n: n * 2)
    db.create_aggregate("total", 1, Sum)
    db.row_factory = sqlite3.Row
    db.execute("create table t (a, b)")
    with db:
        db.executemany("insert into t values (?, ?)", ((n, str(n)) for n in range(30)))
    [dict(row) for row in db.execute("select twice(a) as x, b from t where a > ?", (5,))]
    db.execute("select total(a) from t").fetchone()
    try: db.execute("nonsense")
    except sqlite3.Error: pass
    db.close()
""",
    "unittest": """\
import io, unittest
class T(unittest.TestCase):
    def setUp(self): self.n = 3
    def test_good(self): self.assertEqual([self.n], [3])
    def test_bad(self): self.assertEqual({"a": 1}, {"a": 2})
    def test_error(self): raise KeyError(self.n)
    @unittest.skip("no")
    def test_skipped(self): pass
    def test_subs(self):
        for n in range(4):
            with self.subTest(n=n): self.assertLess(n, self.n)
def main():
    T.__module__
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)
    unittest.TextTestRunner(io.StringIO(), verbosity=2).run(suite)
""",
}


def other_pythons():
    found = {Path(f"/usr/bin/python3.{minor}") for minor in (9, 10, 12, 13)}
    found |= {p.resolve() for p in Path.home().glob(".pyenv/versions/3.*/bin/python3")}
    return sorted(p for p in found if p.exists() and p.name in ("python3.9", "python3.10", "python3.12", "python3.13"))


def plain_name(name):
    """The last part of a name in cProfile's tables and in ours, without modules and classes.
    cProfile shows a method in C that a class wraps as "<function NAME at ADDRESS>"."""
    name = re.sub(r"^<function (\S+) at 0x\w+>$", r"\1", name)
    return re.sub(r"<built-in method (\S+?)( of .*)?>|<method '(\S+)' of '\S+' objects>", r"\1\3", name).rpartition(".")[2]


# main() is called from whole(), because destructors of main()'s objects run when main() has
# returned, and may call functions.
WHOLE = "def whole():\n    main()\n"


def profiled(cwd, text, python):
    """The calls within whole() as cProfile counts them."""
    (cwd / "profiled.py").write_text(f"import gc\ngc.disable()\n{text}{WHOLE}import cProfile\np = cProfile.Profile()\np.runcall(whole)\np.dump_stats('prof')\n")
    run(python, "profiled.py", cwd=cwd).must()
    counts = Counter()
    for (file, _, name), (_, nr, *_) in pstats.Stats(str(cwd / "prof")).stats.items():
        # The lambdas of all named tuples have one name and line. cProfile counts only one of them.
        if (file, name) != ("<string>", "<lambda>"):
            counts[plain_name(name)] += nr
    del counts["disable"]
    return counts


def recorded(cwd, text, python):
    (cwd / "prog.py").write_text(f"import gc\ngc.disable()\n{text}{WHOLE}whole()\n")
    utrail("record", "--no-event", "--nest-libcall", "-F", "whole", python, "prog.py", cwd=cwd).must()
    report = utrail("report", "-f", "call", cwd=cwd).must().out
    counts = Counter()
    own = set(re.findall(r"\bdef (\w+)", text)) | {"whole"}
    for nr, name in re.findall(r"^ +(\d+)  (.+)$", report, re.M):
        # Functions of the interpreter and of libc, which modules in C call, are left out: their
        # names have no module.
        if ("." in name or name in own or name[0] == "<") and not re.match(r"namedtuple_.*<lambda>$", name):
            counts[plain_name(name)] += int(nr)
    return counts


@pytest.mark.parametrize("python", [PYTHON, *other_pythons()], ids=lambda p: p.name)
@pytest.mark.parametrize("what", PROGRAMS)
def test_calls_are_as_many_as_cprofile_counts(tmp_path, what, python):
    expected = profiled(tmp_path, PROGRAMS[what], python)
    ours = recorded(tmp_path, PROGRAMS[what], python)
    assert ours == expected and expected["whole"] == 1
