"""`utrail script` calls functions of a user's script for calls and events. Debian's uftrace runs
the same scripts on the same recordings, and must print the same."""

import ctypes
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from programs import Variant, build, program
from tools import PEER, UTRAIL, environment, peer, run, utrail, wait_until

PG = Variant("gcc", "pg", "O2")
LANGUAGES = {"py": "python3", "lua": "luajit"}

# Common scripts, by name and language: they count calls, print everything, replay, list strings.
SCRIPTS = {
    "count.py": """
count = 0
def uftrace_begin(ctx):
    print(ctx["record"], ctx["cmds"])
def uftrace_entry(ctx):
    global count
    count += 1
def uftrace_end():
    print("calls:", count)
""",
    "dump.py": """
def uftrace_begin(ctx):
    print("begin", sorted(ctx), ctx["cmds"])
def uftrace_entry(ctx):
    print("entry", ctx, [type(a).__name__ for a in ctx.get("args", ())])
def uftrace_exit(ctx):
    print("exit", ctx, type(ctx.get("retval")).__name__)
def uftrace_event(ctx):
    print("event", ctx)
def uftrace_end():
    print("end")
""",
    "replay.py": """
def uftrace_entry(ctx):
    print("%10.3f [%6d] | %s%s() {" % (0, ctx["tid"], " " * 2 * ctx["depth"], ctx["name"]))
def uftrace_exit(ctx):
    print("%10.3f [%6d] | %s} /* %s */" % (ctx["duration"] / 1000, ctx["tid"], " " * 2 * ctx["depth"], ctx["name"]))
""",
    "strings.py": """
UFTRACE_FUNCS = ["put", "^str", "absent"]
found = []
def uftrace_entry(ctx):
    found.extend((ctx["name"], a) for a in ctx.get("args", ()) if type(a) is str)
def uftrace_exit(ctx):
    if type(ctx.get("retval")) is str:
        found.append((ctx["name"], ctx["retval"]))
def uftrace_end():
    for name, text in found:
        print(name, repr(text))
""",
    "count.lua": """
local count = 0
function uftrace_begin(ctx)
    print(ctx.record, ctx.cmds[1], ctx.cmds[2], #ctx.cmds)
end
function uftrace_entry(ctx)
    count = count + 1
end
function uftrace_end()
    print("calls:", count)
end
""",
    "dump.lua": """
local function show(what, ctx)
    local keys, texts = {}, {}
    for key in pairs(ctx) do keys[#keys + 1] = key end
    table.sort(keys)
    for i, key in ipairs(keys) do
        local value = ctx[key]
        if type(value) == "table" then value = "{" .. table.concat(value, ",") .. "}" end
        if key ~= "version" then texts[#texts + 1] = key .. "=" .. tostring(value) .. ":" .. type(ctx[key]) end
    end
    print(what, table.concat(texts, " "))
end
function uftrace_begin(ctx) show("begin", ctx) end
function uftrace_entry(ctx) show("entry", ctx) end
function uftrace_exit(ctx) show("exit", ctx) end
function uftrace_event(ctx) show("event", ctx) end
function uftrace_end() print("end") end
""",
    "strings.lua": """
UFTRACE_FUNCS = { "put", "^str", "absent" }
function uftrace_entry(ctx)
    for i, value in ipairs(ctx.args or {}) do
        if type(value) == "string" then print(ctx.name, i, value) end
    end
end
function uftrace_exit(ctx)
    if type(ctx.retval) == "string" then print(ctx.name, ctx.retval) end
end
""",
}

VALUES = r"""
#include <stdlib.h>
enum colour { RED, GREEN = 5 };
struct pair { int x; double y; };
__attribute__((noinline)) int add(int a, long b) { return a + (int)b; }
__attribute__((noinline)) double half(double d, float f) { return d / 2 + f; }
__attribute__((noinline)) char letter(char c) { return c; }
__attribute__((noinline)) char *string(char *s) { return s; }
__attribute__((noinline)) struct pair *pointer(struct pair *p) { return p; }
__attribute__((noinline)) struct pair whole(struct pair p) { return p; }
__attribute__((noinline)) enum colour paint(enum colour c) { return c; }
__attribute__((noinline)) _Bool not(_Bool b) { return !b; }
__attribute__((noinline)) unsigned long large(unsigned char c, short s, unsigned long q) { return q; }
int main(int argc, char **argv)
{
	struct pair p = { 1, 2.5 };
	add(argc > 1 ? -3 : 3, argc > 1 ? -4 : 4);
	half(1.5, 2.5);
	letter('x'), letter(0), letter(-1);
	string("say \"hi\"\n"), string(NULL), string("\xff\xfe"), string("größe"), string("");
	pointer(&p);
	whole(p);
	paint(GREEN);
	not(1);
	large(200, argc > 1 ? -2 : 2, argc > 1 ? 1ul << 63 : 1);
	return 0;
}
"""


