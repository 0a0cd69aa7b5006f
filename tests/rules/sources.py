#!/usr/bin/env python3
"""Sources are in the house style: clang-format would change nothing, no line ends in blanks, no
path is one of a particular machine, and the top folder has no stray files.

usage: sources.py TOP
"""
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77

# Paths of users' own trees. /usr, /etc, /proc, /dev, /tmp and similar paths exist everywhere.
MACHINE_PATH = re.compile(r"/(?:home|root|work|Users)/\w+")
# These files may name such paths: check-bare.sh makes a machine of its own.
MAY_NAME_PATHS = {"misc/check-bare.sh", "tests/rules/sources.py"}

# The kinds of files in the tree. Any other file, for example a recording, was committed by mistake.
TOP = {
    ".ci", ".clang-format", ".gitignore", "LICENSE", "NEWS", "README.md", "arch", "cmds", "doc", "libmcount",
    "CONTRIBUTING.md", "SECURITY.md", "meson.build", "meson_options.txt", "misc", "tests", "trace", "utils",
}


def tracked(top):
    if shutil.which("git"):
        command = ["git", "-C", top, "ls-files", "-z"]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode == 0:
            return [top / name for name in out.stdout.split("\0") if name and (top / name).is_file()]
    rooms = ("arch", "cmds", "doc", "libmcount", "misc", "tests", "trace", "utils")
    return [p for room in rooms for p in sorted((top / room).rglob("*")) if p.is_file()]


def check_text(top, path):
    name = str(path.relative_to(top))
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return []
    problems = []
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and path.suffix in (".c", ".h", ".S", ".py", ".sh", ".build"):
            problems.append(f"{name}:{number}: blanks at the end")
        if name not in MAY_NAME_PATHS and MACHINE_PATH.search(line):
            problems.append(f"{name}:{number}: a path of somebody's machine")
    return problems


def check_format(top, paths):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout if tool else ""
    if " 14." not in version:
        return None
    done = subprocess.run(
        [tool, "--dry-run", "-Werror", *paths], cwd=top, capture_output=True, text=True
    )
    return re.findall(r"^\S+:\d+:\d+: .*$", done.stderr, flags=re.M)


def main():
    top = pathlib.Path(sys.argv[1])
    files = tracked(top)
    problems = [problem for path in files for problem in check_text(top, path)]
    strangers = {path.relative_to(top).parts[0] for path in files} - TOP
    problems += [f"{name}: does not belong here" for name in sorted(strangers)]

    # Sample programs of tests and benchmarks are not checked: they have a layout of their own.
    sources = [
        p for p in files if p.suffix in (".c", ".h") and "tests/e2e/src" not in str(p) and "tests/bench" not in str(p)
    ]
    misformatted = check_format(top, sources)
    problems += misformatted or []
    print("\n".join(problems) or f"{len(files)} files are good")
    if problems:
        return 1
    if misformatted is None:
        print("skipped: there is no clang-format 14 to judge the layout")
        return SKIP
    return 0


if __name__ == "__main__":
    sys.exit(main())
