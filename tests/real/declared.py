#!/usr/bin/python3
"""Real programs that declare events: Debian's sources, ported to fstrace by a patch (patches/),
under their own tests.

usage: declared.py PROGRAM...

Checks for each program:

- the suite gives the same results in four ways: without the patch; with the patch, but without
  selected events, so that there is no log; with a log; and while it is recorded
- its file names its events (--list-event), and their arguments fit (events check-sources)
- the log is valid (utrail events check), and has each event as often as the program reaches it
- a recording without a log counts the same events
- a recording with a log has the log's lines, byte for byte except for times
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace

import httpd_load
from packages import PG, PROGRAMS, Real
from real import BUILD, UTRAIL, build, environment, fetch, must_be_equal, run_check, say

# The flags of this build from pkg-config. A library that is not installed needs a path at run time.
TRACE = f"PKG_CONFIG_PATH={BUILD}/meson-uninstalled pkg-config"
CFLAGS = f"$({TRACE} --cflags utrail-trace)"
LIBS = f"$({TRACE} --libs utrail-trace) -Wl,-rpath,{BUILD}/trace/library"


@dataclass
class Port:
    """@program: the executable. @counts: the number of each event. @variable: the environment
    variable with the log's prefix; @variable_EVENTS selects events."""

    real: Real
    program: str
    variable: str
    counts: dict


ROUNDS = httpd_load.CLIENTS * httpd_load.ROUNDS
ASKED = ROUNDS * len(httpd_load.REQUESTS)

