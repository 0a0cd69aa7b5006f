#!/usr/bin/python3
"""A real program from its Debian source package, recorded while it runs its own test suite.

usage: real.py PROGRAM...

What is checked for each:
  - the suite gives the same results recorded as untraced, with the same binaries (-O2 -g -pg)
  - every recorded task replays into a well-formed tree, and nothing was lost
  - built with -O0, each function was called exactly as often as gcov counted, which shares nothing with us

The sources come from the Debian mirror by apt-get, with a sources list of our own. Without a network this is
skipped (status 77), with the reason.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tools import BUILD, UTRAIL, environment  # noqa: E402  (the path is set above)
import trees  # noqa: E402

SKIP = 77

# Python looks at no more lines than this of a replay, which takes it some ten seconds.
REPLAY_LINES = 3_000_000
WORK = Path(os.environ.get("UTRAIL_REAL_DIR", BUILD / "real"))

def sources_list():
    """A deb-src line for the mirror that this machine's own packages come from."""
    fields = "$(ORIGIN) $(LABEL) $(CODENAME) $(REPO_URI)"
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"],
        capture_output=True,
        text=True,
    )
    for line in sorted(set(done.stdout.splitlines())):
        words = line.split()
        if words[:2] == ["Debian", "Debian"] and len(words) == 4 and "-" not in words[2]:
            return f"deb-src {words[3]} {words[2]} main\n"
    skip("apt-get knows no Debian mirror to fetch sources from")


@contextmanager
def only_one(home):
    """apt-get locks its lists: programs that are tested side by side fetch one after the other."""
    with open(home / "lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def say(text):
    print(text, flush=True)


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIP)


