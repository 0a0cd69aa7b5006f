"""Records, symbols, debug information and texts of data directories that take as much time and
memory to read as files of their size can. Each function writes files, which its docstring
describes."""

import random
import struct

from costly_data import ADDRESS, ENTRY, EXIT, FUNCTIONS_AT, LOST, argument_patterns, argument_structs, debug_lines, forked_lines, forks_and_threads
from costly_data import generations, information, libraries, mangled_names, modules, overlapping_modules, record, sessions, symbols_of_one_address
from costly_data import unseen_calls, with_arguments

MANY = 60000


def losses_and_depths(rec):
    """Losses, each followed by a call deep inside calls without entries."""
    rec.records([(1000 + i, (ENTRY, ENTRY, LOST)[i % 3], i * 31 % 1024, i % 900) for i in range(100000)])


def jumping_depths(rec):
    """Calls that each have another depth than the one before."""
    rec.records([(1000 + i, ENTRY, i * 7 % 1024, i % 900) for i in range(MANY)])


def open_calls(rec):
    """Calls that never return."""
    rec.records([(1000 + i, ENTRY, i, 1 + i % 2) for i in range(MANY)])


def unknown_addresses(rec):
    """Calls of functions without a name, at another address each time."""
    rec.records([(1000 + i, i & 1, 0, 5000 + i // 2) for i in range(MANY)])


def many_tasks(rec):
    """Files of two records each."""
    for i in range(3000):
        rec.task(1000 + i, 100, 500)
        rec.records([(1000 + i, ENTRY, 0, i % 900), (10**7 + i, EXIT, 0, i % 900)], 1000 + i)


def tasks_in_turns(rec):
    """Tasks that take turns: after each record comes one of another task."""
    for i in range(1500):
        rec.task(1000 + i, 100, 500)
        rec.records([(1000 + i + 1500 * k, k & 1, 0, k // 2 * 7 % 900) for k in range(60)], 1000 + i)


def new_paths(rec):
    """Nested calls in random paths, no two of them equal."""
    choose, rows, time = random.Random(1), [], 1000
    for _ in range(1000):
        path = choose.choices(range(900), k=40)
        rows += [(time + k, ENTRY, k, path[k]) for k in range(40)] + [(time + 40 + k, EXIT, 39 - k, path[39 - k]) for k in range(40)]
        time += 80
    rec.records(rows)


def argument_strings(rec):
    """Strings whose bytes need escaping."""
    with_arguments(rec, "f1@arg1/s")
    payload = struct.pack("<H", 1006) + b"\x01" * 1006
    rec.put("100.dat", b"".join(record(1000 + 2 * i, ENTRY, 0, 1, 1) + payload + record(1001 + 2 * i, EXIT, 0, 1) for i in range(2000)))


def argument_pointers(rec):
    """Many arguments that are addresses of functions."""
    with_arguments(rec, "f1@" + ",".join(f"arg{i}/p" for i in range(1, 120)))
    payload = b"".join(struct.pack("<Q", ADDRESS + FUNCTIONS_AT + 16 * k) for k in range(119))
    rec.put("100.dat", b"".join(record(1000 + 2 * i, ENTRY, 0, 1, 1) + payload + record(1001 + 2 * i, EXIT, 0, 1) for i in range(1500)))


RECORDS = (
    unseen_calls, losses_and_depths, jumping_depths, open_calls, unknown_addresses, many_tasks, tasks_in_turns, new_paths, argument_strings,
    argument_pointers)


def calls(rec, nr=MANY, functions=1000):
    rec.records([(1000 + i, i & 1, 0, i // 2 % functions) for i in range(nr)])


def line(number, name, size=16):
    return f"{FUNCTIONS_AT + number:016x} {size:x} T {name}\n"


def long_name(rec):
    """Many calls of a function whose name has 1 MB."""
    rec.symbols([line(0, "x" * (1 << 20))])
    calls(rec, 20000, 1)


def long_name_escaped(rec):
    """Many calls of a function whose name has 1 MB of bytes that need escaping."""
    rec.symbols([line(0, "\x01" * (1 << 20))])
    calls(rec, MANY, 1)


def nested_symbols(rec):
    """Nested symbols: each is inside all that begin before it."""
    rec.symbols(line(i, f"f{i}", 0x100000 - 2 * i) for i in range(MANY))
    calls(rec, functions=4000)


def symbols_backwards(rec):
    """Symbols in reverse order of their addresses."""
    rec.symbols(line(16 * i, f"f{i}") for i in range(MANY, 0, -1))
    calls(rec, functions=MANY)


def rust_names(rec):
    """Names with references back, two in each step, so that they double."""
    digits = ("", *"abcdefghijklmnopqrstuvwxyz")
    steps = "".join(f"TB{d}_B{d}_E" for d in digits[:20])
    rec.symbols(line(16 * i, f"_RINvC1a1bTa{steps}E") for i in range(1000))
    calls(rec)


def enumeration(rec):
    """A value that is the sum of many names of an enumeration."""
    names = ",".join(f"A{i}={1 << i % 30}" for i in range(50000))
    rec.put("prog.dbg", f"# path name: /x/prog\nE: enum e {{{names}}}\nF: {FUNCTIONS_AT + 16:x} f1\nA: @arg1/e:e\n")
    with_arguments(rec, "f1@arg1/e:e")
    rec.put("100.dat", b"".join(
        record(1000 + 2 * i, ENTRY, 0, 1, 1) + struct.pack("<Q", 0x3FFFFFFF - i) + record(1001 + 2 * i, EXIT, 0, 1) for i in range(20000)))


SYMBOLS = (
    symbols_of_one_address, mangled_names, argument_structs, argument_patterns, debug_lines, long_name, long_name_escaped, nested_symbols,
    symbols_backwards, rust_names, enumeration)


def long_paths(rec):
    """Modules with paths of the greatest length."""
    path = "/x" * 2000
    rec.put(f"sid-{1:016x}.map", "".join(
        f"{ADDRESS + 0x1000 * i:x}-{ADDRESS + 0x1000 * (i + 1):x} r-xp 0 00:00 0 {path}{i}\n" for i in range(500)))
    rec.records([(1000 + i, i & 1, 0, i // 2 * 256 % 100000) for i in range(MANY)])


def argument_names(rec):
    """A line of `info` that names many functions, each of which is compared with all."""
    with_arguments(rec, ";".join(f"f{i}@arg1" for i in range(20000)))
    rec.put("100.dat", b"".join(record(1000 + 2 * i, ENTRY, 0, i % 1000, 1) + bytes(8) + record(1001 + 2 * i, EXIT, 0, i % 1000) for i in range(20000)))


TEXTS = (forked_lines, forks_and_threads, generations, sessions, libraries, modules, overlapping_modules, information, long_paths, argument_names)
