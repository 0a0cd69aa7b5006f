"""Recordings and texts that are valid, and as costly to read as their bytes can be: {name: a
function that writes one}. The docstring of a function describes the content."""

import struct
from pathlib import Path

import kernel

ADDRESS = 0x400000
FUNCTIONS_AT = 0x1000
ENTRY, EXIT, LOST, EVENT = range(4)
MANY = 20000
SESSION = 'SESS timestamp=0.{time:09d} pid={pid} sid={number:016x} exename="/x/prog"\n'
MAP = "400000-4f00000 r-xp 00000000 00:00 0 /x/prog\n"


class Recording:
    """A data directory with one program and task 100. Files are added by name."""

    def __init__(self, directory, functions=1000, features=0x1463):
        self.path = Path(directory)
        self.path.mkdir()
        self.tasks = [SESSION.format(time=100, pid=100, number=1), "TASK timestamp=0.000000200 tid=100 pid=100\n"]
        self.put("info", b"Ftrace!\0" + struct.pack("<IHBBQQHHI", 4, 40, 1, 2, features, 0, 1024, 0, 0))
        self.put(f"sid-{1:016x}.map", MAP)
        names = ["fork", *(f"f{i}" for i in range(1, functions))]
        self.symbols(f"{FUNCTIONS_AT + 16 * i:016x} 10 T {name}\n" for i, name in enumerate(names))
        self.records([(1000, ENTRY, 0, 1), (10**8, EXIT, 0, 1)])

    def put(self, name, content):
        (self.path / name).write_bytes(content.encode() if isinstance(content, str) else content)

    def symbols(self, lines):
        self.put("prog.sym", "# path name: /x/prog\n" + "".join(lines))

    def records(self, rows, tid=100):
        """Write calls of a task. @rows: time, kind, depth, number of the function"""
        self.put(f"{tid}.dat", b"".join(record(*row) for row in rows))

    def fork(self, pid, ppid, time):
        self.tasks.append(f"FORK timestamp=0.{time:09d} pid={pid} ppid={ppid}\n")

    def task(self, tid, pid, time):
        self.tasks.append(f"TASK timestamp=0.{time:09d} tid={tid} pid={pid}\n")

    def done(self):
        self.put("task.txt", "".join(self.tasks))


def record(time, kind, depth, function, more=0):
    return struct.pack("<QQ", time, kind | more << 2 | 5 << 3 | min(depth, 1023) << 6 | (ADDRESS + FUNCTIONS_AT + 16 * function) << 16)


def event(time, number):
    return struct.pack("<QQ", time, EVENT | 5 << 3 | number << 16)


def unseen_calls(rec):
    """Many times, returns from 1,023 nested calls that have no entries."""
    rows, time = [], 1000
    for group in range(200):
        rows += [(time, LOST, 0, 5), (time + 1, ENTRY, 1023, group)]
        rows += [(time + 2 + i, EXIT, 1023 - i, ((1023 - i) * 7 + group) % 900) for i in range(1024)]
        time += 2000
    rec.records(rows)


def forked_lines(rec):
    """Many forks, whose children make no record. The parent makes calls at the times of the
    forks."""
    rec.records([(2000 + i, i & 1, 0, 3) for i in range(MANY)])
    for i in range(MANY):
        rec.fork(1000 + i, 100, 2000 + i)


def forks_and_threads(rec):
    """Many forks by a process of many threads: at each fork, the open calls of each thread are
    needed."""
    for i in range(1000):
        rec.task(200 + i, 100, 1000)
        rec.records([(2000 + 40 * k, k & 1, 0, 0) for k in range(100)], 200 + i)
    for i in range(4000):
        rec.fork(10000 + i, 100, 2000 + i)
        rec.records([(3000 + i, EXIT, 1, 0), (3001 + i, EXIT, 0, i % 900)], 10000 + i)


def generations(rec):
    """A long chain of children."""
    for i in range(4000):
        rec.fork(101 + i, 100 + i, 2000 + i)
        rec.records([(2001 + i, ENTRY, 1, 0), (2002 + i, EXIT, 1, 0), (2003 + i, EXIT, 0, 0)], 101 + i)


