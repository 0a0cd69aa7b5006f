#!/usr/bin/env python3
"""Each source has a test at the mirrored path, or a row of tests/mirror.txt that names its test.

cmds/opts.c is mirrored by tests/unit/cmds/test_opts.c, and a source of the project in trace/ by one
in trace/tests/unit. A row has a source, a test, and a word that is in both. A row is reported when
its source or its test has moved, or has lost the word.

usage: mirror.py TOP
"""
import pathlib
import sys

ROOMS = ("arch", "cmds", "libmcount", "utils", "trace")
TABLE = "tests/mirror.txt"


def is_source(path):
    """True for a source that needs a test. Tests and examples need none, nor do stand-ins for
    missing features: x_none.c and arch/none."""
    return not {"tests", "examples", "none"} & set(path.parts) and not path.stem.endswith("_none")


def sources(top):
    paths = (p.relative_to(top) for room in ROOMS for end in ("*.c", "*.S") for p in (top / room).rglob(end))
    return {p.as_posix() for p in paths if is_source(p)}


def mirrored(source):
    path = pathlib.PurePosixPath(source)
    below = pathlib.PurePosixPath("trace/tests/unit", *path.parent.parts[1:]) if path.parts[0] == "trace" else "tests/unit" / path.parent
    return (below / f"test_{path.stem}.c").as_posix()


def check_row(top, test, source, word):
    for name in (source, test):
        if not (top / name).is_file():
            return f"there is no {name}"
        if word not in (top / name).read_text():
            return f"{name} has no '{word}'"
    return f"{mirrored(source)} is its test: no row is needed" if (top / mirrored(source)).exists() else None


def main():
    top = pathlib.Path(sys.argv[1])
    rows = {}
    problems = []
    for number, line in enumerate((top / TABLE).read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        source, test, word = line.split(" ", 2)
        wrong = "has two rows" if source in rows else check_row(top, test, source, word)
        problems += [f"{TABLE}:{number}: {source}: {wrong}"] if wrong else []
        rows[source] = test
    here = sources(top)
    problems += [f"{source}: where is it tested? There is no {mirrored(source)}, and no row of {TABLE}"
                 for source in sorted(here - set(rows)) if not (top / mirrored(source)).exists()]
    print("\n".join(problems) or f"{len(here)} sources: {len(rows)} are tested elsewhere")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
