#!/usr/bin/env python3
"""Names in documents for developers exist in the code: functions and macros, as `name()`, and
source files, as `name.c`.

In code blocks of doc/internals, names of files stand without quotes.

usage: docs.py TOP
"""
import pathlib
import re
import sys

ROOMS = ("arch", "cmds", "libmcount", "misc", "tests", "trace", "utils")
SOURCES = (".S", ".build", ".c", ".cc", ".h", ".html", ".py", ".sh")
FUNCTION = re.compile(r"`(\w+)\(\)`")
FILE = re.compile(rf"`([\w./-]+(?:{'|'.join(map(re.escape, SOURCES))}))`")

BARE = re.compile(r"(?<![\w./<*-])[a-z][\w/]*\.[chS]\b(?!\.)")


def names_of_files(doc, text):
    """The number of each line, and the names of files in it."""
    in_block = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_block = not in_block
        bare = BARE.findall(line) if in_block and doc.parent.name == "internals" else []
        yield number, [*FILE.findall(line), *bare]


def main():
    top = pathlib.Path(sys.argv[1])
    files = [p for room in ROOMS for p in (top / room).rglob("*") if p.suffix in SOURCES]
    files.append(top / "meson.build")
    paths = [f"/{p.relative_to(top).as_posix()}" for p in files]
    words = set()
    for path in files:
        words.update(re.findall(r"\w+", path.read_text()))
    wrong = []
    for doc in sorted([*top.glob("*.md"), *(top / "doc").rglob("*.md"), *(top / "trace").rglob("*.md")]):
        for number, line in enumerate(doc.read_text().splitlines(), 1):
            where = f"{doc.relative_to(top)}:{number}"
            for name in FUNCTION.findall(line):
                # `_deinit()` stands for all functions with that ending.
                if name not in words and not (name.startswith("_") and any(w.endswith(name) for w in words)):
                    wrong.append(f"{where}: there is no {name}()")
        for number, names in names_of_files(doc, doc.read_text()):
            missing = [name for name in names if not any(path.endswith(f"/{name}") for path in paths)]
            wrong += [f"{doc.relative_to(top)}:{number}: there is no {name}" for name in missing]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
