#!/usr/bin/env python3
"""Code that depends on an instruction set is in arch/: utils/ has no names of registers,
relocations and machines.

usage: machines.py TOP
"""
import pathlib
import re
import sys

SET_OF_ITS_OWN = re.compile(
    r"\b(EM_X86_64|EM_386|EM_ARM|EM_AARCH64|EM_RISCV|R_(X86_64|386|ARM|AARCH64|RISCV)_\w+|ARGREG_\w+|X86_INS_\w+|endbr\w*)\b"
    r"|__(x86_64|i386|aarch64|arm|riscv)\w*__"
    r'|"(r[ds]i|r[a-d]x|e[a-d]x|[xy]mm\d*|x[0-7]|f?a[0-7])"')
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def without_comments(text):
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def check(top, path):
    name = str(path.relative_to(top))
    lines = without_comments(path.read_text()).splitlines()
    return [f"{name}:{number}: '{found[0]}' belongs to one instruction set: see arch/isa.h"
            for number, line in enumerate(lines, 1) if (found := SET_OF_ITS_OWN.search(line))]


def main():
    top = pathlib.Path(sys.argv[1])
    sources = sorted((top / "utils").rglob("*.[ch]"))
    problems = [problem for path in sources for problem in check(top, path)]

    print("\n".join(problems) or f"{len(sources)} files know no instruction set")
    return bool(problems) or not sources


if __name__ == "__main__":
    sys.exit(main())