def compile_c(text, *flags):
    Path("made.c").write_text(text)
    run("gcc", "-g", "-O0", "-pg", *flags, "-o", "made", "made.c").must()
    return "./made"


def write(name, text=None):
    Path(name).write_text(SCRIPTS[name] if text is None else text)
    return name


@pytest.fixture(autouse=True)
def languages(request):
    """Skip a test if this utrail cannot run scripts in the test's language."""
    known = utrail("--version").out.split()
    for word in ("py", "lua"):
        if request.node.name.endswith(f"{word}]") and LANGUAGES[word] not in known:
            pytest.skip(f"this utrail was built without {LANGUAGES[word]}")


def peer_has(name):
    language = LANGUAGES[name.rpartition(".")[2]]
    if not PEER or language not in peer("--version").out.split():
        pytest.skip(f"the peer has no {language}")
    if language == "luajit":
        try:
            ctypes.CDLL("libluajit-5.1.so")
        except OSError:
            pytest.skip("the peer loads libluajit-5.1.so, which is missing: package libluajit-5.1-dev")


def both(name, *words, recording="data"):
    """The output of the script under the peer and under utrail."""
    peer_has(name)
    write(name)
    theirs = peer("script", "-S", name, "-d", recording, *words, env={"LC_ALL": "C.UTF-8"}).must().out
    ours = utrail("script", "-S", name, "-d", recording, *words, env={"LC_ALL": "C.UTF-8"}).must()
    assert ours.err == ""
    return theirs, ours.out


@pytest.mark.parametrize("name", sorted(SCRIPTS))
@pytest.mark.parametrize("what", ["plain", "threads", "recursion", "sleeps"])
def test_same_text(workdir, name, what):
    """Calls, arguments and the scheduler's events, of one task and of several."""
    utrail("record", "-d", "data", "-A", "printf@arg1/s", "-A", "puts@arg1/s", build(program(what), PG))
    theirs, ours = both(name)
    assert ours == theirs and (ours or "strings" in name)


@pytest.mark.parametrize("name", ["dump.py", "dump.lua"])
def test_same_text_with_options(workdir, name):
    """Filters work as in all views. Words after the first argument are passed to the script."""
    utrail("record", "-d", "data", build(program("recursion"), PG))
    for words in (["-D", "2"], ["-N", "main"], ["-F", "main"], ["--no-libcall"], ["--no-event"], ["a", "-D", "2"]):
        theirs, ours = both(name, *words)
        assert ours == theirs, words


@pytest.mark.parametrize("name", ["dump.py", "dump.lua"])
def test_record_first(workdir, name):
    """script --record makes a recording that stays, then runs the script on it. The script's first
    lines may have options of record."""
    peer_has(name)
    program = compile_c("#include <stdlib.h>\nint f(int n) { return n ? f(n - 1) : 7; }\nint main(int c, char **v) { return f(atoi(v[1])); }")
    write(name, f"{'#' if name.endswith('py') else '--'} uftrace-option: --no-libcall --no-event\n" + SCRIPTS[name])
    for words in ([], ["-F", "f"], ["-D", "3"], ["-A", "f@arg1"]):
        theirs = peer("script", "--record", "-S", name, "-d", "theirs", *words, program, "4").must().out
        ours = utrail("script", "--record", "-S", name, "-d", "ours", *words, program, "4").must(7)
        assert ours.err == ""
        assert shape(ours.out) == shape(theirs) and "f" in ours.out, words
        again = utrail("script", "-S", name, "-d", "ours").must()
        assert again.out.splitlines()[1:] == ours.out.splitlines()[1:]
        assert "-A or -R might not work" in again.err


def shape(text):
    """The text without times, addresses and numbers of tasks, which differ from run to run."""
    return re.sub(r"(?<=duration)\W+\d+|\d{2,}", "N", text)


