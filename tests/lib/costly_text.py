"""Texts and logs of other programs as costly to read as their bytes can be: {name: a function that
gives one}. The docstring of a function describes the content."""

import json
import struct

MANY = 10000


def log_names():
    """A new event in each line."""
    return "".join(f"2026-11-23 09:30:01.{i:06d} E{i} K{i}=1\n" for i in range(MANY)).encode()


def log_tasks():
    return "".join(f"2026-11-23 09:30:01.{i:06d} A PID={1000 + i} TID={1000 + i}\n" for i in range(MANY)).encode()


def log_backwards():
    """Lines in reverse order of time."""
    return "".join(f"2026-11-23 09:30:01.{MANY - i:06d} A PID=12 X={i}\n" for i in range(MANY)).encode()


def log_keys():
    """Lines as long as allowed, full of keys, which are new in each line."""
    return b"".join(b"2026-11-23 09:30:01.%06d A" % i + b"".join(b" K%d=" % (5000 * i + k) for k in range(5000)) + b"\n" for i in range(60))


def log_same_keys():
    return b"".join(b"2026-11-23 09:30:01.%06d A" % i + b" K=1" * 15000 + b"\n" for i in range(60))


def log_empty_lines():
    """Only wrong lines."""
    return log_names()[:1000] + b"\n" * 1000000


def log_long_line():
    """A value of megabytes whose bytes need escaping."""
    return b"2026-11-23 09:30:01.000001 A K=" + b"%1b" * 1000000 + b"\n" + log_names()


def log_long_names():
    """A new long name in each line, as long as a short message."""
    return "".join(f"2026-11-23 09:30:01.{i:06d} {'E' * 190}{i} K=1\n" for i in range(MANY)).encode()


GOLDEN = 0x9E3779B97F4A7C15
INVERSE = pow(GOLDEN, -1, 1 << 64)


def log_threads():
    """Threads and processes whose numbers have the same hash, by a formula that an attacker could
    know."""
    return "".join(f"2026-11-23 09:30:01.{i:06d} A PID={1000 + i} TID={(5 - i) * INVERSE % (1 << 64)}\n" for i in range(2000)).encode()


def log_values():
    """Keys that are searched for in long lines, in vain."""
    keys = " ".join(f"K{k}=1" for k in range(64))
    return f"2026-11-23 09:30:01.000000 A {keys}\n".encode() + b"".join(b"2026-11-23 09:30:01.%06d A" % (1 + i) + b" x" * 30000 + b"\n" for i in range(40))


LOGS = {"names": log_names, "tasks": log_tasks, "backwards": log_backwards, "keys": log_keys, "same-keys": log_same_keys,
        "empty-lines": log_empty_lines, "long-line": log_long_line, "long-names": log_long_names, "threads": log_threads, "values": log_values}


def line(task, number, text):
    return f"0: {task | 1 << 22},0,1,{number}!{text}\n"


def program(task, number, name="p"):
    return "".join(line(task, number + i, text) for i, text in enumerate((
        f"New_proc|argsize=2,prognameisize={len(name) + 1},prognamepsize=2,cwdsize=2", f"PI|/{name}", "PP|/p", "CW|/x", "A[0]p", "End_of_args|")))


def etrace_tasks():
    """A chain of forked children, each of which opens a file and forks the next one."""
    out = program(100, 1)
    for i in range(MANY):
        out += line(100 + i, 100 + 2 * i, f"SchedFork|pid={101 + i | 1 << 22}")
        out += line(101 + i, 101 + 2 * i, "Open|fnamesize=2,forigsize=1,flags=65,mode=0,fd=3") + line(101 + i, 101 + 2 * i, "FN|/a") + line(101 + i, 101 + 2 * i, "FO|a")
    return out.encode()


def etrace_environment():
    """A long text that belongs to many tasks."""
    out = "".join(program(100 + i, 100 * i) for i in range(4000))
    out += "".join(f"0: 0,0,2,{i}!UPID|{100 + i | 1 << 22}\n" for i in range(4000))
    out += "".join(f"0: 0,0,2,{5000 + i}!Env[{i}]{'N=' if i == 0 else ''}{'x' * 900}\n" for i in range(1000))
    return (out + "0: 0,0,2,9000!Env_end|\n").encode()