PORTS = {
    # A tool: its own tests run it six times. A seventh run reads a damaged archive.
    "bzip2": Port(
        replace(
            PROGRAMS["bzip2"],
            patch="bzip2.patch",
            make=f'make -s -j2 bzip2 CFLAGS="$FLAGS -D_FILE_OFFSET_BITS=64 {CFLAGS}" LDLIBS="{LIBS}"',
            check="make -s test && sha1sum sample*.rb2 sample*.tst; head -c 5000 sample1.bz2 > cut.bz2; ./bzip2 -d cut.bz2;"
            ' echo "sample of status $?"; ls sample*',
            cleanup="rm -f sample*.rb2 sample*.tst cut.*",
        ),
        "bzip2",
        "BZIP2_TRACE",
        {
            "BZIP2-MODE": 7,
            "BZIP2-COMPRESS": 3,
            "BZIP2-INPUT": sum(-(-size // 5000) for size in (98696, 212340, 120244)),  # of the samples
            "BZIP2-BLOCK": 1 + 2 + 1,  # blocks of 100 to 300 KB
            "BZIP2-COMPRESSED": 3,
            "BZIP2-DECOMPRESS": 3 + 1,
            "BZIP2-STREAM": 3 + 1,
            "BZIP2-BLOCK-CHECKED": 1 + 2 + 1,
            "BZIP2-FAILED": 1,
            "BZIP2-EXIT": 6,
        },
    ),
    # A server that forks for each request, with events in its signal handlers, too. It has no tests
    # of its own.
    "mini-httpd": Port(
        Real(
            package="mini-httpd",
            make=f'make -s mini_httpd CFLAGS="$FLAGS {CFLAGS}" LDFLAGS= CRYPT_LIB="-lcrypt {LIBS}"',
            check="/usr/bin/python3 $HERE/httpd_load.py ./mini_httpd",
            results=r"^RESULT .*$",
            patch="mini-httpd.patch",
        ),
        "mini_httpd",
        "HTTPD_TRACE",
        {
            "HTTPD-START": 1,
            # The load makes one more connection, to check that the server listens, and sends
            # nothing on it.
            "HTTPD-ACCEPT": ASKED + 1,
            "HTTPD-REAPED": ASKED + 1,
            "HTTPD-REQUEST": ASKED,
            "HTTPD-HEADER": ASKED * len(httpd_load.HEADERS),
            "HTTPD-FILE": ROUNDS * len(httpd_load.FILES),
            "HTTPD-DIRECTORY": ROUNDS * len(httpd_load.DIRECTORIES),
            "HTTPD-RESPONSE": ASKED + 1,
            "HTTPD-DONE": ASKED + 1,
            "HTTPD-STOP": 1,
        },
    ),
}


def text_of(line):
    """The text of a line without its time."""
    return line.split(" ", 2)[2]


def read_log(home):
    """The lines of all logs, of which each process has one."""
    logs = sorted(home.glob("*.log"))
    checked = subprocess.run([UTRAIL, "events", "check", *logs], env=environment(), capture_output=True, text=True)
    if checked.returncode != 0:
        sys.exit(f"failed: events check: {checked.stdout[-2000:]}{checked.stderr}")
    return Counter(text_of(line) for log in logs for line in log.read_text().splitlines())


def by_event(lines):
    counts = Counter()
    for line, nr in lines.items():
        counts[line.split(" ")[0]] += nr
    return counts


def utrail_says(data, *words):
    command = [UTRAIL, *words, "-d", data]
    return subprocess.run(command, env=environment(), check=True, capture_output=True, text=True).stdout.splitlines()


def listed(data):
    """The numbers of events that `events list` shows."""
    rows = [line.split() for line in utrail_says(data, "events", "list") if " trace:" in line]
    return Counter({row[3].removeprefix("trace:"): int(row[0]) for row in rows if row[0] != "0"})


class Runs:
    """The patched program after its build, which is run in several ways."""

    def __init__(self, name, port, archives, plain):
        self.port, self.plain = port, plain
        self.source = build(port.real, archives, f"{name}-declared", f"-O2 -g {PG}")
        self.home = self.source.parent / "logs"
        self.data = self.source.parent / "data"

    def run(self, what, record="", **env):
        """Run the program's tests. Returns the lines of its logs."""
        begin = time.monotonic()
        for directory in (self.home, self.data):
            shutil.rmtree(directory, ignore_errors=True)
        self.home.mkdir()
        command = self.port.real.check
        if record:
            command = f"{UTRAIL} record --force --no-libcall {record} -d {self.data} /bin/sh -c {shlex.quote(command)}"
        env[self.port.variable] = self.home / "trace"
        results, out = run_check(self.port.real, self.source, what, command, **env)
        must_be_equal(f"results {what}", self.plain, results)
        if "were lost" in out or "was lost" in out:
            sys.exit(f"failed: something was lost {what}:\n{out[-2000:]}")
        lines = read_log(self.home) if os.listdir(self.home) else Counter()
        say(f"  {what}: {sum(results.values())} results, {sum(lines.values())} lines in {time.monotonic() - begin:.1f} s")
        return lines

    def list_event(self):
        """The names of events in the program's file."""
        program = self.source / self.port.program
        lines = subprocess.run(
            [UTRAIL, "record", "--list-event", "-E", "trace:.*", program], env=environment(), check=True, capture_output=True, text=True
        ).stdout.splitlines()
        return Counter(line.split(" ")[2].removeprefix("trace:") for line in lines)

    def check_sources(self):
        sources = [path for path in self.source.glob("*.c") if "<fstrace.h>" in path.read_text(errors="replace")]
        words = ["/bin/sh", "-c", f"echo {CFLAGS}"]
        flags = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        entries = [{"directory": str(self.source), "file": str(path), "command": f"gcc {flags} -c {path}"} for path in sources]
        commands = self.source.parent / "compile_commands.json"
        commands.write_text(json.dumps(entries))
        command = [UTRAIL, "events", "check-sources", commands]
        out = subprocess.run(command, env=environment(), capture_output=True, text=True).stdout
        if not re.fullmatch(rf"0 problems in \d+ uses and declarations of events in {len(sources)} sources\n", out):
            sys.exit(f"failed: events check-sources: {out}")

    def check(self):
        selected = {f"{self.port.variable}_EVENTS": "."}
        if self.run("with nothing selected"):
            sys.exit("failed: events that nobody selected are in a log")
        counts = Counter(self.port.counts)
        self.check_sources()
        must_be_equal("events of the file", Counter(counts.keys()), self.list_event())
        must_be_equal("events of the log", counts, by_event(self.run("with a log", **selected)))
        if self.run("recorded", record="--trace-include ."):
            sys.exit("failed: events that only the recording wants are in a log")
        must_be_equal("events of the recording", counts, listed(self.data))
        lines = self.run("recorded with a log", record="--trace-include .", **selected)
        must_be_equal("events of the log beside a recording", counts, by_event(lines))
        exported = Counter(text_of(line) for line in utrail_says(self.data, "events", "export", "--as=fstrace"))
        must_be_equal("lines of the log, and those of the recording", lines, exported)
        shown = Counter()
        for line in utrail_says(self.data, "replay", "-f", "none", "--no-sched"):
            _, found, event = line.partition("/* trace:")
            if found:
                shown[event.split(" ")[0]] += 1
        must_be_equal("events of replay", counts, shown)
        shutil.rmtree(self.data)


def check(name):
    port = PORTS[name]
    say(f"{name}: ported to fstrace")
    archives = fetch(port.real)
    source = build(replace(port.real, patch=""), archives, f"{name}-plain", "-O2 -g")
    plain, _ = run_check(port.real, source, "without the patch", port.real.check)
    Runs(name, port, archives, plain).check()


def main():
    for name in sys.argv[1:] or PORTS:
        check(name)


if __name__ == "__main__":
    main()
