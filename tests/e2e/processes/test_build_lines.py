"""utrail build against build_lines.txt: command lines of compilers, and the entries that they
make."""

import json
import os
import shutil
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tools import environment, utrail

TABLE = Path(__file__).with_name("build_lines.txt")

C = "int {name}(int x)\n{{\n\treturn x + 1;\n}}\n"
MAIN = "int main(void)\n{\n\treturn 0;\n}\n"
ASSEMBLER = '\t.globl here\nhere:\n\tret\n\t.section .note.GNU-stack,"",@progbits\n'
MODULE = "export module m;\nexport int twice(int x)\n{\n\treturn x + x;\n}\n"
FORTRAN = "module numbers\n  implicit none\n  integer, parameter :: one = 1\nend module numbers\n"
FIXED = "      SUBROUTINE {name}(N)\n      INTEGER N\n      N = N + 1\n      END\n"
KERNEL = "kernel void add(global int *x)\n{\n\tx[0] += 1;\n}\n"

SOURCES = {
    **{f"{name}.c": C.format(name=name) for name in ("a", "b")},
    **{name: C.format(name="some") for name in ("with space.c", "ü.c", "text", "x.cpp", "y.cc", "z.C", "k.cu", "k.text", "o.m")},
    "main.c": MAIN, "maincc.cpp": MAIN, "broken.c": "int broken(\n",
    **{name: "int declared(int x);\n" for name in ("inc.h", "pre.h", "pre.hh")},
    **{name: ASSEMBLER for name in ("s.s", "s.S", "text.s")},
    "n.asm": "section .text\nglobal here\nhere:\n\tret\n", "flat.asm": "\tret\n", "inc.asm": "%define ONE 1\n",
    "m.cppm": MODULE, "k.cl": KERNEL, "f.cfg": "-DCONFIGURED\n",
    "mod.f90": FORTRAN, "text.mod": FORTRAN.replace("numbers", "others"),
    "prog.F95": "program prog\n  use numbers\n  if (one /= 1) stop 1\nend program prog\n",
    "old.for": FIXED.format(name="OLD"), "old2.F": FIXED.format(name="OLD2"),
    "unit.ads": "package Unit is\n   procedure Run;\nend Unit;\n",
    "unit.adb": "package body Unit is\n   procedure Run is\n   begin\n      null;\n   end Run;\nend Unit;\n",
    "spec.ads": "package Spec is\n   One : constant := 1;\nend Spec;\n",
    "start.adb": "with Unit;\nprocedure Start is\nbegin\n   Unit.Run;\nend Start;\n",
    "d.d": "module d;\nint twice(int x)\n{\n\treturn x + x;\n}\n",
    "r.rs": "pub fn twice(x: i32) -> i32 {\n    x + x\n}\n",
}

# Stand-ins for compilers that Debian does not have: only their command lines matter here.
STAND_INS = {
    "zig": '#!/bin/sh\ncase $1 in cc) shift; exec gcc -c a.c ;; *) shift; exec g++ -c x.cpp ;; esac\n',
    "nvcc": '#!/bin/sh\n'
            'for word; do case $word in k.cu|x.cpp) g++ -x c++ -c "$word" -o "${word%.*}.o" || exit ;; esac; done\n',
}


@dataclass
class Line:
    """A line of the table. @entries: (file, output or None, arguments or None for any). @skips: the
    checks to skip, with the reason."""

    needs: list
    command: str
    has_assemblers: bool
    entries: list = field(default_factory=list)
    skips: dict = field(default_factory=dict)


def words_of(text, home):
    """The words that a shell makes of @text."""
    out = subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], cwd=home, env=environment(BIN=home.parent / "bin"), check=True,
                         capture_output=True).stdout
    return out.decode().split("\0")[:-1]