def etrace_closes():
    """Many children that inherit the many descriptors of their parent."""
    out = program(100, 1)
    for i in range(5000):
        out += line(100, 100 + i, f"Dup|oldfd=1,newfd={10 + i},flags=0")
    out += "".join(line(100, 10000 + i, f"SchedFork|pid={101 + i | 1 << 22}") + line(101 + i, 20000 + i, "Exit|status=0") for i in range(MANY))
    return out.encode()


def etrace_parts():
    """Texts in as many parts as allowed."""
    out = ""
    for i in range(100):
        out += line(100 + i, 100 * i, "Open|fnamesize=1000,forigsize=1,flags=65,mode=0,fd=3") + "".join(line(100 + i, 100 * i, f"FN[{k}]a") for k in range(1000))
        out += line(100 + i, 100 * i, "FN_end|") + line(100 + i, 100 * i, "FO|a")
    return out.encode()


def etrace_empty_arguments():
    """Arguments with 4,095 empty ones between each two."""
    out = ""
    for i in range(500):
        out += line(100 + i, 1, f"New_proc|argsize={4095 * 60 + 2},prognameisize=2,prognamepsize=2,cwdsize=2") + line(100 + i, 2, "PI|/p")
        out += line(100 + i, 2, "PP|/p") + line(100 + i, 3, "CW|/x")
        out += "".join(line(100 + i, 4 + k, f"A[{4096 * k}]") for k in range(60)) + line(100 + i, 99, "End_of_args|")
    return out.encode()


def etrace_numbers():
    """Numbers of tasks with the same hash, by a formula that an attacker could know."""
    numbers = [number for number in (i * INVERSE % (1 << 64) for i in range(1, 50000)) if number < 1 << 63]
    return "".join(f"{number},0,0,{i}!Exit|status=0\n" for i, number in enumerate(numbers)).encode()


def etrace_variable():
    """A long variable of an environment, after many lines that give it to the same task."""
    out = program(100, 1) + "".join(f"0: 0,0,2,{i}!UPID|{100 | 1 << 22}\n" for i in range(50000))
    return (out + f"0: 0,0,2,60000!Env[0]N={'x' * 1500000}\n").encode()


def etrace_cpus():
    """A task that is on another CPU in each line."""
    return (program(100, 1) + "".join(f"0: {100 | 1 << 22},{i * 7919 % 100000},1,{100 + i}!Close|fd=3\n" for i in range(40000))).encode()


def etrace_same_tid():
    """Tasks whose numbers have the same lower 22 bits. Each is a child of the one before, in
    reverse order of time."""
    return "".join(f"0: {100 | i << 22},0,1,{9 * MANY - 2 * i}!SchedFork|pid={100 | (i + 1) << 22}\n" for i in range(1, 3 * MANY)).encode()


def etrace_halves():
    """Renames without their second half, with long names that must be kept for it."""
    out = program(100, 1)
    for i in range(3000):
        out += line(100, 100 + i, "RenameFrom|fnamesize=1000") + line(100, 100 + i, "RF|/" + "x" * 999)
    return out.encode()


ETRACES = {"tasks": etrace_tasks, "environment": etrace_environment, "closes": etrace_closes, "parts": etrace_parts,
           "empty-arguments": etrace_empty_arguments, "numbers": etrace_numbers, "variable": etrace_variable, "cpus": etrace_cpus,
           "same-tid": etrace_same_tid, "halves": etrace_halves}


def posix_log(records, name=b"event"):
    """A log. @records: (number of the event, its data); each of the 511 names has the greatest
    length."""
    ring = bytearray()
    for i, (number, data) in enumerate(records):
        size = 48 + (len(data) + 7) // 8 * 8
        ring += struct.pack("<IIQQQIIII", size, 0, 10**18 + i, 0x401000, 0x7F00, 77 + i, number, len(data), 0) + data + bytes(-len(data) % 8)
    attr = struct.pack("<IIIIQQQQQ64s256s", 0x52545441, 1, 1, 4, 4096, 2**61, 16, 1, 10**18, b"utrail-1", b"seed")
    header = b"UTPOSIX\n" + struct.pack("<IIQQQII", 0x01020304, 1, 2**61, 0, len(ring), 1, 511) + attr + bytes(32)
    return header + bytes(4096 - len(header)) + name.ljust(256, b"\0") * 511 + ring


def json_deep():
    return b"[" * 1000000


def json_entries():
    return json.dumps([{"directory": "/x", "file": f"f{i}.c", "arguments": ["cc", "-c", f"f{i}.c"]} for i in range(MANY)]).encode()