def sessions(rec):
    """One process that executes another program in each line."""
    rec.records([(2000 + i, i & 1, 0, i // 2 % 900) for i in range(MANY)])
    for i in range(2, 4000):
        rec.tasks.append(SESSION.format(time=1000 + 5 * i, pid=100, number=i))
        rec.put(f"sid-{i:016x}.map", MAP)


def libraries(rec):
    """A dlopen() in each line."""
    line = 'DLOP timestamp=0.{:09d} tid=100 sid={:016x} base={:x} libname="/x/lib{}"\n'
    rec.tasks += [line.format(3000 + i, 1, 0x10000000 + 0x1000 * i, i) for i in range(MANY)]


def modules(rec):
    rec.put(f"sid-{1:016x}.map", "".join(f"{0x400000 + 0x1000 * i:x}-{0x401000 + 0x1000 * i:x} r-xp 0 00:00 0 /x/p{i}\n" for i in range(MANY)))
    rec.records([(1000 + i, ENTRY, i, i % 900) for i in range(1000)])


def overlapping_modules(rec):
    rec.put(f"sid-{1:016x}.map", "".join(f"400000-{0x402000 + 0x1000 * i:x} r-xp 0 00:00 0 /x/p{i}\n" for i in range(MANY)))
    rec.records([(1000 + i, i & 1, 0, i % 900) for i in range(MANY)])


def symbols_of_one_address(rec):
    rec.symbols(f"{FUNCTIONS_AT:016x} {0x10 + i:x} T f{i % 7}\n" for i in range(100000))
    rec.records([(1000 + i, i & 1, 0, 1) for i in range(MANY)])



def mangled_names(rec):
    parts = ["1AIiiE"] + [f"1AI{a}{b}E" for a, b in zip(["S0_"] * 9 + ["S9_"], ["S0_"] * 10)]
    doubling = "".join(f"1BI{'S' if i == 0 else 'S' + digit(i - 1)}_{'S' if i == 0 else 'S' + digit(i - 1)}_E" for i in range(30))
    rec.symbols(f"{FUNCTIONS_AT + 16 * i:016x} 10 T _Z{len(str(i)) + 1}f{i}{''.join(parts)}{doubling}\n" for i in range(1000))
    rec.records([(1000 + i, i & 1, 0, i // 2 % 1000) for i in range(MANY)])


def digit(i):
    return "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]


def with_arguments(rec, specification):
    """A recording with arguments: a line of `info` has their specification."""
    head = struct.pack("<IHBBQQHHI", 4, 40, 1, 2, 0x146B, 1 << 10, 1024, 0, 0)
    rec.put("info", b"Ftrace!\0" + head + f"argspec:lines=1\nargspec:{specification}\n".encode())


def argument_structs(rec):
    """Nested structs, each twice as large as the one inside, in each call."""
    lines = ["# path name: /x/prog\n", "# S: s0 8 a@0/i4,b@4/i4\n"]
    lines += [f"# S: s{i} {8 << i} a@0/t{4 << i}:s{i - 1},b@{4 << i}/t{4 << i}:s{i - 1}\n" for i in range(1, 8)]
    rec.put("prog.dbg", "".join(lines) + f"F: {FUNCTIONS_AT + 16:x} f1\nA: @arg1/t1024:s7\n# T: s7\n")
    with_arguments(rec, "f1@arg1/t1024:s7")
    rows = b"".join(record(1000 + 2 * i, ENTRY, 0, 1, 1) + bytes(1024) + record(1001 + 2 * i, EXIT, 0, 1) for i in range(2000))
    rec.put("100.dat", rows)


def argument_patterns(rec):
    """Many functions and many patterns: each is compared with each."""
    rec.symbols(f"{FUNCTIONS_AT + 16 * i:016x} 10 T f{i}\n" for i in range(MANY))
    with_arguments(rec, ";".join(f"x[0-9]*{i}.*y@arg1" for i in range(2000)) + ";f[0-9]*@arg1")
    rec.put("100.dat", b"".join(record(1000 + 2 * i, ENTRY, 0, i, 1) + bytes(8) + record(1001 + 2 * i, EXIT, 0, i) for i in range(MANY)))


def debug_lines(rec):
    """Many functions, each with many lines of debug information."""
    rec.put("prog.dbg", "# path name: /x/prog\n" + "".join(f"E: enum e{i} {{A=1,B,C}}\n" for i in range(20000)) + "".join(
        f"F: {FUNCTIONS_AT + i:x} f{i}\nL: {i} /x/{i}.c\nA: @arg1/e:e{i % 20000}\nR: @retval/s\n" for i in range(MANY)))


def information(rec):
    """`info` with lines, a list of tasks and a command line of megabytes."""
    head = b"Ftrace!\0" + struct.pack("<IHBBQQHHI", 4, 40, 1, 2, 0x1463, 0xFFFF & ~(1 << 10), 1024, 0, 0)
    tids = ",".join(str(i) for i in range(100, 200000))
    rec.put("info", head + (f"exename:/x/prog\nbuild_id:00\nexit_status:0\ncmdline:{'x' * 3000000}\ncpuinfo:lines=2\n"
            "cpuinfo:nr_cpus=1 / 1 (online/possible)\ncpuinfo:desc=x\nmeminfo:1 / 1 GB\nosinfo:lines=3\nosinfo:kernel=x\n"
            f"osinfo:hostname=x\nosinfo:distro=x\ntaskinfo:lines=2\ntaskinfo:nr_tid=199900\ntaskinfo:tids={tids}\n").encode())


def perf_tasks(rec):
    """Records that each have a new task and its name."""
    out = bytearray()
    for i in range(MANY):
        end = struct.pack("<IIQ", 100, 100, 2000 + i)
        out += struct.pack("<IHHIIIIQ", 7, 0, 48, 1000 + i, 100, 1000 + i, 100, 2000 + i) + end
        out += struct.pack("<IHHII8s", 3, 0, 40, 100, 1000 + i, b"name%d" % (i % 999)) + end
    rec.put("perf-cpu0.dat", out)


def perf_tasks_backwards(rec):
    """New tasks from the highest number down, each a child of the one before."""
    out = bytearray()
    for i in range(MANY):
        tid = 1000 + MANY - i
        out += struct.pack("<IHHIIIIQ", 7, 0, 48, tid, tid + 1, tid, tid + 1, 2000 + i) + struct.pack("<IIQ", 100, 100, 2000 + i)
    rec.put("perf-cpu0.dat", out)


def perf_names(rec):
    """Records that each give the one task another name, in reverse order of time."""
    end = struct.pack("<IIQ", 100, 100, 2000)
    rec.put("perf-cpu0.dat", b"".join(
        struct.pack("<IHHII8s", 3, 0, 40, 100, 100, b"n%d" % i) + end[:8] + struct.pack("<Q", 2000 + 2 * MANY - i) for i in range(2 * MANY)))


def perf_switches(rec):
    """One task switches in each nanosecond, on 64 CPUs in turn."""
    for cpu in range(64):
        rec.put(f"perf-cpu{cpu}.dat", b"".join(
            struct.pack("<IHHIIQ", 14, 0x2000 * (i & 1), 24, 100, 100, 2000 + 64 * i + cpu) for i in range(2000)))


def kernel_pages(rec, record, nr=60):
    """500 pages with @nr records each; @record(page, number) writes one."""
    pages = bytearray()
    for i in range(500):
        page = kernel.Page(2000 + 300 * i)
        for k in range(nr):
            record(page, i * nr + k)
        pages += page.pack()
    rec.put("kernel_header", kernel.header())
    rec.put("kernel-cpu0.dat", pages)


def kernel_tasks(rec):
    """Tracepoints, each of another task."""
    enter = kernel.event_ids()["raw_syscalls:sys_enter"]
    kernel_pages(rec, lambda page, i: page.record(page.now + 1, enter, 1000 + i, bytes(56)))


def kernel_known_task(rec):
    """Tracepoints of a known task, as many as fit."""
    enter = kernel.event_ids()["raw_syscalls:sys_enter"]
    kernel_pages(rec, lambda page, i: page.record(page.now + 1, enter, 100, bytes(56)))


def kernel_calls(rec):
    """Nested calls of the kernel without a return."""
    entry = kernel.event_ids()["ftrace:funcgraph_entry"]
    kernel_pages(rec, lambda page, i: page.record(page.now + 1, entry, 100, struct.pack("<QI", 0xFFFFFFFF81000000 + i, i)), 150)


def kernel_names(rec):
    """Symbols of the kernel: many names for one address."""
    kernel_calls(rec)
    rec.put("kallsyms", "".join(f"ffffffff81000000 T f{i}\n" for i in range(100000)))


def kernel_formats(rec):
    """2000 formats, each with 20 fields, and with 500 brackets around one of them."""
    text = bytearray(kernel.header())
    for i in range(2000):
        fields = "".join(f"\tfield:unsigned char f{k};\toffset:{8 + k};\tsize:1;\tsigned:0;\n" for k in range(20))
        body = f"name: e{i}\nID: {3000 + i}\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n{fields}\nprint fmt: \"%s\", {'(' * 500}REC->f0{')' * 500}\n".encode()
        text += f"TRACEFS: events/x/e{i}/format: {len(body)}\n".encode() + body
    rec.put("kernel_header", text)
    page = kernel.Page(2000)
    for i in range(90):
        page.record(2000 + i, 3000 + i, 100, bytes(20))
    rec.put("kernel-cpu0.dat", page.pack())


def proc_record(time, tid, kind, payload, pid=None):
    return struct.pack("<QiiII", time, tid, pid or tid, kind, len(payload)) + payload + bytes(-len(payload) % 8)


def proc_texts(*texts):
    return b"".join(struct.pack("<I", len(text)) for text in texts) + b"".join(texts)


def proc_act(time, tid, kind, numbers=(), texts=()):
    numbers, texts = (*numbers, 0, 0, 0)[:3], (*texts, b"", b"", b"")[:3]
    return proc_record(time, tid, kind, struct.pack("<III", *numbers) + proc_texts(*texts))


def proc_start(time=1000):
    return proc_record(time, 100, 2, struct.pack("<I", 100) + proc_texts(b"/x/prog", b"/x/prog", b"/x", b"prog\0"))


def proc_fork(time, parent, child):
    return proc_record(time, parent, 1, struct.pack("<IIIQ", child, child, 1, 17))


def proc_children(rec):
    """A long chain of processes, each of which opens a file."""
    out = bytearray(proc_start())
    for i in range(20000):
        out += proc_fork(2000 + 2 * i, 100 + i, 101 + i) + proc_act(2001 + 2 * i, 101 + i, 4, (3, 0, 0), (b"/x/a", b"a"))
    rec.put("proc.dat", out)


def proc_descriptors(rec, nr=10000):
    """A process with many open files, and many children that inherit all of them."""
    out = proc_start()
    out += b"".join(proc_act(2000 + i, 100, 4, (3 + i, 0, 0), (b"/x/%d" % i, b"a")) for i in range(nr))
    out += b"".join(proc_fork(20000 + i, 100, 101 + i) for i in range(nr))
    rec.put("proc.dat", out)


def proc_high_descriptor(rec):
    """A process with the highest possible descriptor; each of its many children inherits it, and
    has one more."""
    out = proc_start() + proc_act(2000, 100, 4, ((1 << 20) - 1, 0, 0), (b"/x/a", b"a"))
    out += b"".join(proc_fork(20000 + 2 * i, 100, 101 + i) + proc_act(20001 + 2 * i, 101 + i, 6, ((1 << 20) - 1, 40000 + i, 0)) for i in range(MANY))
    rec.put("proc.dat", out)


def proc_pipe(rec, nr=8000):
    """A pipe between children: half of them write to it, half read, so each writer is linked with
    each reader."""
    out = proc_start() + proc_act(2000, 100, 7, (3, 4, 0))
    out += b"".join(proc_fork(20000 + i, 100, 101 + i) + proc_act(30000 + i, 101 + i, 5, (3 + i % 2, 3 + i % 2, 0)) for i in range(nr))
    rec.put("proc.dat", out)


def proc_inputs(rec, nr=12000):
    """A process that reads many files. Each of its many children makes a file, which depends on all
    files that the process has read."""
    out = proc_start()
    out += b"".join(proc_act(2000 + i, 100, 4, (3, 0, 0), (b"/x/%d" % i, b"a")) + proc_act(2000 + i, 100, 5, (3, 3, 0)) for i in range(nr))
    out += b"".join(proc_fork(30000 + i, 100, 101 + i) + proc_act(50000 + i, 101 + i, 4, (3, 0x41, 0), (b"/y/%d" % i, b"a")) for i in range(nr))
    rec.put("proc.dat", out)


def proc_one_file(rec):
    """Many processes that each read and then write the same file."""
    out = proc_start() + b"".join(proc_fork(2000 + i, 100, 101 + i) for i in range(8000))
    for k, flags in enumerate((0, 1)):
        out += b"".join(proc_act(20000 + 10000 * k + i, 101 + i, 4, (3 + k, flags, 0), (b"/x/a", b"a")) for i in range(8000))
    rec.put("proc.dat", out)


def proc_long_paths(rec):
    """Paths of many directories, all of them new in each path."""
    rec.put("proc.dat", proc_start() + b"".join(
        proc_act(2000 + i, 100, 4, (3 + i, 0, 0), (b"/%d" % i + b"/a" * (100 << 10), b"a")) for i in range(20)))


def proc_chain_of_names(rec):
    """A long chain of renames."""
    out = proc_start()
    for i in range(MANY):
        out += proc_act(2000 + 2 * i, 100, 9, (0,), (b"/x/%d" % i, b"/x/%d" % (i + 1))) + proc_act(2001 + 2 * i, 100, 10, (0,), (b"", b"/y/%d" % i, b"/y/%d" % (i + 1)))
    rec.put("proc.dat", out)


def proc_closes_given(rec):
    """Many children that each close all inherited descriptors with one call."""
    out = proc_start()
    out += b"".join(proc_act(2000 + i, 100, 4, (3 + i, 0, 0), (b"/x/a", b"a")) for i in range(10000))
    out += b"".join(proc_fork(20000 + 2 * i, 100, 101 + i) + proc_act(20001 + 2 * i, 101 + i, 5, (0, 2**32 - 1, 0)) for i in range(10000))
    rec.put("proc.dat", out)


def proc_closes(rec):
    """A process with many descriptors: close_range(2) of ranges that have none, again and again."""
    out = proc_start()
    out += b"".join(proc_act(2000 + i, 100, 4, (3 + 7 * i, 0, 0), (b"/x/a", b"a")) for i in range(10000))
    out += b"".join(proc_act(20000 + i, 100, 5, (0, 2, 0)) + proc_act(20000 + i, 100, 5, (80000, 2**32 - 1, 0)) for i in range(20000))
    rec.put("proc.dat", out)


def proc_renames(rec):
    """Renames of directories with many files that were opened below them."""
    out = proc_start()
    out += b"".join(proc_act(2000 + i, 100, 4, (3 + i, 0x41, 0), (b"/x/d0/%d" % i, b"a")) for i in range(5000))
    out += b"".join(proc_act(20000 + i, 100, 8, (0,), (b"/x/d%d" % i, b"/x/d%d" % (i + 1))) for i in range(20000))
    rec.put("proc.dat", out)


def proc_programs(rec):
    """One task that executes another program in each nanosecond."""
    args = b"x\0" * 50
    rec.put("proc.dat", b"".join(
        proc_record(1000 + i, 100, 2, struct.pack("<I", 100) + proc_texts(b"/x/p%d" % i, b"/x/p", b"/x", args)) for i in range(20000)))


def extern_lines(rec):
    rec.put("extern.dat", "".join(f"0.{1000 + i:09d} line {i}\n" for i in range(100000)))


def declared(rec, definition, payload, nr=MANY):
    """Many events, each with a definition of its own."""
    beside = b"".join(
        struct.pack("<QIHH", 2000 + i, 1000000 + i % MANY, 0, len(payload)) + payload + bytes(-len(payload) % 8) for i in range(nr))
    rec.put("100.evt", beside)
    rec.put("100.dat", b"".join(event(2000 + i, 1000000 + i % MANY) for i in range(nr)))
    rec.put("events.txt", "".join(f"EVENT: {1000000 + i} trace:e{i}\n" for i in range(MANY)))
    rec.put("events.def", "CLOCK: 1700000000000000000\n" + "".join(f"DECLARED: {1000000 + i} {definition(i)}\n" for i in range(MANY)))
    rec.put("info", b"Ftrace!\0" + struct.pack("<IHBBQQHHI", 4, 40, 1, 2, 0x14E3, 0, 1024, 0, 0))


def declared_events(rec):
    declared(rec, lambda i: f"fstrace e{i} %00 NR=%25d", struct.pack("<i", 1))


def declared_keys(rec):
    """Lines with as many keys as fit, and a format that asks for all of them."""
    keys = "+".join(f"K{k}" for k in range(10))
    declared(rec, lambda i: f"line e{i} {keys}", struct.pack("<q", 5) + b" " + b" ".join(b"K%d=1" % (k % 10) for k in range(20)))


def declared_wide(rec):
    """Formats whose lines are much longer than the event's data."""
    declared(rec, lambda i: f"fstrace e{i} %00 NR=%250900d", struct.pack("<i", 1))


def declared_few(rec, definitions, payload, nr=MANY):
    """Many events with the same number. Each of the @definitions is for this number."""
    declared(rec, lambda i: "line e K", payload, nr)
    rec.put("100.evt", b"".join(struct.pack("<QIHH", 2000 + i, 1000000, 0, len(payload)) + payload + bytes(-len(payload) % 8) for i in range(nr)))
    rec.put("100.dat", b"".join(event(2000 + i, 1000000) for i in range(nr)))
    rec.put("events.txt", "EVENT: 1000000 trace:e\n")
    rec.put("events.def", "".join(f"DECLARED: 1000000 {definition}\n" for definition in definitions))


def declared_fields(rec):
    """A format that has a field in every two bytes: %25 is an encoded percent sign. The search for
    a field looks at all fields."""
    declared_few(rec, ["fstrace e %00 " + "%25d" * 500000], struct.pack("<i", 1) * 16000, 20)


def declared_literal(rec):
    """Events without data, each of which has a text of a megabyte."""
    declared_few(rec, ["fstrace e %00 " + "x" * 1000000], b"")


def declared_long_name(rec):
    declared_few(rec, ["fstrace e %00 x"], b"")
    rec.put("events.txt", f"EVENT: 1000000 trace:{'e' * 1000000}\n")


def declared_same_number(rec):
    """As many definitions as fit, all of one number."""
    declared_few(rec, ["line e K", "sdt e 8"] * 80000, struct.pack("<q", 5) + b" K=1")


def declared_probes(rec):
    """Floats that print the most digits, as many as an event can have."""
    declared_few(rec, ["sdt e " + "+".join(["8f"] * 16)], struct.pack("<Q16d", 0xFFFF, *[-2.2250738585072011e-308] * 16), 5000)


def declared_lists(rec):
    """A list of very many texts, which must be read to find each field after it."""
    declared_few(rec, ["fstrace e %00 %25J" + "%25d" * 250], struct.pack("<I", 16000) + bytes(4 * 16000 + 1000), 20)


def declared_values(rec):
    """Values that are searched for in lines of many words, in vain."""
    declared_few(rec, ["line e " + "+".join(f"K{k}" for k in range(64))], struct.pack("<q", 5) + b" x" * 30000, 40)


DIRECTORIES = {
    function.__name__.replace("_", "-"): function
    for function in (
        unseen_calls, forked_lines, forks_and_threads, generations, sessions, libraries, modules, overlapping_modules,
        symbols_of_one_address, mangled_names, argument_structs, argument_patterns, debug_lines, information, perf_tasks, perf_tasks_backwards, perf_names, perf_switches, kernel_tasks, kernel_known_task, kernel_calls,
        kernel_names, kernel_formats, proc_children, proc_descriptors, proc_high_descriptor, proc_pipe, proc_inputs, proc_one_file, proc_long_paths, proc_chain_of_names, proc_closes_given, proc_closes, proc_renames, proc_programs, extern_lines,
        declared_events, declared_keys, declared_wide, declared_fields, declared_literal, declared_long_name, declared_same_number, declared_probes,
        declared_lists, declared_values,
    )
}


def write_directory(kind, directory):
    rec = Recording(directory)
    DIRECTORIES[kind](rec)
    rec.done()