@pytest.mark.parametrize("name", ["dump.py", "dump.lua"])
def test_same_events(workdir, name):
    program = compile_c("#include <unistd.h>\nvoid f(void) { usleep(1); }\nint main(void) { f(); f(); }")
    utrail("record", "-d", "data", "-T", "f@read=proc/statm", program).must()
    theirs, ours = both(name)
    assert ours == theirs
    assert "read:proc/statm" in ours and "vmsize=" in ours


@pytest.mark.parametrize("name", ["dump.py", "dump.lua"])
def test_same_values(workdir, name):
    """Positive numbers, which the peer shows right, and other values, in a recording of each
    tool."""
    compile_c(VALUES)
    utrail("record", "-a", "-d", "ours", "./made").must()
    peer("record", "-a", "-d", "theirs", "./made").must()
    for recording in ("ours", "theirs"):
        theirs, ours = both(name, recording=recording)
        assert ours == theirs
        assert "<invalid value>" in ours or name.endswith("lua")
        assert "größe" in ours and "NULL" in ours and "struct: pair{}" in ours and "3.25" in ours


@pytest.mark.parametrize("language", ["py", "lua"])
def test_signs(workdir, language):
    """A negative int is shown as negative, a large unsigned long is not."""
    compile_c(VALUES)
    utrail("record", "-a", "-d", "data", "./made", "x").must()
    text = {
        "py": "def uftrace_entry(ctx):\n    if ctx['name'] in ('add', 'large'): print(*ctx['args'])\n"
              "def uftrace_exit(ctx):\n    if ctx['name'] in ('add', 'large'): print(ctx['retval'])\n",
        "lua": "UFTRACE_FUNCS = { '^add$', '^large$' }\nfunction uftrace_entry(ctx) print(unpack(ctx.args)) end\n"
               "function uftrace_exit(ctx) print(ctx.retval) end\n",
    }[language]
    out = utrail("script", "-S", write(f"s.{language}", text), "-d", "data").must().out.split()
    large = "9223372036854775808" if language == "py" else "9.2233720368548e+18"
    assert out == ["-3", "-4", "-7", "200", "-2", large, large]


def test_no_args(workdir):
    compile_c(VALUES)
    utrail("record", "-a", "-d", "data", "./made").must()
    out = utrail("script", "-S", write("dump.py"), "-d", "data", "--no-args").must().out
    assert "'args': (" not in out and "retval" not in out and "'add'" in out


@pytest.mark.parametrize("words, expected", [
    ([], {"a", "b", "c"}), (["--match=glob"], set()), (["--match=simple"], set()),
])
def test_wanted(workdir, words, expected):
    """UFTRACE_FUNCS is read as --match says; names without a match are allowed."""
    utrail("record", "-d", "data", build(program("plain"), PG))
    text = "UFTRACE_FUNCS = ('^[abc]$', 'no such')\ndef uftrace_entry(ctx): print(ctx['name'])\n"
    out = utrail("script", "-S", write("s.py", text), "-d", "data", *words).must().out
    assert set(out.split()) == expected


@pytest.mark.parametrize("name, text", [
    ("s.py", "UFTRACE_FUNCS = ['a(']"), ("s.lua", "UFTRACE_FUNCS = { 'a(' }"),
    ("s.py", "UFTRACE_FUNCS = [1]"), ("s.lua", "UFTRACE_FUNCS = { {} }"), ("s.py", "UFTRACE_FUNCS = 1"),
])
def test_wanted_that_cannot_be(workdir, name, text):
    utrail("record", "-d", "data", build(program("plain"), PG))
    result = utrail("script", "-S", write(name, text), "-d", "data").must(255)
    assert f"UFTRACE_FUNCS of '{name}'" in result.err and "Traceback" not in result.err