def sh(command, cwd, log, must=True, **env):
    """Run a shell command; its output goes to @log and is returned."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        text=True,
        timeout=900,
    )
    Path(log).write_text(done.stdout)
    if must and done.returncode != 0:
        sys.exit(f"failed: {command} (in {cwd}), status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


@dataclass
class Real:
    """@configure and @make get the compiler flags as $FLAGS. @check runs the suite; @results finds the
    lines of its output that say what came out. @count: also check the numbers of calls against gcov, for this
    suite. @cleanup makes it possible to run the suite again."""

    package: str
    configure: str
    make: str
    check: str
    results: str
    count: bool = True
    cleanup: str = "true"


PROGRAMS = {
    "bzip2": Real(
        package="bzip2",
        configure="true",
        make='make -s -j2 bzip2 CFLAGS="$FLAGS -D_FILE_OFFSET_BITS=64"',
        check="make -s test && sha1sum sample*.rb2 sample*.tst",
        results=r"^.*sample.*$|works",
        cleanup="rm -f sample*.rb2 sample*.tst",
    ),
    "zlib": Real(
        package="zlib",
        configure='CFLAGS="$FLAGS" ./configure --static',
        make="make -s -j2 example minigzip",
        check="./example && ./minigzip < zlib.h > h.gz && ./minigzip -d < h.gz | cmp - zlib.h &&"
        " ./minigzip -9 < ChangeLog | ./minigzip -d | sha1sum && echo pipes work",
        results=r"^.*$",
        cleanup="rm -f h.gz foo.gz",
    ),
    "sed": Real(
        package="sed",
        configure='CFLAGS="$FLAGS" ./configure --quiet --disable-nls --disable-i18n',
        make="make -s -j2",
        # Without the three tests that run sed under valgrind, which simulates the probe, too, at a minute each.
        check="mkdir -p no-valgrind; printf '#!/bin/sh\nexit 1\n' > no-valgrind/valgrind;"
        " chmod +x no-valgrind/valgrind; PATH=$PWD/no-valgrind:$PATH make -s check",
        results=r"^(?:PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): .*$",
        count=False,  # its suite ends some processes before gcov has written down what it counted
    ),
}


def fetch(package):
    """The unpacked upstream source of @package."""
    home = WORK / "sources"
    for name in ("lists/partial", "cache/archives/partial"):
        (home / name).mkdir(parents=True, exist_ok=True)
    if not list(home.glob(f"{package}_*.orig.tar.*")):
        if not shutil.which("apt-get"):
            skip("there is no apt-get to fetch sources with")
        (home / "sources.list").write_text(sources_list())
        options = " ".join(
            f"-o {k}={v}"
            for k, v in {
                "Dir::Etc::SourceList": home / "sources.list",
                "Dir::Etc::SourceParts": "/dev/null",
                "Dir::State::Lists": home / "lists",
                "Dir::Cache": home / "cache",
                "APT::Sandbox::User": "root",
                "Acquire::Retries": 2,
                "Acquire::http::Timeout": 20,
            }.items()
        )
        apt = f"apt-get -q {options}"
        command = f"{apt} update && {apt} --download-only source {package}"
        with only_one(home):
            done = subprocess.run(["sh", "-c", command], cwd=home, capture_output=True, text=True)
        if done.returncode != 0 or not list(home.glob(f"{package}_*.orig.tar.*")):
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            skip(f"the source of {package} cannot be had: {last}")
    return next(home.glob(f"{package}_*.orig.tar.*"))


def build(real, archive, name, flags):
    home = WORK / f"{real.package}-{name}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        tar.extractall(home)
    (source,) = [p for p in home.iterdir() if p.is_dir()]
    sh(real.configure, source, home / "configure.log", FLAGS=flags)
    sh(real.make, source, home / "make.log", FLAGS=flags)
    return source


def run_suite(real, source, name, record=None):
    """What came out, as a Counter of result lines. @record: into this data directory."""
    sh(real.cleanup, source, source.parent / "cleanup.log")
    command = real.check
    if record:
        shutil.rmtree(record, ignore_errors=True)
        options = "--no-event" + (" --no-libcall" if "count" in name else "")
        command = f"{UTRAIL} record --force {options} -d {record} /bin/sh -c {shlex.quote(real.check)}"
    log = source.parent / f"{name}.log"
    begin = time.monotonic()
    out = sh(command, source, log, must=False)
    results = Counter(re.findall(real.results, out, flags=re.M))
    if not results:
        sys.exit(f"failed: the suite of {real.package} says nothing ({log})")
    lost = re.search(r"(\d+) records were lost", out)
    if record and lost:
        # A signal handler that interrupts the probe itself is not recorded, but counted.
        say(f"  {lost[0]}")
        if int(lost[1]) > 100:
            sys.exit(f"failed: {lost[0]}")
    say(f"  {name}: {sum(results.values())} results in {time.monotonic() - begin:.1f} s")
    return results


def must_be_equal(what, expected, got):
    if expected == got:
        return
    for key in sorted(expected | got):
        if expected[key] != got[key]:
            say(f"  {what}: {key}: expected {expected[key]}, got {got[key]}")
    sys.exit(f"failed: {what}")


def check_replay(data):
    """Every task is a well-formed tree; main() is at its root where it is there at all."""
    tasks, lines, inside = Counter(), 0, {}
    command = [UTRAIL, "replay", "-d", data, "-f", "tid", "--no-event"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True, errors="replace") as proc:
        for line in proc.stdout:
            if line.startswith("uftrace stopped tracing"):
                break
            match = trees.LINE.match(line.rstrip("\n"))
            if not match:
                continue
            tid, depth, words = match[1], (len(match[2]) - 1) // 2, match[3]
            lines += 1
            if lines > REPLAY_LINES:
                proc.kill()
                break
            tasks[tid] += 1
            open_calls = inside.setdefault(tid, [])
            if words.startswith("}"):
                name = re.fullmatch(r"\} /\* (.*) \*/", words)[1]
                if open_calls and open_calls[-1] == (depth, name):
                    open_calls.pop()
                elif open_calls and open_calls[-1][0] >= depth:
                    sys.exit(f"failed: task {tid} leaves {name} at depth {depth} while in {open_calls[-1]}")
            elif words.endswith("{"):
                while open_calls and open_calls[-1][0] >= depth:
                    open_calls.pop()  # given up by exec
                open_calls.append((depth, words[:-4]))
        proc.stdout.read()
    if not lines or (lines < REPLAY_LINES and proc.returncode != 0):
        sys.exit(f"failed: replay: status {proc.returncode}, {lines} lines")
    say(f"  replay: {lines} lines of {len(tasks)} tasks nest well")


def utrail_counts(data):
    out = subprocess.run(
        [UTRAIL, "report", "-d", data, "-f", "call", "--format=csv", "--demangle=no"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    counts = Counter()
    for line in out.splitlines()[1:]:
        calls, _, name = line.partition(",")
        counts[name] += int(calls)
    return counts


def gcov_counts(source):
    counts = Counter()
    for data in source.rglob("*.gcda"):
        out = subprocess.run(
            ["gcov", "--json-format", "--stdout", data.name],
            cwd=data.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in out.splitlines():
            for file in json.loads(line)["files"]:
                for function in file["functions"]:
                    if function["execution_count"]:
                        counts[function["name"]] += function["execution_count"]
    return counts


def check(name):
    real = PROGRAMS[name]
    say(f"{name}: the suite of Debian's source package")
    archive = fetch(real.package)
    WORK.mkdir(parents=True, exist_ok=True)

    source = build(real, archive, "O2", "-O2 -g -pg")
    data = source.parent / "data"
    plain = run_suite(real, source, "untraced")
    must_be_equal("results of the suite", plain, run_suite(real, source, "recorded", data))
    check_replay(data)
    calls = utrail_counts(data)
    say(f"  report: {sum(calls.values())} calls of {len(calls)} functions, main: {calls['main']}")
    if not calls["main"]:
        sys.exit("failed: main() was never called")
    shutil.rmtree(data)

    if real.count:
        source = build(real, archive, "gcov", "-O0 -g --coverage")
        run_suite(real, source, "gcov")
        expected = gcov_counts(source)
        source = build(real, archive, "O0", "-O0 -g -pg")
        data = source.parent / "data"
        run_suite(real, source, "count", data)
        must_be_equal("calls against gcov", expected, utrail_counts(data))
        say(f"  counts: {len(expected)} functions, {sum(expected.values())} calls, all as gcov counted")
        shutil.rmtree(data)


def main():
    for name in sys.argv[1:] or PROGRAMS:
        check(name)


if __name__ == "__main__":
    main()
