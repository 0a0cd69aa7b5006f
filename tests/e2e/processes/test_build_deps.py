"""utrail build --as=deps: the dependencies of files in a small project that is made by gcc and a
few shells."""

import json
import os
import re

import pytest

from proc_ways import proc, way  # noqa: F401  (a fixture)
from tools import run, utrail

# With -j, make gives its own stdin to one command at a time, and a pipe to the others: two rules
# may have different inputs.
MAKEFILE = """
all: prog sorted.txt
prog: main.o util.o
\tgcc -o $@ main.o util.o
main.o: main.c
\tgcc -c main.c -o $@
util.o: util.c table.h
\tgcc -c util.c -o $@
table.h: gen
\t./gen > table.tmp
\tmv table.tmp $@
gen: gen.c
\tgcc -o $@ gen.c
sorted.txt: in.txt
\tcat in.txt | sort > $@
\tfor i in 1 2; do sh -c 'gcc --version >> version.txt'; done
"""

FILES = {
    "Makefile": MAKEFILE,
    "main.c": '#include "util.h"\nint main(void)\n{\n\treturn util();\n}\n',
    "util.h": "int util(void);\n",
    "util.c": '#include "util.h"\n#include "table.h"\nint util(void)\n{\n\treturn table[1];\n}\n',
    "gen.c": '#include <stdio.h>\nint main(void)\n{\n\tputs("static const int table[] = { 0, 0 };");\n}\n',
    "in.txt": "b\na\n",
}


@pytest.fixture
def project(workdir):
    for name, text in FILES.items():
        (workdir / name).write_text(text)
    return workdir


def here(words):
    """The relative names among @words. Absolute names are those of compilers and libraries, which
    differ from machine to machine."""
    return {word for word in words if not word.startswith("/")}


def rules(text):
    lines = [line for line in text.splitlines() if ":" in line and not line.startswith("#")]
    return {target: here(inputs.split()) for targets, inputs in (line.split(":", 1) for line in lines) for target in targets.split()}


def finding(text, title):
    lines = text.partition(f"# {title}:\n")[2].partition("\n\n")[0].splitlines()
    return [line.removeprefix("#   ") for line in lines]


def test_rules_and_queries(project):
    utrail("build", "--as=deps", "-o", "deps.mk", "--", "make", "-s", "-j2").must()
    text = (project / "deps.mk").read_text()
    found = rules(text)
    assert found == {
        "prog": {"main.o", "util.o"}, "main.o": {"main.c", "util.h"}, "util.o": {"util.c", "util.h", "table.h"},
        "table.h": {"gen"}, "gen": {"gen.c"}, "sorted.txt": {"in.txt"}, "version.txt": set(),
    }
    # Programs and libraries are dependencies, temporary files are not.
    gen = next(line for line in text.splitlines() if line.startswith("gen:"))
    assert "/stdio.h" in gen and "/cc1" in gen and "crt1.o" in gen and "/tmp/cc" not in gen
    assert sorted(finding(text, "Made, and then read")) == ["gen", "main.o", "table.h", "util.o"]
    again = finding(text, "Run again with the same inputs")
    assert len(again) == 1 and again[0].startswith("2 times, ") and again[0].endswith(" -c gcc --version >> version.txt")

    def ask(option, name):
        return here(utrail("build", option, name).must().out.splitlines())

    assert ask("--needs", "prog") == {"main.o", "util.o", "main.c", "util.c", "util.h", "table.h", "gen", "gen.c"}
    assert ask("--needs", "./sorted.txt") == {"in.txt"}
    assert ask("--used-by", "util.h") == {"main.o", "util.o", "prog"}
    assert ask("--used-by", str(project / "gen.c")) == {"gen", "table.h", "util.o", "prog"}
    assert ask("--used-by", "prog") == set()
    none = utrail("build", "--needs", "table.tmp")
    assert none.status == 1 and "'table.tmp' is not a file that the build has opened and that still exists" in none.err

    (project / "rules").write_text(run("make", "-pnB").must().out)
    text = utrail("build", "--as=deps", "--declared=rules").must().out
    # Sorted: make runs two compilers at a time, and their order varies.
    assert sorted(finding(text, "Read, and not declared")) == ["main.o: util.h", "util.o: util.h"]

    executions = json.loads(utrail("build", "--as=json").must().out)
    by_path = {}
    for execution in executions:
        for file in execution["o"]:
            by_path.setdefault(os.path.basename(file["p"]), []).append((execution, file))
    assert {file["m"] for _, file in by_path["in.txt"]} == {0x60}
    assert {file["m"] for _, file in by_path["sorted.txt"]} == {0x61}
    assert {file["m"] for _, file in by_path["table.tmp"]} == {0, 1}  # mv: one name read, one written
    assert all(file["b"] <= file["e"] for files in by_path.values() for _, file in files)
    assert {file["s"] for _, file in by_path["main.c"]} == {len(FILES["main.c"])}
    names = {(e["p"], e["x"]): os.path.basename(e["b"]) for e in executions}
    cat = next(e for e in executions if e["v"][0] == "cat")
    assert "sort" in {names[reader["p"], reader["x"]] for reader in cat["i"]}


