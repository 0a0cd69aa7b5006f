#!/usr/bin/env python3
"""Library code does not print, end the process, or keep state of its own
(doc/internals/overview.md, "Errors").

usage: archives.py ARCHIVE...
"""
import subprocess
import sys

FORBIDDEN = {"exit", "_exit", "_Exit", "abort", "quick_exit", "err", "errx", "warn", "warnx",
             "error", "perror", "printf", "vprintf", "puts", "putchar", "stdout", "stderr",
             "__printf_chk", "__vprintf_chk"}


def objdump_table(archive):
    text = subprocess.run(["objdump", "-t", archive], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    member = ""
    for line in text.splitlines():
        if ":     file format" in line:
            member = line.split(":")[0]
        if "\t" not in line:
            continue
        # "<address> <flags> <section>\t<size> [.hidden] <name>"
        left, right = line.split("\t", 1)
        flags, section = left[17:24], left.split()[-1]
        yield member, section, int(right.split()[0], 16), right.split()[-1], "O" in flags


def main():
    problems = []
    for archive in sys.argv[1:]:
        for member, section, size, name, is_object in objdump_table(archive):
            where = f"{archive.split('/')[-1]}({member})"
            if section == "*UND*" and name in FORBIDDEN:
                problems.append(f"{where}: uses {name}")
            if is_object and size and section in (".data", ".bss", ".tdata", ".tbss"):
                problems.append(f"{where}: {name} is a variable that can change")
    print("\n".join(problems) or "good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