@pytest.mark.parametrize("name, text, said", [
    ("none.py", None, "utrail: cannot open script 'none.py': No such file or directory"),
    ("s.txt", "", "utrail: unsupported script type: s.txt .*"),
    ("s.py", "def f(:\n", r"(?s).*line 1.*SyntaxError.*utrail: 's.py' cannot be imported"),
    ("s.py", "import nosuchmodule\n", r"(?s).*line 1.*nosuchmodule.*utrail: 's.py' cannot be imported"),
    ("s.py", "x = 1\nx.y\n", r"(?s).*line 2.*AttributeError.*utrail: 's.py' cannot be imported"),
    ("s.lua", "function f(", r"(?s)utrail: s.lua:1: .*utrail: 's.lua' cannot be imported"),
    ("s.lua", "\nerror('no')", r"(?s)utrail: s.lua:2: no.*utrail: 's.lua' cannot be imported"),
])
def test_cannot_run(workdir, name, text, said):
    utrail("record", "-d", "data", build(program("plain"), PG))
    if text is not None:
        write(name, text)
    result = utrail("script", "-S", name, "-d", "data").must(255)
    assert re.fullmatch(said + "\n", result.err) and result.out == ""


@pytest.mark.parametrize("name, text", [
    ("s.py", "uftrace_entry = 'f'\nuftrace_exit = None\ndef uftrace_end(): print('end')\n"),
    ("s.lua", "uftrace_entry = 'f'\nuftrace_exit = nil\nfunction uftrace_end() print('end') end\n"),
])
def test_no_function(workdir, name, text):
    """If a script gives the name of a callback to something other than a function, one message says
    so. With None and nil there is no callback."""
    utrail("record", "-d", "data", build(program("plain"), PG))
    result = utrail("script", "-S", write(name, text), "-d", "data").must()
    assert (result.out, result.err) == ("end\n", "utrail: 'uftrace_entry' is no function, and is not called\n")


def test_no_recording(workdir):
    assert "cannot open" in utrail("script", "-S", write("count.py"), "-d", "none").must(255).err


@pytest.mark.parametrize("name, text, line", [
    ("s.py", "def uftrace_entry(ctx):\n    print(ctx['name'])\n    if ctx['name'] in 'ab': raise ValueError('oh')\n"
             "def uftrace_end(): print('end')\n", 'File "s.py", line 3, in uftrace_entry'),
    ("s.lua", "function uftrace_entry(ctx)\n    print(ctx.name)\n    if ctx.name == 'a' or ctx.name == 'b' then error('oh') end\nend\n"
              "function uftrace_end() print('end') end\n", "utrail: s.lua:3: oh"),
])
def test_exceptions(workdir, name, text, line):
    """Each exception is reported, and the script goes on."""
    utrail("record", "-d", "data", build(program("plain"), PG))
    failed = utrail("script", "-S", write(name, text), "-d", "data").must(1)
    called = failed.out.split()
    assert called[-1] == "end" and {"main", "a", "b", "c"} <= set(called)
    assert failed.err.count(line) == called.count("a") + called.count("b")


@pytest.mark.parametrize("code, status, said", [("", 0, ""), ("7", 7, ""), ("'that is all'", 1, "utrail: that is all\n")])
@pytest.mark.parametrize("where", ["uftrace_begin(ctx)", "uftrace_entry(ctx)", "uftrace_end()", ""])
def test_sys_exit(workdir, code, status, said, where):
    utrail("record", "-d", "data", build(program("plain"), PG))
    body = f"import sys\nprint('once')\ndef uftrace_exit(ctx): pass\n"
    body += f"def {where}: sys.exit({code})\n" if where else f"sys.exit({code})\n"
    result = utrail("script", "-S", write("s.py", body), "-d", "data").must(status)
    assert (result.out, result.err) == ("once\n", said)


def test_context_is_the_scripts(workdir):
    """A script may keep, change and empty the context of a call: those of other calls stay."""
    utrail("record", "-d", "data", build(program("recursion"), PG))
    text = """
kept, names = [], []
def uftrace_entry(ctx):
    names.append(ctx["name"])
    kept.append(ctx)
def uftrace_exit(ctx):
    assert set(ctx) == {"tid", "depth", "timestamp", "address", "name", "duration"}, ctx
    ctx["mine"] = ctx.pop(("tid", "name", "depth")[len(names) % 3])
    if len(names) % 5 == 0:
        ctx.clear()
def uftrace_end():
    assert [ctx["name"] for ctx in kept] == names and len({id(ctx) for ctx in kept}) == len(kept)
    print("good")
"""
    assert utrail("script", "-S", write("s.py", text), "-d", "data").must().out == "good\n"