def json_same_entries():
    return json.dumps([{"directory": "/x", "file": "f.c", "arguments": ["cc", "-c", "f.c"]} for i in range(2 * MANY)]).encode()


def json_commands():
    return json.dumps([{"directory": "/x", "file": f"f{i}.c", "command": "cc " + '"' * 2000 + " -c"} for i in range(1000)]).encode()


def json_keys():
    return b"[{" + b",".join(b'"k":0' for i in range(500000)) + b"}]"


def json_words():
    return json.dumps([{"directory": "/x", "file": "f.c", "arguments": [""] * 500000}]).encode()


def json_escapes():
    """Escapes: six bytes become one in memory, and six in the output."""
    return b'[{"directory":"/x","file":"f.c","arguments":["' + b"\\u0001" * 500000 + b'"]}]'


def json_nested():
    """Values that no column shows, nested as deep as allowed."""
    value = b"[" * 31 + b"0" + b"]" * 31
    return b'[{"x":[' + b",".join([value] * 30000) + b'],"directory":"/x","file":"f.c","arguments":["cc"]}]'


def json_replacements():
    """U+FFFD itself, which also replaces bytes that are no text."""
    return '[{"directory":"/x","file":"f.c","arguments":["'.encode() + "\ufffd".encode() * 1000000 + b'"]}]'


def json_members():
    """A member that is repeated; its last value counts."""
    members = ",".join(f'"file":"{i}"' for i in range(200000))
    return f'[{{"directory":"/x",{members},"arguments":["cc"]}}]'.encode()


DATABASES = {"deep": json_deep, "entries": json_entries, "same-entries": json_same_entries, "commands": json_commands, "keys": json_keys,
             "words": json_words, "escapes": json_escapes, "nested": json_nested, "replacements": json_replacements, "members": json_members}


def posix_names():
    return posix_log([(65 + i % 511, b"") for i in range(60000)], b"\x1b" * 255)


def posix_data():
    return posix_log([(65, b"\xff" * 4096)] * 2000)


def posix_small():
    return posix_log([(64, b"")] * 60000)


def posix_escaped_data():
    """Records of the greatest length whose bytes need escaping, of events with the longest
    names."""
    return posix_log([(65 + i % 511, b"\x1b" * 4096) for i in range(1000)], b"\xff" * 255)


def posix_unknown():
    """Events whose numbers have no name."""
    return posix_log([(2000 + i, b"") for i in range(60000)])


def posix_backwards():
    """Records in reverse order of time, each of another thread."""
    log = bytearray(posix_log([(65, b"")] * 60000))
    for i in range(60000):
        struct.pack_into("<Q", log, 4096 + 511 * 256 + 48 * i + 8, 10**18 - i)
        struct.pack_into("<Q", log, 4096 + 511 * 256 + 48 * i + 32, i)
    return bytes(log)


def posix_cut():
    """Data of the greatest length, of which a recording keeps an eighth."""
    return posix_log([(65, b"\xff" * (512 << 10))] * 7)


def posix_empty_names():
    """Empty names: events are shown by their numbers."""
    return of_one_thread(posix_log([(65 + i % 511, b"") for i in range(20000)], b""))


def posix_one_time():
    """Records with the same time: each is moved to a later time than the one before."""
    log = bytearray(of_one_thread(posix_log([(65, b"")] * 20000)))
    for i in range(20000):
        struct.pack_into("<Q", log, 4096 + 511 * 256 + 48 * i + 8, 10**18)
    return bytes(log)


def posix_threads():
    """Threads and processes whose numbers have the same hash, by a formula that an attacker could
    know."""
    log = bytearray(posix_log([(65, b"")] * 2000))
    for i in range(2000):
        struct.pack_into("<QI", log, 4096 + 511 * 256 + 48 * i + 24, (5 - i) * INVERSE % (1 << 64), 1000 + i)
    return bytes(log)


def of_one_thread(log):
    """The log with one thread for all records, which have no data."""
    log = bytearray(log)
    for at in range(4096 + 511 * 256, len(log), 48):
        struct.pack_into("<QI", log, at + 24, 77, 77)
    return bytes(log)


POSIX_LOGS = {"names": posix_names, "data": posix_data, "small": posix_small, "escaped-data": posix_escaped_data, "unknown": posix_unknown,
              "backwards": posix_backwards, "cut": posix_cut, "empty-names": posix_empty_names, "one-time": posix_one_time,
              "threads": posix_threads}
