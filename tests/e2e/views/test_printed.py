"""Commands that README and the man pages print: each is run as printed, and does what the text
says."""

import re
import shlex

import pytest

from tools import TOP, UTRAIL, run, utrail

# A stand-in for the programs of the examples, with the functions that they name.
PROGRAM = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define FN __attribute__((noipa))
FN int parse_line(int n) { return n + 1; }
FN int log_line(int n) { return n + 2; }
FN int parse(int n) { return parse_line(n) + log_line(n); }
FN int serve(int n, int status) { return parse(n) + status; }
FN int handle_request(int n) { return serve(n, 404); }
FN int commit(int n) { free(malloc(n)); return n; }
FN int processCommand(int n) { return handle_request(n) + commit(n); }
FN int run(int n) { return processCommand(n); }
FN int stop(int n) { return n; }
FN int total(int n) { return run(n); }
int main(void)
{
	int sum = total(3) + stop(4);

	close(open("/dev/null", O_RDONLY));
	usleep(1500);
	puts(sum ? "done" : "");
	return 0;
}
"""
PROGRAMS = ("hello", "server", "game", "compiler", "prog", "shop")

# Commands that other tests run: for a running process, the kernel's tracing, or files of other
# programs.
NEEDS = {
    r"-p |snapshot|control|live -p": "a process that runs already (test_attach.py, test_flight.py, test_control.py)",
    r"@kernel|-k |-K ": "the kernel's tracing (tests/kernel)",
    r"^utrail (import|events|build)|--events|--between|build/|make.data|--trace-include": "logs, builds and traces (test_events_*.py, test_build.py)",
    r"^utrail (tui|live --tui)": "a terminal (test_tui.py)",
    r"^utrail show": "until Ctrl-C (test_show.py)",
    r"embeds-python": "a program with libpython (test_python.py)",
    r"libstdcxx": "the probes of a library (test_list_events.py)",
    r"shop:": "a program with probes (test_events.py)",
    r"context-switches": "counters that not every machine has (test_counters.py)",
    r"\^std::": "functions of the C++ library (test_filters.py)",
}
# Programs that read utrail's output; they may be missing.
READERS = ("flamegraph.pl", "jq", "dot")


def unescaped(line):
    return line.replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\e", "\\").replace(r"\&", "")


def printed():
    """Each command once, in the order of the pages, without those of the tutorial, which depend on
    each other (test_tutorial.py)."""
    found = {}
    for path in [TOP / "README.md", *sorted((TOP / "doc/man").glob("*.in"))]:
        if path.name == "utrail-tutorial.7.in":
            continue
        for line in path.read_text().splitlines():
            command = re.match(r" *\$ (?:sudo )?(utrail .*)", unescaped(line))
            if command:
                found[re.sub(r"\s+# .*|\s*&$", "", command[1])] = path.name
    return list(found)


def inline():
    """Options that README gives in backquotes after their command."""
    text = (TOP / "README.md").read_text()
    sentence = text[text.index("`utrail record -D 3`"):].split("\n\n")[0]
    return [f"utrail record {options} shop" for options in re.findall(r"`(?:utrail record )?(-[^`]+)`", sentence)]


def shown_file(name):
    """The lines of a file that a page shows by `cat`."""
    for path in sorted((TOP / "doc/man").glob("*.in")):
        found = re.search(rf"^\$ cat {re.escape(name)}\n(.*?)^(?:\$ |\.fi)", path.read_text(), re.M | re.S)
        if found:
            return unescaped(found[1])
    raise AssertionError(f"no page shows {name}")


@pytest.fixture
def desk(workdir):
    (workdir / "slow.py").write_text(shown_file("slow.py"))
    (workdir / "prog.py").write_text("#!/usr/bin/python3\nprint('done')\n")
    (workdir / "prog.py").chmod(0o755)
    (workdir / "prog.c").write_text(PROGRAM)
    run("gcc", "-g", "-O1", "-pg", "prog.c", "-o", "prog").must()
    for name in PROGRAMS[:-2] + ("shop",):
        (workdir / name).write_bytes((workdir / "prog").read_bytes())
        (workdir / name).chmod(0o755)
    for name in READERS:
        (workdir / name).write_text("#!/bin/sh\ncat >/dev/null\n")
        (workdir / name).chmod(0o755)
    (workdir / "utrail").symlink_to(UTRAIL)
    for data in ("uftrace.data", "before", "after", "server.data"):
        utrail("record", "-d", data, "./hello").must()
    return workdir


def test_there_are_commands():
    assert len(printed()) > 40 and len(inline()) >= 3


@pytest.mark.parametrize("command", printed() + inline())
def test_printed(command, desk):
    why = next((why for pattern, why in NEEDS.items() if re.search(pattern, command)), None)
    if why:
        pytest.skip(f"needs {why}")
    path = f"{desk}:/usr/bin:/bin"
    tids = re.findall(r"task=\S+ tid=(\d+)|^SESS .* pid=(\d+)", (desk / "uftrace.data/task.txt").read_text(), re.M)
    typed = command.replace("1234", next(a or b for a, b in tids))
    result = run("sh", "-c", typed, env={"PATH": path})
    about = f"$ {typed}\n{result.out}\n--- stderr\n{result.err}--- status {result.status}"
    assert result.status == 0, about
    assert not re.search(r"^utrail: |WARN: option|mean", result.err, re.M), about
    if re.match(r"utrail record", command):
        assert "done" in result.out or "list" in command, about
        shown = utrail("replay", "-f", "none", *shlex.split("-d outer.data" if "outer" in command else "")).must()
        assert shown.out.strip(), about