def lines():
    table = []
    for text in TABLE.read_text(encoding="utf-8").splitlines():
        if text.startswith("["):
            needs, _, command = text[1:].partition("] ")
            option = "--assemblers "
            table.append(Line(needs.split(), command.removeprefix(option), command.startswith(option)))
        elif text.startswith("\t!"):
            what, _, reason = text[2:].partition(" ")
            table[-1].skips[what] = reason
        elif text.startswith("\t"):
            table[-1].entries.append(text.strip())
    return table


def expected(line, home):
    """The entries that the database should have for @line: (file, output, arguments)."""
    for text in line.entries:
        words = words_of(text, home)
        output = None if words[1] == "-" else words[1]
        arguments = words[2:] or words_of(line.command.partition(" > ")[0], home)
        yield words[0], output, arguments


def make_tree(top):
    """Make a directory for each line. Returns the lines that this machine can run, by the names of
    their directories."""
    bin_dir = top / "bin"
    bin_dir.mkdir(parents=True)
    for name, text in STAND_INS.items():
        (bin_dir / name).write_text(text)
        (bin_dir / name).chmod(0o755)
    path = f"{bin_dir}:{environment()['PATH']}"
    usable = {}
    for number, line in enumerate(lines(), 1):
        if not all(shutil.which(name, path=path) for name in line.needs):
            continue
        home = top / f"{number:03}"
        for folder in "sub", "sys dir":
            (home / folder).mkdir(parents=True)
        for name, text in SOURCES.items():
            (home / name).write_text(text)
        usable[home.name] = line
    return usable, environment(PATH=path, CCACHE_DIR=top / "cache", DISTCC_DIR=top / "distcc", LC_ALL="C.UTF-8")


def script(top, table):
    """The commands of a table, two at a time; their output is ignored."""
    for name, line in table.items():
        (top / name / "line").write_text(f"cd {top / name} && {{ {line.command}; }} > out 2>&1\n")
    names = " ".join(f"{name}/line" for name in table)
    return ["sh", "-c", f"printf '%s\\n' {names} | xargs -P 2 -n 1 bash || true"]


def by_line(top, entries):
    found = {}
    for entry in entries:
        found.setdefault(Path(entry["directory"]).relative_to(top).parts[0], []).append(entry)
    return found


@dataclass
class Built:
    """The whole table after one build: the lines that could be run, and the entries of the database
    for each."""

    top: Path
    table: dict
    env: dict
    found: dict


def build_all(top):
    table, env = make_tree(top)
    found = {}
    for option in (), ("--assemblers",):
        part = {name: line for name, line in table.items() if line.has_assemblers == bool(option)}
        utrail("build", *option, "-o", "out.json", "--", *script(top, part), cwd=top, env=env, limit=300).must()
        found |= by_line(top, json.loads((top / "out.json").read_text()))
    return Built(top, table, env, found)


def about(entry):
    return entry["file"], entry.get("output"), tuple(entry["arguments"])


def difference(line, home, entries):
    """The wrong entries of a line, as text."""
    wanted = Counter()
    got = Counter()
    for file, output, arguments in expected(line, home):
        wanted[file, output, tuple(arguments)] += 1
    any_arguments = {(file, output) for file, output, arguments in wanted if arguments == ("...",)}
    for entry in entries:
        file, output, arguments = about(entry)
        got[file, output, ("...",) if (file, output) in any_arguments else arguments] += 1
    return [f"{home.name}: {line.command[:200]}\n  {what}: {key[0]} {key[1]} {' '.join(key[2])[:400]}"
            for what, keys in (("missing", wanted - got), ("too much", got - wanted)) for key in keys]


def for_each(built, what, check):
    """The complaints of @check(entry) about all lines that do not skip the check @what."""
    asked = [built.found.get(name, []) for name, line in built.table.items() if what not in line.skips]

    def check_line(entries):
        # The entries of a line run one after the other: one may need the output of an earlier one.
        return [check(built, entry) for entry in entries]

    with ThreadPoolExecutor(2) as pool:
        said = [text for texts in pool.map(check_line, asked) for text in texts]
    assert len(said) > 60
    return [text for text in said if text]


