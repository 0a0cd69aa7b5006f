#!/usr/bin/python3
"""Builds a Debian source package under `utrail build`, and compares the compilation database with
the objects that are there.

usage: builds.py PACKAGE...

Checks for each package:

- each object that the build has left is the output of one entry
- each entry's command, run again, makes the same object code
- clang-check works with each entry
- bear(1), if it is there, has no source that utrail lacks; the times of both are printed, against
  the build alone

Without a network this is skipped (status 77), with the reason, as in real.py. So are packages with
autotools, which take minutes to configure several times, unless $UTRAIL_TEST_MATRIX is "full".
"""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tools import BUILD, UTRAIL, environment  # noqa: E402  (the path is set above)
import sources  # noqa: E402

SKIP = 77
WORK = Path(os.environ.get("UTRAIL_REAL_DIR", BUILD / "real")) / "builds"


@dataclass
class Package:
    """@configure and @build are commands in @folder of the source. @clean prepares another build.
    @needs: programs that must be installed."""

    configure: str
    build: str
    clean: str
    folder: str = "."
    needs: tuple = ("make",)


PACKAGES = {
    # Autotools, C and C++. libtool compiles each source twice, and hides the objects for the shared
    # library.
    "libconfig": Package("./configure --quiet", "make -s -j2", "make -s clean"),
    # CMake, C++.
    "tinyxml2": Package("mkdir out && cd out && cmake .. > ../cmake.log", "make -s -j2", "make -s clean", folder="out", needs=("make", "cmake")),
    # Meson and ninja. Programs of the build write sources that are then compiled.
    "fribidi": Package("meson setup out -Ddocs=false > meson.log", "ninja -C out", "ninja -C out clean", needs=("meson", "ninja")),
    # Makefile rules written by hand.
    "bzip2": Package("true", "make -s -j2 libbz2.a bzip2 bzip2recover", "make -s clean"),
}


# No compiler cache: an object from it may have been compiled in another directory, which its debug
# information names.
ENVIRONMENT = environment(CCACHE_DISABLE="1")


def say(text):
    print(text, flush=True)


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIP)


def sh(command, cwd):
    done = subprocess.run(["sh", "-c", command], cwd=cwd, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"failed: {command} (in {cwd}), status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def timed(command, cwd):
    begin = time.monotonic()
    sh(command, cwd)
    return time.monotonic() - begin


def unpacked(name):
    home = WORK / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    try:
        archive = sources.fetch(name, WORK / "sources")
    except sources.Unavailable as reason:
        skip(reason)
    return sources.unpack(archive, home / name)


def place_of(entry, key):
    return Path(os.path.normpath(os.path.join(entry["directory"], entry[key])))


def check_objects(name, entries, top):
    """Check that each object has an entry, and each entry's output exists."""
    objects = {path for path in top.rglob("*.o")}
    outputs = [place_of(entry, "output") for entry in entries if "output" in entry]
    missing = sorted(str(path) for path in objects - set(outputs))
    if missing or not objects:
        sys.exit(f"failed: {name}: of {len(objects)} objects these have no entry: {missing}")
    gone = sorted(str(path) for path in set(outputs) - objects if path.suffix == ".o" and not path.exists())
    if gone:
        sys.exit(f"failed: {name}: these outputs of entries were never there: {gone}")
    if len(outputs) != len(set(outputs)):
        sys.exit(f"failed: {name}: two entries have the same output")
    return len(objects)


def check_again(name, entries):
    """Check that each entry's command makes the same object again. Only one object at a time is
    deleted, so all others are there for commands that need them."""
    for entry in entries:
        if "output" not in entry:
            continue
        path = place_of(entry, "output")
        before = path.read_bytes()
        path.unlink()
        done = subprocess.run(entry["arguments"], cwd=entry["directory"], env=ENVIRONMENT, capture_output=True, text=True)
        if done.returncode or path.read_bytes() != before:
            sys.exit(f"failed: {name}: {entry['arguments']} does not make the same {path} again: {done.stderr[-1000:]}")


def check_clang(name, entries, folder):
    if not shutil.which("clang-check"):
        say("  clang-check is not there: not asked")
        return
    # clang-check gets one file at a time. Otherwise it remembers the relative names that it did not
    # find, even when the next file is compiled in another directory.
    for file in sorted({str(place_of(entry, "file")) for entry in entries}):
        done = subprocess.run(["clang-check", "-p", folder, file], env=ENVIRONMENT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"failed: {name}: clang-check {file}: status {done.returncode}: {done.stderr[-1000:]}")


def check_bear(name, package, folder, entries):
    """Check that bear has no source that utrail lacks. Returns the time of its build, or None."""
    if not shutil.which("bear"):
        say("  bear is not there: not compared")
        return None
    sh(package.clean, folder)
    begin = time.monotonic()
    done = subprocess.run(["sh", "-c", f"bear --output bear.json -- {package.build}"], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    took = time.monotonic() - begin
    if done.returncode or not (folder / "bear.json").exists():
        say(f"  bear does not work here, not compared: {done.stderr.strip()[-300:]}")
        return None
    theirs = json.loads((folder / "bear.json").read_text())
    more = {place_of(entry, "file") for entry in theirs} - {place_of(entry, "file") for entry in entries}
    if more:
        sys.exit(f"failed: {name}: bear knows of more sources: {sorted(map(str, more))}")
    say(f"  bear: {len(theirs)} entries")
    return took


def check(name):
    package = PACKAGES[name]
    for program in package.needs:
        if not shutil.which(program):
            skip(f"{program} is not there")
    top = unpacked(name)
    sh(package.configure, top)
    folder = top / package.folder
    sh(package.build, folder)  # a first build, so that all files are in memory for the timed ones
    sh(package.clean, folder)
    alone = timed(package.build, folder)
    sh(package.clean, folder)
    took = timed(f"{UTRAIL} build -d {top.parent}/uftrace.data {package.build}", folder)
    entries = json.loads((folder / "compile_commands.json").read_text())
    objects = check_objects(name, entries, top)
    say(f"{name}: {objects} objects, {len(entries)} entries")
    check_again(name, entries)
    check_clang(name, entries, folder)
    bear = check_bear(name, package, folder, entries)
    say(f"  {took / alone:.2f} times the build alone" + (f", bear {bear / alone:.2f}" if bear else ""))


LONG = ("fribidi", "libconfig")


def main():
    for name in sys.argv[1:] or PACKAGES:
        if name in LONG and os.environ.get("UTRAIL_TEST_MATRIX") != "full":
            print(f"skipped: {name} takes minutes: misc/test.sh matrix has it")
            sys.exit(SKIP)
        check(name)


if __name__ == "__main__":
    main()
