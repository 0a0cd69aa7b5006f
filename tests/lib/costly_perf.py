"""Files of perf that take as much time and memory to read as files of their size can. Each function
writes files, which its docstring describes."""

import struct

from costly_data import ENTRY, EXIT, perf_names, perf_switches, perf_tasks, perf_tasks_backwards

MANY = 60000


def trailer(tid, time):
    return struct.pack("<IIQ", tid, tid, time)


def switch(tid, time, is_out):
    return struct.pack("<IHH", 14, 0x2000 * is_out, 24) + trailer(tid, time)


def task(kind, tid, time):
    """A record of a task. @kind: 7 for its begin, 4 for its end"""
    return struct.pack("<IHHIIIIQ", kind, 0, 48, tid, 100, tid, 100, time) + trailer(100, time)


def perf_files(rec):
    """Many files of a few records: consecutive records are in different files."""
    for cpu in range(1000):
        rec.put(f"perf-cpu{cpu}.dat", b"".join(switch(100, 2000 + 1000 * i + cpu, i & 1) for i in range(20)))


def perf_strangers(rec):
    """Many records, each of a different task, which no other file names."""
    rec.put("perf-cpu0.dat", b"".join(switch(1000 + i, 2000 + i, 1) for i in range(40000)))


def perf_ends(rec):
    """Tasks that end just after their begin, each twice."""
    rec.put("perf-cpu0.dat", b"".join(task(7, 1000 + i, 2000 + 3 * i) + 2 * task(4, 1000 + i, 2001 + 3 * i) for i in range(10000)))


def perf_programs(rec):
    """One task that executes another program in each record."""
    rec.put("perf-cpu0.dat", b"".join(
        struct.pack("<IHHII8s", 3, 0x2000, 40, 100, 100, b"n%d" % i) + trailer(100, 2000 + i) for i in range(MANY)))


def perf_backwards(rec):
    """Switches in reverse order of time."""
    rec.put("perf-cpu0.dat", b"".join(switch(100, 2000 + MANY - i, i & 1) for i in range(MANY)))


def perf_in_turns(rec):
    """Thousands of tasks with records, which take turns on one CPU."""
    for i in range(2000):
        rec.task(1000 + i, 100, 500)
        rec.records([(1000 + i, ENTRY, 0, 1), (10**7 + i, EXIT, 0, 1)], 1000 + i)
    rec.put("perf-cpu0.dat", b"".join(switch(1000 + i % 2000, 2000 + i, i // 2000 & 1) for i in range(MANY)))


DIRECTORIES = (
    perf_tasks, perf_tasks_backwards, perf_names, perf_switches, perf_files, perf_strangers, perf_ends, perf_programs, perf_backwards, perf_in_turns)
