#!/usr/bin/python3
"""Builds a real program from its Debian source package, and records its own test suite.

usage: real.py PROGRAM...

With $UTRAIL_TEST_MATRIX "full", each program is built by all of its methods, and recorded with each
set of its options. Otherwise it is built by the first method, and recorded with the last options,
which record most.

Checks for each program:

- the suite gives the same results recorded as untraced, with the same binaries (packages.py)
- every recorded task replays as a well-formed tree, and no record was lost
- for some, built with -O0, each function was called exactly as often as gcov counted, which has
  no code of utrail

apt-get fetches the sources from the Debian mirror with a sources list of its own. Without a network
this is skipped (status 77), with the reason.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tools import BUILD, UTRAIL, environment  # noqa: E402  (the path is set above)
import sources  # noqa: E402
import trees  # noqa: E402
from packages import HERE, PG, PROGRAMS  # noqa: E402

SKIP = 77

FULL = os.environ.get("UTRAIL_TEST_MATRIX") == "full"

# The number of a replay's lines that are checked: Python takes five seconds for a million.
REPLAY_LINES = 1_000_000 if FULL else 200_000
WORK = Path(os.environ.get("UTRAIL_REAL_DIR", BUILD / "real"))

def say(text):
    print(text, flush=True)


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIP)


def sh(command, cwd, log, must=True, **env):
    """Run a shell command. Its output goes to @log and is returned."""
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


def fetch(real):
    """The source archives of @real, by package. The test is skipped when a needed header is
    missing."""
    for package, header in real.needs:
        if not Path(header).exists():
            skip(f"{header} is not there (apt-get install {package})")
    WORK.mkdir(parents=True, exist_ok=True)
    try:
        return {p: sources.fetch(p, WORK / "sources") for p in (real.package, *real.beside)}
    except sources.Unavailable as reason:
        skip(reason)


def build(real, archives, name, flags):
    home = WORK / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for package, archive in archives.items():
        sources.unpack(archive, home / package)
    source = home / real.package
    if real.patch:
        sh(f"patch -p1 < {HERE / 'patches' / real.patch}", source, home / "patch.log")
    sh(real.configure, source, home / "configure.log", FLAGS=flags)
    sh(real.make, source, home / "make.log", FLAGS=flags)
    return source


def run_check(real, source, name, command, **env):
    """Run the suite. Returns a Counter of its result lines, and all output."""
    sh(real.cleanup, source, source.parent / "cleanup.log")
    log = source.parent / f"{name.replace(' ', '')}.log"
    # gprof, which runs in untraced -pg programs only, writes its files outside of the tests'
    # directories.
    out = sh(command, source, log, must=False, HERE=HERE, GMON_OUT_PREFIX=source.parent / "gmon", **env)
    results = Counter(re.findall(real.results, out, flags=re.M))
    if not results:
        sys.exit(f"failed: the suite of {real.package} says nothing ({log})")
    return results, out


def run_suite(real, source, name, data=None, options=""):
    """Run the suite. Returns a Counter of its result lines. @data: the directory of a recording, if
    it is recorded."""
    command = real.check
    if data:
        shutil.rmtree(data, ignore_errors=True)
        options = f"--no-event {real.options} {options}"
        command = f"{UTRAIL} record --force {options} -d {data} /bin/sh -c {shlex.quote(real.check)}"
    begin = time.monotonic()
    results, out = run_check(real, source, name, command)
    lost = re.search(r"(\d+) records? (?:was|were) lost", out)
    if data and lost:
        say(f"  {lost[0]}")
        if int(lost[1]) > real.lost:
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
    """Check that every task is a well-formed tree, in which main() can only be the root."""
    tasks, lines, inside = Counter(), 0, {}
    command = [UTRAIL, "replay", "-d", data, "-f", "tid", "--no-event"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True, errors="replace") as proc:
        for line in proc.stdout:
            if line.startswith("utrail stopped tracing"):
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
                    open_calls.pop()  # exec has ended this call
                open_calls.append((depth, trees.strip_parens(words.removesuffix(" {"))))
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


def check_recording(data, expected):
    """Check that trees nest, and that the functions of @expected were called."""
    check_replay(data)
    calls = utrail_counts(data)
    say(f"  report: {sum(calls.values())} calls of {len(calls)} functions, {', '.join(f'{name}: {calls[name]}' for name in expected)}")
    for name in expected:
        if not calls[name]:
            sys.exit(f"failed: {name}() was never called")
    shutil.rmtree(data)


def check_results(real, archives, name, method):
    source = build(real, archives, f"{name}{method}", f"-O2 -g {method}")
    data = source.parent / "data"
    plain = run_suite(real, source, f"untraced {method}")
    must_be_equal("results of the suite", plain, run_suite(real, source, f"recorded {method}", data))
    check_recording(data, ["main"])


def check_patched(real, archives, name):
    """Check the program without hooks: all functions of its programs and libraries are patched,
    then those of libc, too."""
    source = build(real, archives, f"{name}-unprepared", "-O2 -g")
    data = source.parent / "data"
    plain = run_suite(real, source, "untraced")
    ways = (real.patched, ["main"]), (f"{real.patched} -P .@libc.so.6", ["main", "malloc"])
    for options, expected in ways if FULL else ways[-1:]:
        recorded = run_suite(real, source, f"recorded {options}", data, options)
        must_be_equal("results of the suite", plain, recorded)
        check_recording(data, expected)


def check_counts(real, archives, name):
    source = build(real, archives, f"{name}-gcov", "-O0 -g --coverage")
    run_suite(real, source, "gcov")
    expected = gcov_counts(source)
    source = build(real, archives, f"{name}-O0", f"-O0 -g {PG}")
    data = source.parent / "data"
    run_suite(real, source, "count", data, "--no-libcall")
    must_be_equal("calls against gcov", expected, utrail_counts(data))
    say(f"  counts: {len(expected)} functions, {sum(expected.values())} calls, all as gcov counted")
    shutil.rmtree(data)


def check(name):
    real = PROGRAMS[name]
    say(f"{name}: the suite of Debian's source package {real.package}")
    archives = fetch(real)
    for method in real.methods if FULL else real.methods[:1]:
        check_results(real, archives, name, method)
    if real.patched:
        check_patched(real, archives, name)
    if real.count:
        check_counts(real, archives, name)


def main():
    for name in sys.argv[1:] or PROGRAMS:
        check(name)


if __name__ == "__main__":
    main()
