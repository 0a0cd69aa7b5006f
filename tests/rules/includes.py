#!/usr/bin/env python3
"""Includes point downwards only (doc/internals/overview.md, "Rooms"), and each source says first what it owns.

usage: includes.py TOP
"""
import pathlib
import re
import sys

# A room may include itself and what is listed here.
LAYERS = ["utils/base", "utils/format", "utils/object", "utils/spec", "utils/trace", "utils/view", "utils/export"]
ALLOWED = {
    "arch": {"utils/base"},
    "libmcount": {"utils/base", "utils/format", "arch"},
    "cmds": set(LAYERS) | {"arch"},
}
for at, layer in enumerate(LAYERS):
    ALLOWED[layer] = set(LAYERS[:at]) | ({"arch"} if at >= LAYERS.index("utils/object") else set())


def room_of(path):
    return next((room for room in ALLOWED if path.startswith(room + "/")), None)


def check(top, path):
    name = str(path.relative_to(top))
    lines = path.read_text().splitlines()
    problems = []

    if not lines or not lines[0].startswith("/*"):
        problems.append(f"{name}:1: no comment that says what the file owns")
    if len(lines) > 800:
        problems.append(f"{name}: {len(lines)} lines: a file is one idea")
    for number, line in enumerate(lines, 1):
        included = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not included:
            continue
        target = room_of(included.group(1))
        if included.group(1) == "config.h":
            continue
        if target is None:
            problems.append(f"{name}:{number}: not named from the top of the tree")
        elif target != room_of(name) and target not in ALLOWED[room_of(name)]:
            problems.append(f"{name}:{number}: {room_of(name)} may not use {target}")
    return problems


def main():
    top = pathlib.Path(sys.argv[1])
    sources = [path for room in ("utils", "arch", "libmcount", "cmds")
               for path in sorted((top / room).rglob("*.[chS]"))]
    problems = [problem for path in sources for problem in check(top, path)]

    print("\n".join(problems) or f"{len(sources)} files are good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
