"""Small recordings, logs and builds that are costly to read, for each reader
(doc/internals/trust.md)."""

import os
import re
import subprocess
from pathlib import Path

import costly_data
import costly_text
import pytest
from cost import check
from tools import has_sanitizer, utrail

pytestmark = pytest.mark.skipif(has_sanitizer(), reason="a sanitizer's memory and time are its own")

INPUT_MAX_BYTES = 16 << 20
READERS = [["report"], ["graph"], ["replay"], ["info"], ["dump"], ["dump", "--format=chrome"], ["dump", "--format=folded"]]
JSON, DEPS = (["build", f"--as={name}", "-o", f"o.{name}"] for name in ("json", "deps"))
OF_PROCESSES = [["events", "export", "--as=json"], ["events", "export", "--as=etrace"], JSON, DEPS]
OF_EVENTS = [["dump"], ["dump", "--format=chrome", "--event-full"], ["replay", "--event-full"], ["events", "show"], ["events", "export", "--as=json"]]
STEPS = "steps, which is the limit for a file of this size; if you trust it, use --no-limit"
# By file: the commands that refuse it, and words of their message.
REFUSED = {
    "proc-descriptors": ([JSON, DEPS], STEPS),
    "proc-renames": ([JSON, DEPS], STEPS),
    "proc-long-paths": ([JSON, DEPS], STEPS),
    "proc-pipe": ([JSON], "readers of pipes, which is the limit; if you trust it, use --no-limit"),
    "proc-inputs": ([DEPS], STEPS),
    "proc-programs": ([DEPS], "has no records of files"),
    "proc-closes-given": ([JSON, DEPS, ["events", "export", "--as=etrace"]], "which is the limit"),
}


def readers_of(kind):
    if kind.startswith("proc-"):
        return OF_PROCESSES + READERS[:5:2]
    return OF_EVENTS if kind.startswith("declared-") else READERS


def bytes_in(directory):
    return sum(entry.stat().st_size for entry in os.scandir(directory))


@pytest.mark.parametrize("kind", costly_data.DIRECTORIES)
def test_directory(kind, workdir):
    costly_data.write_directory(kind, "data")
    assert bytes_in("data") < INPUT_MAX_BYTES
    for words in readers_of(kind):
        status, text = check(*words, "-d", "data")
        refused_by, limit = REFUSED.get(kind, ([], ""))
        assert status == int(words in refused_by) and (not status or limit in text), (words, text[-2000:])


@pytest.mark.parametrize(("write", "nr"), [(costly_data.proc_descriptors, 900), (costly_data.proc_pipe, 4200)], ids=lambda v: getattr(v, "__name__", v))
def test_processes_without_limit(write, nr, workdir):
    """--no-limit reads the recording for a user who trusts it."""
    rec = costly_data.Recording("data")
    write(rec, nr)
    rec.done()
    status, text = check(*JSON, "-d", "data")
    assert status == 1 and "use --no-limit" in text, text[-2000:]
    assert check(*JSON, "--no-limit", "-d", "data")[0] == 0
    assert Path("o.json").stat().st_size > 100 * nr


