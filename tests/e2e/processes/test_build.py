"""utrail build: its compilation database is compared with the commands that ran, the objects that
they made, and the database of bear(1)."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter

import pytest

from tools import environment, utrail

WRAPPER = """#!/bin/sh
# By a name that says nothing.
"$@" -DWRAPPED
"""

COMPILER_SCRIPT = """#!/bin/sh -e
exec gcc -DBY_SCRIPT "$@"
"""

MAKEFILE = """
all: prog more.so
prog: plain.o wrapped.o script.o response.o cached.o one.o two.o asm.o sub/deep.o cxx.o
\tgcc -g -o $@ main.c last.c $^ -lm -lstdc++ -Wl,-O1
more.so: plain.o
\tgcc -shared -o $@ $^
plain.o: plain.c
\tgcc -E plain.c > plain.i
\tgcc -MM plain.c > plain.d
\tgcc -O2 -MD -MF plain.dep -c plain.c -o $@
wrapped.o: wrapped.c
\t./run-it gcc -c wrapped.c
script.o: script.c
\t./cc -c -o $@ script.c
response.o: response.c
\tgcc @arguments.rsp
cached.o: cached.c
\t$(CCACHE) gcc -c cached.c -o $@
one.o: one.c two.c
\tgcc -Iinclude -c one.c two.c
two.o: one.o
asm.o: asm.S
\tas --version > asm.txt
\tgcc -c asm.S
sub/deep.o: sub/deep.c
\tcd sub && x86_64-linux-gnu-gcc -c deep.c || gcc -c deep.c
cxx.o: cxx.text
\tg++ -x c++ -c cxx.text -o $@
"""

SOURCES = ["plain", "wrapped", "script", "response", "cached", "one", "two", "last", "sub/deep"]

# Sources and their objects. Sources that are compiled and linked at once leave no object.
OBJECTS = {("plain.c", "plain.o"), ("wrapped.c", "wrapped.o"), ("script.c", "script.o"), ("response.c", "response.o"),
           ("cached.c", "cached.o"), ("one.c", "one.o"), ("two.c", "two.o"), ("asm.S", "asm.o"), ("deep.c", "deep.o"),
           ("cxx.text", "cxx.o"), ("main.c", None), ("last.c", None)}


@pytest.fixture
def tree(workdir):
    (workdir / "sub").mkdir()
    for name in SOURCES:
        function = name.rpartition("/")[2]
        (workdir / f"{name}.c").write_text(f"int {function}(int x)\n{{\n\treturn x + {len(name)};\n}}\n")
    (workdir / "main.c").write_text("int main(void)\n{\n\treturn 0;\n}\n")
    (workdir / "asm.S").write_text("#define HERE here\n\t.globl HERE\nHERE:\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n")
    (workdir / "cxx.text").write_text("template <class T> T twice(T x) { return x + x; }\nint cxx(int x) { return twice(x); }\n")
    (workdir / "arguments.rsp").write_text("-c '-DTEXT=\"two words\"'\n@more.rsp")
    (workdir / "more.rsp").write_text("response.c")
    for name, text in ("run-it", WRAPPER), ("cc", COMPILER_SCRIPT):
        (workdir / name).write_text(text)
        (workdir / name).chmod(0o755)
    ccache = shutil.which("ccache") or ""
    (workdir / "Makefile").write_text(MAKEFILE.replace("$(CCACHE)", ccache))
    return workdir


def build(*args, **kw):
    return utrail("build", *args, env=environment(CCACHE_DIR=os.path.abspath("cache")), **kw)


def database(path="compile_commands.json"):
    with open(path) as file:
        return json.load(file)


def about(entries):
    return Counter((entry["file"], entry.get("output")) for entry in entries)


def test_every_source_once(tree):
    build("make", "-s", "-j8").must()
    entries = database()
    assert about(entries) == Counter(OBJECTS)
    by_file = {entry["file"]: entry for entry in entries}
    assert by_file["deep.c"]["directory"] == str(tree / "sub")
    assert by_file["plain.c"]["directory"] == str(tree)
    assert by_file["one.c"]["arguments"] == ["gcc", "-Iinclude", "-c", "one.c"]
    assert by_file["main.c"]["arguments"] == ["gcc", "-c", "-g", "main.c"]
    assert by_file["script.c"]["arguments"] == ["./cc", "-c", "-o", "script.o", "script.c"]
    assert by_file["response.c"]["arguments"] == ["gcc", "-c", '-DTEXT="two words"', "response.c"]
    assert by_file["wrapped.c"]["arguments"] == ["gcc", "-c", "wrapped.c", "-DWRAPPED"]
    assert by_file["cached.c"]["arguments"][0] == "gcc"
    assert os.stat("uftrace.data").st_mode & 0o777 == 0o700


def test_each_command_makes_the_same_object_again(tree):
    build("make", "-s", "-j8").must()
    for entry in database():
        directory = tree / entry["directory"]
        path = directory / entry["output"] if "output" in entry else None
        before = path.read_bytes() if path else None
        if path:
            path.unlink()
        subprocess.run(entry["arguments"], cwd=directory, check=True)
        assert not path or path.read_bytes() == before, entry


def test_tools_of_clang_take_it(tree):
    if not shutil.which("clang-check"):
        pytest.skip("clang-check is not installed")
    (tree / "response.c").write_text('#ifndef TEXT\n#error TEXT\n#endif\nconst char *text = TEXT;\nint response;\n')
    build("make", "-s").must()
    sources = [str(path) for path in sorted(tree.glob("*.c"))]
    result = subprocess.run(["clang-check", "-p", ".", *sources], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_command_from_the_cache_is_one_too(tree):
    if not shutil.which("ccache"):
        pytest.skip("ccache is not installed")
    build("make", "-s").must()
    (tree / "cached.o").unlink()
    build("make", "-s", "cached.o").must()
    assert about(database()) == Counter({("cached.c", "cached.o"): 1})


def test_at_least_what_bear_finds(tree):
    if not shutil.which("bear"):
        pytest.skip("bear is not installed")
    build("make", "-s").must()
    mine = {os.path.join(entry["directory"], entry["file"]) for entry in database()}
    subprocess.run(["make", "-s", "-B"], check=True, stdout=subprocess.DEVNULL)
    result = subprocess.run(["bear", "--output", "bear.json", "--", "make", "-s", "-B"], capture_output=True)
    if result.returncode or not os.path.exists("bear.json"):
        pytest.skip("bear does not work here")
    assert {entry["file"] for entry in database("bear.json")} <= mine


def test_append_and_nothing_to_do(tree):
    build("make", "-s").must()
    first = database()
    again = build("make", "-s")
    assert again.status == 0 and "no compiler was run: 'compile_commands.json' is left as it was" in again.err
    assert database() == first
    (tree / "plain.o").unlink()
    build("--append", "gcc", "-O0", "-c", "plain.c").must()
    both = database()
    assert about(both) == about(first)
    assert [e["arguments"] for e in both if e["file"] == "plain.c"] == [["gcc", "-O0", "-c", "plain.c"]]
    build("gcc", "-c", "plain.c").must()
    assert about(database()) == Counter({("plain.c", "plain.o"): 1})


def test_append_counts_the_newest(tree):
    build("gcc", "-O1", "plain.c", "-shared", "-o", "a.so").must()
    build("--append", "gcc", "-O2", "-fsyntax-only", "plain.c", "one.c").must()
    build("--append", "gcc", "-O0", "-fsyntax-only", "plain.c").must()
    assert [e["arguments"] for e in database()] == [["gcc", "-O2", "-fsyntax-only", "one.c"], ["gcc", "-O0", "-fsyntax-only", "plain.c"]]


def test_sources_that_configure_tried(tree):
    script = "cp plain.c conftest.c; gcc -c conftest.c; rm conftest.c; gcc -fsyntax-only -x c /dev/null"
    result = build("sh", "-c", script).must()
    assert "2 sources are left out" in result.err and database() == []
    build("sh", "-c", script + "; gcc -c plain.c").must()
    assert about(database()) == Counter({("plain.c", "plain.o"): 1})
    build("-o", "all.json", "--all").must()
    assert about(database("all.json")) == Counter({("plain.c", "plain.o"): 1, ("conftest.c", "conftest.o"): 1, ("/dev/null", None): 1})
    assert build("--all", "--as=json").status == 2


def test_ends_as_the_command(workdir):
    result = build("sh", "-c", "echo out; echo err >&2; exit 7")
    assert (result.status, result.out) == (7, "out\n") and result.err.startswith("err\n")
    assert build("sh", "-c", "kill -9 $$").status == 128 + signal.SIGKILL
    assert build("./none").status == 1
    # A command that fails was run, so --all has an entry for it.
    assert build("--all", "gcc", "-c", "none.c").status == 1
    assert about(database()) == Counter({("none.c", "none.o"): 1})
    assert build("-o", "none/x.json", "touch", "made").status == 1 and not os.path.exists("made")


def test_a_daemon_goes_on(workdir):
    result = build("sh", "-c", "trap '' HUP; sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > daemon; exit 3")
    daemon = int(open("daemon").read())
    try:
        assert result.status == 3 and "processes that the command has left behind go on" in result.err
        with open(f"/proc/{daemon}/status") as f:
            assert "TracerPid:\t0\n" in f.read()
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_nothing_is_put_into_the_programs(workdir):
    script = "env | grep -v '^_=' | sort"
    plain = subprocess.run(["sh", "-c", script], env=environment(LD_PRELOAD=""), capture_output=True, text=True).stdout
    assert utrail("build", "sh", "-c", script, env=environment(LD_PRELOAD="")).out == plain


def test_other_options_mean_nothing(workdir):
    """Options of other commands have no effect; a message names them."""
    result = build("--flight=1m", "-F", "main", "-K", "2", "gcc", "--version")
    assert result.status == 0 and "option '--flight' means nothing for build" in result.err
    assert len(json.loads(build("--as=json").must().out)) == 1


def test_outputs(tree):
    build("-o", "one.json", "gcc", "-c", "plain.c").must()
    (tree / "link.json").symlink_to("one.json")
    for name in "link.json", "/dev/null":
        build("-o", name, "--", "gcc", "-c", "one.c").must()
    assert about(database("one.json")) == Counter({("one.c", "one.o"): 1})
    assert (tree / "link.json").is_symlink() and not os.path.isfile("/dev/null")
    # The recording can be read again.
    assert json.loads(build("-o", "-").must().out) == database("one.json")


def test_what_json_cannot_write(tree):
    name = b"\xff.c"
    with open(name, "w") as file:
        file.write("int x;\n")
    (tree / "script").write_bytes(b"gcc -c \xff.c; gcc -c plain.c")
    result = build("sh", "script")
    assert result.status == 0 and "1 command is left out: it is not UTF-8" in result.err
    assert about(database()) == Counter({("plain.c", "plain.o"): 1})
    assert "U+FFFD" in build("--as=json").err


def test_tree_as_json(workdir):
    build("sh", "-c", "/bin/true; (exec /bin/false); sh -c 'kill -9 $$'; exit 3")
    executions = json.loads(build("--as=json").must().out)
    places = {(e["p"], e["x"]) for e in executions}
    assert len(places) == len(executions)
    children = [child["p"] for e in executions for child in e["c"]]
    assert Counter(children) == Counter({e["p"] for e in executions} - {executions[0]["p"]})
    assert all((e["r"]["p"], e["r"]["x"]) in places for e in executions[1:])
    ends = Counter((os.path.basename(e["b"]), e["!"], e.get("signal", 0)) for e in executions if "!" in e)
    shell = os.path.basename(os.path.realpath("/bin/sh"))
    assert ends == Counter([("true", 0, 0), ("false", 1, 0), (shell, 0, 9), (shell, 3, 0)])
    assert executions[0]["s"] == 0 and all(e["e"] >= 0 for e in executions)


def test_tree_as_dot(workdir):
    build("sh", "-c", "/bin/echo '\"a\\n' >out; exit 3")
    text = build("--as=dot").must().out
    assert text.count(" -> ") == 1 and "status 3" in text
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", "-o", "tree.svg"], input=text, text=True, check=True)


def test_a_recording_without_processes(workdir):
    result = utrail("record", "--force", "/bin/true")
    assert result.status == 0
    result = build()
    assert result.status == 1 and "has no records of processes" in result.err


def test_names_that_are_commands_to_a_terminal(workdir):
    """Escape sequences in names: texts for people show them without effect, JSON keeps them
    unchanged."""
    script = workdir / "e\x1b[31m\"x\\"
    script.write_text('#!/bin/sh\nexec /bin/true "$@"\n')
    script.chmod(0o755)
    args = [f"./{script.name}", 'a\x1b]0;h\x07"', "</script>", "n\nl"]
    dot = utrail("build", "--as=dot", "-o", "-", "--", *args).must().out
    assert r'label="sh ./e\\x1b[31m\"x\\ a\\x1b]0;h\\x07\" </script> n\\x0al\n' in dot
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", dot)
    executions = json.loads(utrail("build", "--as=json", "-o", "-").must().out)
    assert [execution["v"][-3:] for execution in executions] == [args[-3:]] * 2