@pytest.mark.parametrize("language", ["py", "lua"])
def test_surroundings(workdir, language):
    """A script finds modules beside it, and gets its name and arguments. No file is left beside
    it."""
    utrail("record", "-d", "data", build(program("plain"), PG))
    Path("sub").mkdir()
    write(f"sub/beside.{language}", {"py": "x = 5\n", "lua": "return 5\n"}[language])
    text = {
        "py": "import sys\nsys.dont_write_bytecode = True\nimport beside\nprint(beside.x, *sys.argv)\n",
        "lua": "print(require('beside'), arg[0], arg[1], arg[2])\n",
    }[language]
    name = write(f"sub/s.{language}", text)
    out = utrail("script", "-S", name, "-d", "data", "one", "--two").must().out
    assert out.split() == ["5", name, "one", "--two"]
    assert sorted(os.listdir("sub")) == sorted([f"beside.{language}", f"s.{language}"])


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_in_any_encoding(workdir, locale):
    """A stranger's recording: its names are text in any locale, and never code."""
    utrail("record", "-d", "data", build(program("plain"), PG))
    names = {"a": "größe", "b": "\udcff\udcfe", "c": "__import__('os').abort()"}
    for sym in Path("data").glob("*.sym"):
        lines = sym.read_text().split("\n")
        sym.write_text("\n".join(" ".join(l.split(" ")[:-1] + [names.get(l.split(" ")[-1], l.split(" ")[-1])]) for l in lines),
                       errors="surrogateescape")
    for name in (write("dump.py"), write("dump.lua")):
        out = utrail("script", "-S", name, "-d", "data", env={"LC_ALL": locale}).must().out
        assert "größe" in out and "abort()" in out
        assert ("\\xff" if name == "dump.py" else "\ufffd") in out


def test_options_at_the_top(workdir):
    """Options at the top of a script are for recording: one line of warning says so."""
    utrail("record", "-d", "data", build(program("plain"), PG))
    text = "#!/usr/bin/python3\n# uftrace-option: -A a@arg1\n\n#  uftrace-option: -D 2\nx = 1\n# uftrace-option: -R b\n"
    result = utrail("script", "-S", write("s.py", text), "-d", "data").must()
    assert re.fullmatch("WARN: -A or -R might not work: .*: -A a@arg1 -D 2\n", result.err)


@pytest.mark.parametrize("language", ["py", "lua"])
def test_a_million_calls(workdir, language):
    program = compile_c("__attribute__((noinline)) void f(void) { __asm__ volatile(\"\"); }\n"
                        "int main(void) { for (int i = 0; i < 1000000; i++) f(); }")
    utrail("record", "-d", "data", program).must()
    text = {
        "py": "n = 0\ndef uftrace_exit(ctx):\n    global n\n    n += ctx['name'] == 'f'\ndef uftrace_end(): print(n)\n",
        "lua": "n = 0\nfunction uftrace_exit(ctx) if ctx.name == 'f' then n = n + 1 end end\nfunction uftrace_end() print(n) end\n",
    }[language]
    assert utrail("script", "-S", write(f"s.{language}", text), "-d", "data").must().out == "1000000\n"


@pytest.mark.parametrize("name, text", [
    ("s.py", "import sys, time\ndef uftrace_entry(ctx):\n    print('called', flush=True)\n    time.sleep(0.01)\n"
             "def uftrace_end(): print('end')\n"),
    ("s.lua", "function uftrace_entry(ctx)\n print('called') io.stdout:flush()\n local t = os.clock() + 0.01\n"
              " while os.clock() < t do end\nend\nfunction uftrace_end() print('end') end\n"),
])
def test_ctrl_c(workdir, name, text):
    """Ctrl-C ends the run as if there were no more calls."""
    program = compile_c("__attribute__((noinline)) void f(void) { __asm__ volatile(\"\"); }\n"
                        "int main(void) { for (int i = 0; i < 1000000; i++) f(); }")
    utrail("record", "-d", "data", program).must()
    with open("out", "wb") as out, subprocess.Popen([UTRAIL, "script", "-S", write(name, text), "-d", "data"], stdout=out,
                                                    stderr=subprocess.PIPE, env=environment()) as proc:
        wait_until(lambda: os.path.getsize("out"))
        proc.send_signal(signal.SIGINT)
        err = proc.communicate()[1].decode()
    assert proc.returncode == 130 and "interrupted" in err
    assert Path("out").read_text().split()[-1] == "end"