def test_files_that_are_left_out(project):
    """Files that the C library itself reads are no dependencies. Headers, programs and libraries
    are."""
    utrail("build", "--as=deps", "-o", "deps.mk", proc(), "--", "make", "-s", "LC_ALL=C.UTF-8", "main.o", "gen").must()

    def inputs(*options):
        lines = utrail("build", "--as=deps", *options).must().out.splitlines()
        return set(next(line for line in lines if line.startswith("gen:")).split()[1:])

    whole = inputs("--ignore-files=none")
    left = inputs()
    assert "/etc/ld.so.cache" in whole
    assert not [path for path in left if re.match(r"/etc/ld\.so|/proc/|/sys/|/usr/lib/locale/|.*/gconv/", path)]
    assert [path for path in left if path.endswith("/stdio.h")] and [path for path in left if "/libc.so" in path]
    assert left < whole and inputs("--ignore-files=default") == left
    assert not [path for path in inputs("--ignore-files=default;/usr/*") if path.startswith("/usr/")]
    without_headers = inputs("--ignore-files=default", "--ignore-files=*.h")
    assert without_headers == {path for path in left if not path.endswith(".h")}
    assert "/etc/ld.so.cache" in inputs("--ignore-files=*.h")

    needs = utrail("build", "--needs", "gen").must().out.splitlines()
    assert "gen.c" in needs and "/etc/ld.so.cache" not in needs
    needs = utrail("build", "--needs", "gen", "--ignore-files=*.c").must().out.splitlines()
    assert "gen.c" not in needs and "/etc/ld.so.cache" in needs


@pytest.mark.parametrize("options,reason", [
    (["--as=json", "--ignore-files=none"], "option '--ignore-files' needs '--as=deps', '--needs' or '--used-by'"),
    (["--ignore-files=none"], "option '--ignore-files' needs '--as=deps', '--needs' or '--used-by'"),
    (["--as=deps", "--ignore-files=usr/*"], "'usr/*' matches no path: globs of whole paths begin with / or *"),
    (["--as=deps", "--ignore-files=/a;;/b"], "'' matches no path"),
])
def test_what_cannot_be_left_out_is_said(workdir, options, reason):
    result = utrail("build", *options)
    assert result.status == 2 and reason in result.err


def test_a_recording_without_files(project):
    utrail("build", "gcc", "-c", "main.c").must()
    result = utrail("build", "--as=deps")
    assert result.status == 1 and "has no records of files; record them with: utrail build --as=deps COMMAND" in result.err
    result = utrail("build", "--as=json")
    assert result.status == 0 and "keys 'i' and 'o' are left out" in result.err
    assert all("o" not in execution for execution in json.loads(result.out))
    # Files are recorded only on request.
    assert "proc:open" not in utrail("dump").must().out
    utrail("record", "--proc", "--force", "gcc", "-c", "main.c").must()
    assert here(utrail("build", "--needs", "main.o").must().out.split()) == {"main.c", "util.h"}
