#!/usr/bin/env python3
"""`utrail events import` of a log of a million lines: CPU time and memory, and a check that export
gives the same lines back."""

import filecmp

from benchlib import UTRAIL, Cost, scratch

LINES = 1_000_000
CPU_TARGET_S = 2


def write_log(name, lines, tasks):
    with open(name, "w") as out:
        for nr in range(lines):
            us = nr * 2
            out.write(f"2026-11-23 09:{us // 60000000:02}:{us // 1000000 % 60:02}.{us % 1000000:06} HTTP-EVENT-{nr % 10} "
                      f"PID={1000 + nr % tasks} TID={140000000000000 + nr % tasks} UID={nr} PATH=/index+{nr}.html\n")


def main():
    with scratch():
        for lines, tasks in ((LINES // 4, 4), (LINES, 4), (LINES, 1000)):
            write_log("a.log", lines, tasks)
            cost = min((Cost([UTRAIL, "events", "import", "-d", "data", "a.log"]) for _ in range(3)), key=lambda cost: cost.cpu)
            Cost(["sh", "-c", f"{UTRAIL} events export --as=fstrace -d data > b.log"])
            same = "the same again" if filecmp.cmp("a.log", "b.log", shallow=False) else "NOT the same again"
            target = f"   target <= {CPU_TARGET_S} s" if lines == LINES else ""
            print(f"{lines:8} lines of {tasks:4} tasks   {lines / cost.elapsed / 1e6:6.2f} million lines/s   {cost.cpu:5.2f} s of CPU{target}   "
                  f"{cost.memory_kb / 1024:5.1f} MB   {same}")


if __name__ == "__main__":
    main()