@pytest.mark.parametrize("name", ["dump.py", "dump.lua"])
def test_reader_that_goes_away(workdir, name):
    """`| head` ends the command without a message."""
    utrail("record", "-d", "data", build(program("recursion"), PG))
    result = run("bash", "-c", f"{UTRAIL} script -S {write(name)} -d data | head -1; exit ${{PIPESTATUS[0]}}")
    assert result.status in (0, 141) and result.err == ""


BATCHES = {
    "py": """
calls, batched = [], []
def uftrace_exit(ctx):
    calls.append((ctx["name"], ctx["timestamp"] - ctx["duration"], ctx["duration"], ctx["depth"], ctx["tid"]))
def uftrace_batch(columns):
    kept.append(columns)
    lengths = {len(columns[key]) for key in ("function", "timestamp", "duration", "depth", "tid")}
    assert len(lengths) == 1 and lengths.pop() > 0
kept = []
def uftrace_end():
    for c in kept:
        names = [c["names"][i] for i in c["function"]]
        batched.extend(zip(names, c["timestamp"], c["duration"], c["depth"], c["tid"]))
    print(batched == calls, len(kept), len(calls))
""",
    "lua": """
local calls, kept = {}, {}
local function row(...) return table.concat({...}, " ") end
function uftrace_exit(ctx)
    calls[#calls + 1] = row(ctx.name, ctx.timestamp - ctx.duration, ctx.duration, ctx.depth, ctx.tid)
end
function uftrace_batch(c) kept[#kept + 1] = c end
function uftrace_end()
    local n, good = 0, true
    for _, c in ipairs(kept) do
        for i = 0, c.nr - 1 do
            n = n + 1
            good = good and calls[n] == row(c.names[c["function"][i]], tonumber(c.timestamp[i]), tonumber(c.duration[i]), c.depth[i], c.tid[i])
        end
    end
    print(good and n == #calls and "True" or "False", #kept, #calls)
end
""",
}
WANTED = {"py": "UFTRACE_FUNCS = ['^main$']\n", "lua": "UFTRACE_FUNCS = {'^main$'}\n"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("what", ["plain", "threads", "recursion"])
def test_batches(workdir, what, language):
    """Batches have the calls that uftrace_exit() gets, in this order. A script may keep batches."""
    utrail("record", "-d", "data", build(program(what), PG))
    for words in ([], ["-D", "2"]):
        script = write(f"s.{language}", BATCHES[language])
        good, nr_batches, nr_calls = utrail("script", "-S", script, "-d", "data", *words).must().out.split()
        assert good == "True" and nr_batches == "1" and int(nr_calls) > 0
    out = utrail("script", "-S", write(f"s.{language}", WANTED[language] + BATCHES[language]), "-d", "data").must().out
    assert out.split() == ["True", "1", "1"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_many_batches(workdir, language):
    program = compile_c("__attribute__((noinline)) void f(void) { __asm__ volatile(\"\"); }\n"
                        "int main(void) { for (int i = 0; i < 100000; i++) f(); }")
    utrail("record", "-d", "data", program).must()
    good, nr_batches, nr_calls = utrail("script", "-S", write(f"s.{language}", BATCHES[language]), "-d", "data").must().out.split()
    assert good == "True" and int(nr_batches) > 2 and int(nr_calls) > 100000


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_is_no_list_of_names(workdir, language):
    utrail("record", "-d", "data", build(program("plain"), PG))
    err = utrail("script", "-S", write(f"s.{language}", "UFTRACE_FUNCS = 'main'\n"), "-d", "data").must(255).err
    assert "is no list of strings" in err


FAILING_BATCHES = {
    "py": ("def uftrace_batch(calls): raise ValueError('oh')\ndef uftrace_end(): print('end')\n", "line 1, in uftrace_batch"),
    "lua": ("function uftrace_batch(calls) error('oh') end\nfunction uftrace_end() print('end') end\n", "s.lua:1: oh"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_exception_in_a_batch(workdir, language):
    text, told = FAILING_BATCHES[language]
    utrail("record", "-d", "data", build(program("plain"), PG))
    result = utrail("script", "-S", write(f"s.{language}", text), "-d", "data").must(1)
    assert result.out == "end\n" and result.err.count(told) == 1


# Writes down its calls, without values that differ from run to run.
CALLS = {
    "py": """
def uftrace_begin(ctx): print("begin", ctx["record"], *ctx["cmds"][1:])
def uftrace_entry(ctx): print("entry", ctx["depth"], ctx["name"])
def uftrace_exit(ctx): print("exit", ctx["depth"], ctx["name"], ctx["duration"] >= 0)
def uftrace_event(ctx): print("event")
def uftrace_end(): print("end")
""",
    "lua": """
function uftrace_begin(ctx) print("begin", ctx.record, ctx.cmds[2]) end
function uftrace_entry(ctx) print("entry", ctx.depth, ctx.name) end
function uftrace_exit(ctx) print("exit", ctx.depth, ctx.name, ctx.duration >= 0) end
function uftrace_event(ctx) print("event") end
function uftrace_end() print("end") end
""",
}


def calls(out):
    return [line.split() for line in out.splitlines() if line.startswith(("begin", "entry", "exit", "event", "end"))]


@pytest.mark.parametrize("language", ["py", "lua"])
@pytest.mark.parametrize("command", ["record", "live"])
def test_while_recording(workdir, command, language):
    """The script gets the calls that the recording has, without events. The program is not changed
    by it."""
    exe = build(program("recursion"), PG)
    script = write(f"s.{language}", CALLS[language])
    run_alone = run(exe, "word")
    result = utrail(command, "-S", script, "-d", "data", exe, "word").must(run_alone.status)
    assert result.err == run_alone.err and run_alone.out in result.out
    assert Path("data").exists() == (command == "record")
    utrail("record", "-d", "again", "--no-event", exe, "word").must(run_alone.status)
    later = calls(utrail("script", "-S", script, "-d", "data" if command == "record" else "again", "--no-event").must().out)
    now = calls(result.out)
    assert now[0][:3] == ["begin", "True" if language == "py" else "true", "word"]
    assert now[1:] == later[1:] and len(now) > 20


def test_options_of_the_script_while_recording(workdir):
    """The script's options come before those of the command line, which override them."""
    exe = build(program("recursion"), PG)
    script = write("s.py", "# uftrace-option: -D 1\n" + CALLS["py"])
    shallow = calls(utrail("record", "-S", script, "-d", "data", exe).must(25).out)
    assert {call[1] for call in shallow[1:-1]} == {"0"}
    deeper = calls(utrail("record", "-S", script, "-D", "2", "-d", "data", exe).must(25).out)
    assert {call[1] for call in deeper[1:-1]} == {"0", "1"}
    # The script's options are in effect for the recording as if they were typed.
    assert utrail("report", "-d", "data").must().out.count("\n") > 2


@pytest.mark.parametrize("line, said", [
    ("--nonsense", "in the first lines of 's.py': .*--nonsense.*"),
    ("prog", "in the first lines of 's.py': 'prog' is no option"),
    ("-D 1 report", "in the first lines of 's.py': 'report' is no option"),
    ("--opt-file x", "in the first lines of 's.py': a script cannot name an option file"),
    ("--nonsense 'a", "in 's.py': line 1: the quote has no end"),
])
def test_options_of_the_script_that_cannot_be(workdir, line, said):
    result = utrail("record", "-S", write("s.py", f"# uftrace-option: {line}\n"), "true")
    assert result.status in (1, 2)
    assert re.fullmatch(f"utrail: {said}\n", result.err), result.err


@pytest.mark.parametrize("command", ["record", "live"])
def test_scripts_that_fail_while_recording(workdir, command):
    """A script that fails does not harm the program, and the recording is complete. The exit status
    is that of the program. If this is 0 and a function of the script has failed, it is 1."""
    good, bad = build(program("plain"), PG), build(program("recursion"), PG)
    raises = write("raises.py", "def uftrace_entry(ctx): nothing\n")
    broken = write("broken.py", "def x(:\n")
    plain = run(good)
    for script, said in (raises, "NameError"), (broken, "cannot be imported"):
        for exe, status in (good, plain.status or (1 if script == raises else 0)), (bad, 25):
            result = utrail(command, "-S", script, "-d", "data", exe).must(status)
            assert said in result.err and run(exe).out == result.out
            if command == "record":
                assert "main" in utrail("report", "-d", "data").must().out


@pytest.mark.parametrize("option", ["--keep-pid", "--nop"])
def test_what_excludes_a_script(workdir, option):
    err = utrail("record", option, "-S", write("s.py", ""), "true").must(2).err
    assert err == f"utrail: '--script' cannot be used together with '{option}'\n"
