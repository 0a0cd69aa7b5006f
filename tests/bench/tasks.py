#!/usr/bin/python3
"""The cost of a record when there are many tasks, as a ratio to the cost with one task.

usage: tasks.py [CALLS [RUNS]]
"""

import sys
from pathlib import Path

from benchlib import METHODS, PEER, UTRAIL, Cost, compile, in_turns, need_peer, scratch

TASKS = (1, 16, 512)


def measure(command):
    return lambda: Cost(command).cpu


def main():
    need_peer()
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with scratch():
        exe = compile("tree.c", "tree", METHODS["-pg"])
        records = {}
        for tasks in TASKS:
            data = Path(f"data{tasks}")
            Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", data, exe, tasks, calls])
            records[tasks] = sum(p.stat().st_size for p in data.glob("[0-9]*.dat")) // 16
        print(f"\n{'ns per record, min of ' + str(runs):24}", *(f"{t:>6} tasks" for t in TASKS))
        for command in ("replay", "report"):
            best = in_turns(
                runs,
                {
                    (tool, tasks): measure([tool, command, "-d", f"data{tasks}"])
                    for tasks in TASKS
                    for tool in ([UTRAIL, PEER] if tasks < 512 else [UTRAIL])
                },
            )
            for tool, name in ((UTRAIL, "ours"), (PEER, "peer")):
                costs = [
                    1e9 * best[tool, t] / records[t] if (tool, t) in best else None for t in TASKS
                ]
                cells = [f"{c:12.1f}" if c else f"{'-':>12}" for c in costs]
                last = ""
                if costs[-1]:
                    ratio = costs[-1] / costs[0]
                    verdict = "ok" if ratio <= 1.6 else "MISSED"
                    last = f"  512 to one: {ratio:.2f}, target 1.60 {verdict}"
                print(f"{command + ', ' + name:24}", *cells, last, flush=True)


if __name__ == "__main__":
    main()
