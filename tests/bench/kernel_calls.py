#!/usr/bin/python3
"""Merging calls of the kernel with those of a program: user and system time, compared with the peer
in the same run, and the peak of memory for a recording and for one a tenth as long.

usage: kernel_calls.py [RECORDS [RUNS]]    RECORDS of the kernel, and as many of the program

A small recording is made longer, page by page: two tasks call work(), which calls step(), which
makes a system call that reads a file. Each task changes to the other of two CPUs with every page.
"""

import shutil
import struct
import subprocess
import sys
from array import array
from pathlib import Path

from benchlib import PEER, UTRAIL, Cost, clean, factor, heading, in_turns, need_peer, scratch
from memory import peak_mb

import kernel  # in tests/lib, which benchlib puts into the path

SOURCE = """
__attribute__((noinline)) void step(void) { __asm__ volatile(""); }
__attribute__((noinline)) void work(void) { step(); __asm__ volatile(""); }
int main(void) { work(); return 0; }
"""
PERIOD = 1000  # nanoseconds that work() takes
MAIN, WORK, STEP = range(3)
SYSCALL, READ = 0xFFFFFFFF81000000, 0xFFFFFFFF81000100
# A period's records, of the program and of the kernel: time, kind, depth, function.
USER = ((0, 0, 1, WORK), (100, 0, 2, STEP), (800, 1, 2, STEP), (900, 1, 1, WORK))
KERNEL = ((200, True, 0, SYSCALL), (300, True, 1, READ), (500, False, 1, READ), (600, False, 0, SYSCALL))
PERIODS_PER_PAGE = 30
COMMANDS = [("replay", 6), ("report", 6), ("graph", 6)]

KALLSYMS = f"{SYSCALL:016x} T x64_sys_call\n{READ:016x} T vfs_read\n{READ + 256:016x} T _etext\n"
FEAT_KERNEL = 1 << 2


class Base:
    """A real recording of the program, with one task: its start, and the addresses of its
    functions."""

    def __init__(self):
        Path("prog.c").write_text(SOURCE)
        subprocess.run(["gcc", "-pg", "-O1", "-o", "prog", "prog.c"], check=True)
        Cost([UTRAIL, "record", "--no-libcall", "--no-event", "-d", "base", "./prog"])
        records = next(Path("base").glob("[0-9]*.dat"))
        words = struct.unpack(f"<{records.stat().st_size // 8}Q", records.read_bytes())
        self.start = words[0]
        # main(), work() and step() are entered one after the other.
        self.functions = [word >> 16 for word in words[1:6:2]]
        self.tasks = (int(records.stem), int(records.stem) + 1)

    def copy(self, path):
        """Copy the recording to the directory @path, with another task and a kernel's header, but
        without records."""
        shutil.copytree("base", path)
        (path / f"{self.tasks[0]}.dat").unlink()
        one, both = str(self.tasks[0]), ",".join(map(str, self.tasks))
        info = bytearray((path / "info").read_bytes())
        info[16] |= FEAT_KERNEL
        info = info.replace(b"nr_tid=1\n", b"nr_tid=2\n").replace(f"tids={one}\n".encode(), f"tids={both}\n".encode())
        (path / "info").write_bytes(info)
        lines = (path / "task.txt").read_text().splitlines()
        lines.append(next(line for line in lines if line.startswith("TASK")).replace(f" tid={one} ", f" tid={self.tasks[1]} "))
        (path / "task.txt").write_text("\n".join(lines) + "\n")
        (path / "kallsyms").write_text(KALLSYMS)
        only = ("ftrace:funcgraph_entry", "ftrace:funcgraph_exit")
        (path / "kernel_header").write_bytes(kernel.header(only=only))


def record_word(kind, depth, address):
    return kind | 5 << 3 | depth << 6 | address << 16


def write_user(base, path, periods):
    """Write a task's records: main(), and inside of it the calls of USER, @periods times."""
    with open(path, "wb") as out:
        out.write(struct.pack("<QQ", base.start, record_word(0, 0, base.functions[MAIN])))
        for begin in range(0, periods, 50_000):
            nr = min(50_000, periods - begin)
            words = array("Q", bytes(8 * 2 * len(USER) * nr))
            for i, (at, kind, depth, func) in enumerate(USER):
                first = base.start + PERIOD * (begin + 1) + at
                words[2 * i :: 2 * len(USER)] = array("Q", range(first, first + PERIOD * nr, PERIOD))
                words[2 * i + 1 :: 2 * len(USER)] = array("Q", [record_word(kind, depth, base.functions[func])]) * nr
            out.write(words.tobytes())
        out.write(struct.pack("<QQ", base.start + PERIOD * (periods + 2), record_word(1, 0, base.functions[MAIN])))


def page_of(tid, periods):
    """A page as the kernel writes it, with @periods periods of the task @tid; the first one begins
    at 0."""
    ids = kernel.event_ids()
    page = kernel.Page(0)
    for period in range(periods):
        for at, is_entry, depth, func in KERNEL:
            number = ids["ftrace:funcgraph_entry" if is_entry else "ftrace:funcgraph_exit"]
            fields = kernel.graph_entry if is_entry else kernel.graph_exit
            page.record(PERIOD * period + at, number, tid, fields(func, depth))
    return page.pack()


def write_kernel(base, paths, periods):
    """Write the files of two CPUs, in which the pages of the two tasks alternate."""
    full = [page_of(tid, PERIODS_PER_PAGE) for tid in base.tasks]
    files = [open(path, "wb") for path in paths]
    for i, begin in enumerate(range(0, periods, PERIODS_PER_PAGE)):
        nr = min(PERIODS_PER_PAGE, periods - begin)
        for which, tid in enumerate(base.tasks):
            page = full[which] if nr == PERIODS_PER_PAGE else page_of(tid, nr)
            # The first word of a page is its time.
            files[(i + which) % 2].write(struct.pack("<Q", base.start + PERIOD * (begin + 1)) + page[8:])
    for file in files:
        file.close()


def make(base, name, records):
    """Make a recording with about @records records of each kind. Returns the number of all
    records."""
    periods = records // len(base.tasks) // len(USER)
    path = Path(name)
    base.copy(path)
    for tid in base.tasks:
        write_user(base, path / f"{tid}.dat", periods)
    write_kernel(base, [path / f"kernel-cpu{cpu}.dat" for cpu in range(2)], periods)
    return 2 * len(base.tasks) * len(USER) * periods


def main():
    need_peer()
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with scratch():
        base = Base()
        made = make(base, "data", records)
        heading(f"{made / 1e6:.1f} M records, min of {runs}")
        for command, target in COMMANDS:
            best = in_turns(runs, {name: lambda tool=tool: Cost([tool, command, "-d", "data"]).cpu
                                   for name, tool in (("ours", UTRAIL), ("peer", PEER))})
            factor(command, best["ours"], best["peer"], "s", target)
        tenth = make(base, "tenth", records // 10)
        print(f"\n{'peak memory, M records':34} {made / 1e6:10.1f} {tenth / 1e6:10.1f}")
        for command, _ in COMMANDS:
            peaks = [peak_mb([UTRAIL, command, "-d", name]) for name in ("data", "tenth")]
            print(f"{command:34} {peaks[0]:10.1f} {peaks[1]:10.1f} MB  target: the same "
                  f"{'ok' if peaks[0] < peaks[1] * 1.25 + 2 else 'MISSED'}", flush=True)
        clean("data", "tenth")


if __name__ == "__main__":
    main()