def made_again(built, entry):
    path = os.path.join(entry["directory"], entry["output"]) if "output" in entry else None
    is_file = path and os.path.isfile(path)
    if path and not is_file and path != "/dev/null":
        return f"{path} is not there"
    before = Path(path).read_bytes() if is_file else None
    if is_file:
        os.unlink(path)
    done = subprocess.run(entry["arguments"], cwd=entry["directory"], env=built.env, capture_output=True, text=True)
    if done.returncode:
        return f"{entry['directory']}: {' '.join(entry['arguments'])}: {done.stderr}"
    return f"{path} is another one" if is_file and Path(path).read_bytes() != before else None


def clangd_says(built, entry):
    """clangd's output for one entry. The database has no other entry, since clangd takes the first
    one for a file."""
    where = built.top / f"clangd{id(entry)}"
    where.mkdir()
    (where / "compile_commands.json").write_text(json.dumps([entry]))
    path = os.path.join(entry["directory"], entry["file"])
    done = subprocess.run(["clangd", f"--check={path}", f"--compile-commands-dir={where}", "--log=error"], env=built.env, capture_output=True,
                          text=True)
    return f"{path}: {' '.join(entry['arguments'])}: {done.stderr}" if done.returncode else None


def test_lines(tmp_path):
    """For each line: its entries are right, each makes the same object again, and clangd takes it.
    All lines share a test, since building them takes long."""
    built = build_all(tmp_path.resolve() / "lines")
    wrong = [text for name, line in built.table.items() for text in difference(line, built.top / name, built.found.get(name, []))]
    assert len(built.table) >= 60 and not wrong, "\n".join(wrong)
    wrong = for_each(built, "again", made_again)
    assert not wrong, "\n".join(wrong)
    if not shutil.which("clangd"):
        pytest.skip("clangd is not installed: it was not asked")
    wrong = for_each(built, "clangd", clangd_says)
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_out():
    present = environment()["PATH"]
    left_out = {program for line in lines() for program in line.needs if program not in STAND_INS and not shutil.which(program, path=present)}
    if left_out:
        pytest.skip(f"lines are left out, for these are not installed: {' '.join(sorted(left_out))}")


def of_bear(top):
    """The entries that bear makes of the same lines, in a tree of its own: (line, file)."""
    table, env = make_tree(top)
    subprocess.run(["bear", "--output", "bear.json", "--", *script(top, table)], cwd=top, env=env, capture_output=True)
    if not (top / "bear.json").exists():
        pytest.skip("bear does not work here")
    return {(name, os.path.relpath(os.path.join(entry["directory"], entry["file"]), top / name))
            for name, entries in by_line(top, json.loads((top / "bear.json").read_text())).items() for entry in entries}


def test_against_bear(tmp_path):
    """Some sources are found only by utrail, or only by bear. For these lines the table has the
    reason."""
    if not shutil.which("bear"):
        pytest.skip("bear is not installed")
    if os.environ.get("UTRAIL_TEST_MATRIX") != "full":
        pytest.skip("it runs all lines again: misc/test.sh matrix has it")
    built = build_all(tmp_path.resolve() / "mine")
    bear = of_bear(tmp_path.resolve() / "bear")
    mine = {(name, os.path.relpath(os.path.join(entry["directory"], entry["file"]), built.top / name))
            for name, entries in built.found.items() for entry in entries}
    more, less = bear - mine, mine - bear
    print(f"bear has {len(bear)} sources of {len({name for name, _ in bear})} lines, utrail build {len(mine)} of {len(built.found)}")
    for what, sources in ("bear alone", more), ("utrail build alone", less):
        for name, file in sorted(sources):
            print(f"{what}: {name} {file}: {built.table[name].command[:100]}: {built.table[name].skips.get('bear', '?')}")
    assert {name for name, _ in more | less} == {name for name, line in built.table.items() if "bear" in line.skips}