def test_compact(workdir):
    """The same compact blocks many times: a byte for each record."""
    rec = costly_data.Recording("data")
    rec.records([(1000 + 10 * i, i & 1, 0, 1) for i in range(80000)])
    rec.done()
    utrail("convert", "--compact", "-d", "data", "small").must()
    blocks = Path("small/100.cdat").read_bytes()
    Path("small/100.cdat").write_bytes(blocks * ((2 << 20) // len(blocks)))
    for words in READERS:
        assert check(*words, "-d", "small")[0] == 0


STRUCTS = "".join(f"struct s{i} {{ struct s{i - 1} a, b; }};\n" for i in range(1, 25))
FUNCTIONS = "".join(f"int f{i}(struct s{i % 8} x, struct s24 *p) {{ return x.a{'.a' * (i % 8)}; }}\n" for i in range(1000))
NOPS = "".join(f".loc 1 {1 + i * 7919 % 100000}\nnop\n" for i in range(100000))
LABELS = "".join(f".globl g{i}\n.type g{i},@function\n.loc 1 {i}\ng{i}: ret\n.size g{i},1\n" for i in range(20000))
PROGRAMS = {
    "structs.c": "struct s0 { int a, b; };\n" + STRUCTS + FUNCTIONS + "int main(void) { struct s0 x = { 0, 0 }; return f0(x, 0); }\n",
    "lines.s": '.file 1 "/x/a.c"\n.text\n.globl main\n.type main,@function\nmain:\npush %rbp\nmov %rsp,%rbp\ncall mcount\n' + NOPS
    + "xor %eax,%eax\npop %rbp\nret\n.size main,.-main\n" + LABELS + '.section .note.GNU-stack,"",@progbits\n',
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the lines are those of x86-64")
@pytest.mark.parametrize("name", PROGRAMS)
def test_debug_information(name, workdir):
    """Types that double with each level, and lines in no order: record reads them."""
    Path(name).write_text(PROGRAMS[name])
    subprocess.run(["gcc", "-g", "-pg", name, "-o", "p"], check=True)
    status, text = check("record", "--no-event", "-a", "--srcline", "-d", "data", "./p")
    assert status == 0, text[-2000:]
    for words in (["report", "--srcline"], ["replay"], ["dump"]):
        assert check(*words, "-d", "data")[0] == 0


def read_imported(name):
    for words in (["report"], ["replay"], ["events", "export", "--as=json"]):
        status, text = check(*words, "-d", "data")
        assert status == 0, (name, words, text[-2000:])


@pytest.mark.parametrize("kind", costly_text.LOGS)
def test_log(kind, workdir):
    Path("log").write_bytes(costly_text.LOGS[kind]())
    status, text = check("events", "import", "-d", "data", "log")
    assert status == int(kind in ("empty-lines", "long-line")), text[-2000:]
    read_imported(kind)
    status, text = check("events", "check", "log")
    assert status == int(kind == "empty-lines"), text[-2000:]


@pytest.mark.parametrize("kind", costly_text.ETRACES)
def test_etrace(kind, workdir):
    Path("text").write_bytes(costly_text.ETRACES[kind]())
    status, text = check("events", "import", "-d", "data", "text")
    if kind in ("environment", "empty-arguments"):
        assert status == 1 and "which is the limit" in text and "use --no-limit" in text, text[-2000:]
        return
    assert status == 0, text[-2000:]
    read_imported(kind)
    assert check("events", "export", "--as=etrace", "-d", "data")[0] == 0


def test_etrace_without_limit(workdir):
    """With --no-limit, import reads a text however much it costs, for a user who trusts the text.
    Other commands do not have this option."""
    Path("text").write_bytes(costly_text.ETRACES["empty-arguments"]())
    status, text = check("events", "import", "--no-limit", "-d", "data", "text")
    assert status == 0, text[-2000:]
    assert Path("data/proc.dat").stat().st_size > 100 << 20
    assert "option '--no-limit' means nothing for events list" in utrail("events", "list", "--no-limit", "-d", "data").must(2).err


@pytest.mark.parametrize("kind", costly_text.POSIX_LOGS)
def test_posix_log(kind, workdir):
    Path("log").write_bytes(costly_text.POSIX_LOGS[kind]())
    status, text = check("events", "show", "log")
    if kind == "unknown":
        assert status == 1 and "is damaged" in text, text[-2000:]
    else:
        assert status == 0, text[-2000:]
    # In logs of the other kinds each record has its own task, for which a file would be made.
    if kind in ("cut", "empty-names", "one-time", "threads"):
        status, text = check("events", "import", "-d", "data", "log")
        assert status == 0, text[-2000:]
        read_imported(kind)


@pytest.mark.parametrize("kind", costly_text.DATABASES)
def test_database(kind, workdir):
    """--append reads the database of an earlier build."""
    Path("cc.json").write_bytes(costly_text.DATABASES[kind]())
    status, text = check("build", "--append", "-o", "cc.json", "true")
    if kind in ("deep", "keys"):
        assert status == 1 and "is no compile_commands.json: see byte" in text, text[-2000:]
    else:
        assert status == 0, text[-2000:]


# By name: the content of the response file of each command, the number of commands, other files.
RESPONSES = {
    "circle": ("@r", 1, {}),
    "doubling": ("@r @r", 1, {}),
    "words": ("a " * (1 << 20), 1, {}),
    "many-commands": ("a.c " + "x" * (3 << 20), 34, {}),
    "sources": ("-DX=1 " * 20000 + " ".join(f"f{i}.c" for i in range(20000)), 1, {}),
    # A file that includes itself, and many words, which each round of this circle could add again.
    "chain": ("@s @w", 1, {"s": "@s", "w": "a " * (1 << 20)}),
    "missing": ("@x " * (1 << 20), 2, {}),
    "too-large": ("@b " * 2000, 2, {"b": "x" * (5 << 20)}),
    # The output has six bytes for each control byte.
    "controls": ("a.c -D" + "\x01" * (3 << 20), 11, {}),
    # Each word is compared with all options that take a word.
    "options": ("-a " * (1 << 20), 2, {}),
}
RESPONSES_BEYOND = ("many-commands", "sources", "controls")


def write_build(kind):
    content, nr, others = RESPONSES[kind]
    Path("bin").mkdir()
    Path("bin/gcc").write_text("#!/bin/true\n")
    Path("bin/gcc").chmod(0o755)
    for name, text in ({"r": content} | others).items():
        Path(name).write_text(text)
    Path("go").write_text(f"#!/bin/sh\ni=0\nwhile [ $i -lt {nr} ]; do bin/gcc -c @r -o $i.o; i=$((i + 1)); done\n")
    Path("go").chmod(0o755)


@pytest.mark.parametrize("kind", RESPONSES)
def test_response_files(kind, workdir):
    write_build(kind)
    status, text = check("build", "--all", "-o", "cc.json", "./go")
    assert status == 0, text[-2000:]
    if kind in RESPONSES_BEYOND:
        assert re.search("commands? (is|are) left out", text) and "200 MB, which is the limit" in text and "use --no-limit" in text, text[-2000:]


def test_build_without_limit(workdir):
    """--no-limit makes entries for all commands, for a user who trusts the build."""
    write_build("many-commands")
    result = utrail("build", "--all", "--no-limit", "-o", "cc.json", "./go").must()
    assert "left out" not in result.err, result.err
    assert Path("cc.json").read_text().count('"file"') == 34
