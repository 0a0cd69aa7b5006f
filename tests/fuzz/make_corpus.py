#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets, tests/data/corpus/<target>/*, from real recordings and real files.

usage: make_corpus.py BUILD_DIR [CORPUS_DIR]

Recordings are made with `utrail record` and with Debian's uftrace. They are cut down to a few kilobytes, and
converted to the files of other machines and versions: big-endian, 32-bit, version 3. Inputs that fuzzers have found
stay in the corpus: their names begin with a hash, or with the name of their target.
"""

import lzma
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import kernel  # noqa: E402  (the path is set above)
import tracedat  # noqa: E402
from archive import pack, unpack  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
CORPUS = Path(sys.argv[2]) if len(sys.argv) > 2 else TOP / "tests/data/corpus"
SOURCES = TOP / "tests/e2e/src"
DAT_MAX = 2048
SYM_LINES_MAX = 24


def run(*args, **kw):
    return subprocess.run([str(a) for a in args], capture_output=True, check=False, **kw)


def must(*args, **kw):
    result = run(*args, **kw)
    if result.returncode:
        sys.exit(f"{args}: {result.stderr.decode()}")
    return result.stdout


def save(target, name, data):
    path = CORPUS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# --- recordings ---------------------------------------------------------------------------------------------


def shrink(name, content):
    """Makes a file shorter. The records that are kept still fit together. Lists have a limit, however many functions a library has."""
    if name.endswith(".sym"):
        lines = content.splitlines(keepends=True)
        return b"".join(lines[: SYM_LINES_MAX // 2] + lines[12:][-SYM_LINES_MAX // 2 :])
    if re.fullmatch(r"\d+\.dat", name):
        return content[:DAT_MAX]
    if name.startswith("perf-cpu"):
        at = 0
        while at < min(len(content), 1024):
            at += struct.unpack_from("<H", content, at + 6)[0]
        return content[:at]
    if name == "info":
        return re.sub(rb"((?:arg|ret|enum)auto:.{200})[^\n]*", rb"\1", content)
    return content


def read_dir(path):
    """Reads a recording's files, and replaces the private paths of this machine."""
    return {p.name: shrink(p.name, p.read_bytes().replace(bytes(TOP), b"/src/utrail"))
            for p in sorted(path.iterdir()) if p.is_file()}


def swap_records(data):
    out, at = b"", 0
    while at + 16 <= len(data):
        time, word = struct.unpack_from("<QQ", data, at)
        out += struct.pack(">QQ", time, word)
        at += 16
        if word & 7 == 7 and at + 2 <= len(data):  # an event with data: its length, then 64-bit words
            size = struct.unpack_from("<H", data, at)[0]
            padded = (2 + size + 7) & ~7
            out += struct.pack(">H", size) + data[at + 2 : at + padded]
            at += padded
        # The length of arguments is unknown here, so they are not swapped. The records after them
        # are lost.
    return out


def swap_perf(data):
    out, at = b"", 0
    while at + 8 <= len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        if at + size > len(data) or size < 24:
            break
        body, (pid, tid, time) = data[at + 8 : at + size - 16], struct.unpack_from("<IIQ", data, at + size - 16)
        if kind in (4, 7):
            body = struct.pack(">IIIIQ", *struct.unpack("<IIIIQ", body[:24])) + body[24:]
        elif kind == 3:
            body = struct.pack(">II", *struct.unpack("<II", body[:8])) + body[8:]
        out += struct.pack(">IHH", kind, misc, size) + body + struct.pack(">IIQ", pid, tid, time)
        at += size
    return out


def header_with(info, **changes):
    fields = dict(zip(["version", "size", "endian", "cls", "feat", "info", "stack"],
                      struct.unpack_from("<IHBBQQH", info, 8)))
    fields.update(changes)
    order = ">" if fields["endian"] == 2 else "<"
    return info[:8] + struct.pack(order + "IHBBQQH6x", *fields.values()) + info[40:]


def big_endian(files):
    out = {}
    for name, data in files.items():
        if name == "info":
            data = header_with(data, endian=2)
        elif re.fullmatch(r"\d+\.dat", name):
            data = swap_records(data)
        elif name.startswith("perf-cpu"):
            data = swap_perf(data)
        out[name] = data
    return out


def changed(files, **changes):
    return {**files, "info": header_with(files["info"], **changes)}


def build_programs(work):
    programs = {}
    must("gcc", "-pg", "-shared", "-fPIC", SOURCES / "lib/plugin.c", "-o", work / "libplugin.so")
    for name, flags in (("plain", ["-pg"]), ("threads", ["-pg"]), ("exec", ["-pg", "-mfentry"]),
                        ("fork", ["-finstrument-functions"]), ("arguments", ["-pg", "-g"]),
                        ("dlopen", ["-pg"]), ("recursion", ["-pg"]), ("cplusplus", ["-pg"]), ("longjmp", ["-pg"])):
        source = next(SOURCES.glob(name + ".c*"))
        exe = work / name
        must("g++" if source.suffix == ".cc" else "gcc", *flags, "-O1", source, "-o", exe, "-lpthread", "-ldl")
        programs[name] = exe
    # These are compiled in the work directory, so that their debug information has no path of this
    # machine.
    for source in ("values.c", "shapes.cc"):
        must("cp", SOURCES / "args" / source, work)
        must("g++" if source.endswith(".cc") else "gcc", "-pg", "-g", "-O1", source, "-o", Path(source).stem, cwd=work)
    return programs


def recordings(build, work):
    """Returns {name of the recording: {file: content}}."""
    programs = build_programs(work)
    jobs = [("ours", build / "utrail", name, []) for name in programs]
    jobs += [("ours-args", build / "utrail", name, ["-a", "--srcline"]) for name in ("values", "shapes")]
    if shutil.which("uftrace"):
        jobs += [("uftrace", "uftrace", name, []) for name in ("threads", "exec", "fork", "longjmp")]
        jobs += [("uftrace-args", "uftrace", "arguments", ["-a"]),
                 ("uftrace-args", "uftrace", "values", ["-a"]),
                 ("uftrace-read", "uftrace", "plain", ["-T", "main@read=proc/statm,read=page-fault"]),
                 ("uftrace-cpu", "uftrace", "recursion", ["-W", "cpu"])]
    found = {}
    for tool, program, name, options in jobs:
        out = work / f"{tool}-{name}.data"
        run(program, "record", "-d", out, *options, programs.get(name, work / name), cwd=work)
        if (out / "info").exists():
            found[f"{tool}-{name}"] = read_dir(out)
    return found


def make_datadirs(found):
    for name, files in found.items():
        save("datadir", name, pack(files))
    base = next(files for name, files in found.items() if name.endswith("-threads"))
    times = [struct.unpack_from("<Q", data)[0] for name, data in base.items()
             if re.fullmatch(r"\d+\.dat", name) and len(data) >= 16]
    extern = b"".join(b"%d.%09d message %d\n" % (*divmod(t + 50, 10**9), i) for i, t in enumerate(sorted(times)))
    base = {**base, "extern.dat": b"# a comment\n\n" + extern}
    lost = {name: data + struct.pack("<QQ", 0, 2 | 5 << 3 | 77 << 16) if name.endswith("0.dat") else data
            for name, data in base.items()}
    events = next((f for n, f in found.items() if n.startswith("uftrace-read")), base)
    for name, files in (("extern", base), ("lost", lost), ("big-endian", big_endian(base)),
                        ("big-endian-events", big_endian(events)), ("class32", changed(base, cls=1)),
                        ("version3", changed(base, version=3)),
                        ("user-events", {**changed(events, feat=0x1fff),
                                         "events.txt": b"EVENT: 1000000 sdt:probe\nEVENT: 1000001 sdt:other\n"})):
        save("datadir", name, pack(files))
    save("datadir", "all-events", pack(all_events(events)))
    save("datadir", "kernel-events", pack(with_kernel(base)))
    make_kernel_calls(base)
    make_build(found["ours-plain"])


def all_events(files):
    """A recording of one task, which has an event of each kind within its first call."""
    name = next(n for n, data in files.items() if re.fullmatch(r"\d+\.dat", n) and data)
    out, time = files[name][:16], struct.unpack_from("<Q", files[name])[0]
    numbers = [5, 1000, 2**64 - 3]
    for number in [1, 99999, *range(100001, 100015), *range(200001, 200009), 1000000, 2000000]:
        for count in (0, 1, 2, 3):
            time += 10
            data = struct.pack(f"<{count}Q", *numbers[:count])
            size = struct.pack("<H", len(data)) + data
            size += bytes(-len(size) % 8) if count else b""
            out += struct.pack("<QQ", time, 3 | (4 if count else 0) | 5 << 3 | number << 16) + (size if count else b"")
    return {**changed(files, feat=0x1fff), name: out, "events.txt": b"EVENT: 1000000 sdt:probe\n"}


def kernel_pages(tids, time, big=False):
    """Returns pages with records of each shape: of two tasks, of unknown tasks, of a tracer and of no task; some are long."""
    ids, first, second = kernel.event_ids(), kernel.Page(time, big), kernel.Page(time + 5, big)
    one, other = tids
    order = ">" if big else "<"
    first.record(time, ids["syscalls:sys_enter_clock_nanosleep"], one, kernel.nanosleep(big))
    first.record(time + 7, ids["sched:sched_switch"], one, kernel.sched_switch(("a", one), ("swapper/0", 0), big))
    first.record(time + 20, ids["sched:sched_switch"], 0, kernel.sched_switch(("swapper/0", 0), ("b", other), big))
    first.record(time + 30, ids["raw_syscalls:sys_enter"], other, struct.pack(order + "7Q", *range(7)))
    first.record(time + 40, ids["ftrace:funcgraph_entry"], one, bytes(16))
    first.record(time + 10**9, ids["syscalls:sys_exit_clock_nanosleep"], one, struct.pack(order + "iiq", 230, 0, 0))
    second.record(time + 5, ids["sched:sched_process_exec"], one,
                  struct.pack(order + "HHii", 20, 200, one, one) + b"/bin/" + b"x" * 195)
    second.record(time + 6, ids["kmem:kmalloc"], one, struct.pack(order + "QQQQIi", 1, 2, 64, 64, 0xcc0, -1))
    second.record(time + 7, ids["timer:hrtimer_expire_entry"], other, struct.pack(order + "QqQ", 3, 99, 4))
    second.record(time + 8, 4242, one, b"nobody")
    return first.pack() + second.pack(missed=77)


def make_kernel():
    for name, big in (("real-formats", False), ("big-endian", True)):
        head = kernel.header(big)
        save("kernel", name, struct.pack("<H", len(head)) + head + kernel_pages((1, 2), 1000, big))
    head = kernel.header(only=["sched:sched_switch"])
    page = kernel.Page(5).record(9, kernel.event_ids()["sched:sched_switch"], 1, kernel.sched_switch(("a", 1), ("b", 2)))
    save("kernel", "one-record", struct.pack("<H", len(head)) + head + page.pack())
    tree = (b"ID: 7\nname: x\nformat:\n\tfield:int common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
            b"\tfield:__data_loc u8[] d;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:u32 n;\toffset:12;\tsize:4;\tsigned:0;\n"
            b"\nprint fmt: \"%s %*s %d %s %s\", __print_hex(__get_dynamic_array(d), REC->n), REC->n, __get_str(d), "
            b"5 / REC->n, __print_array(__get_dynamic_array(d), REC->n, 4), ((u32 *)__get_dynamic_array(d))[REC->n]\n")
    head = b"PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\nTRACEFS: events/a/x/format: %d\n" % len(tree) + tree
    page = kernel.Page(5).record(9, 7, 1, struct.pack("<II", 0xffffffff, 0xffffffff))
    page.record(10, 7, 1, bytes(8))
    save("kernel", "risky-format", struct.pack("<H", len(head)) + head + page.pack())


def with_kernel(files):
    """Adds tracepoints of the first two tasks to a recording."""
    tids = sorted(int(name[:-4]) for name, data in files.items() if re.fullmatch(r"\d+\.dat", name) and data)
    time = struct.unpack_from("<Q", files[f"{tids[0]}.dat"])[0]
    feat = struct.unpack_from("<Q", files["info"], 16)[0]
    events = ["sched:sched_switch", "raw_syscalls:sys_enter", "syscalls:sys_enter_clock_nanosleep"]
    return {**changed(files, feat=feat | 4), "kernel_header": kernel.header(only=events),
            "kernel-cpu0.dat": kernel_pages((tids * 2)[:2], time + 1)}


KERNEL_FUNCS = {name: 0xFFFFFFFF81000000 + 0x100 * i for i, name in enumerate(("x64_sys_call", "vfs_read", "up_read", "handle_mm_fault", "irq_enter_rcu"))}


def kernel_calls_page(time, tid, calls, missed=None):
    """A page of calls: (microseconds since @time, '+' or '-', name of the function, depth)."""
    ids, page = kernel.event_ids(), kernel.Page(time + 1000 * calls[0][0])
    for us, what, name, depth in calls:
        kind, fields = ("funcgraph_entry", kernel.graph_entry) if what == "+" else ("funcgraph_exit", kernel.graph_exit)
        page.record(time + 1000 * us, ids[f"ftrace:{kind}"], tid, fields(KERNEL_FUNCS[name], depth))
    return page.pack(missed)


def make_kernel_calls(files):
    """A recording with calls of the kernel: outside of functions, nested, with lost returns and lost records, and of two tasks."""
    tids = sorted(int(name[:-4]) for name, data in files.items() if re.fullmatch(r"\d+\.dat", name) and data)
    first = struct.unpack_from("<Q", files[f"{tids[0]}.dat"])[0]
    feat = struct.unpack_from("<Q", files["info"], 16)[0]
    nested = [(250, "+", "x64_sys_call", 0), (260, "+", "vfs_read", 1), (300, "+", "up_read", 2), (310, "-", "up_read", 2),
              (450, "-", "vfs_read", 1), (460, "-", "x64_sys_call", 0), (550, "+", "handle_mm_fault", 0), (570, "-", "handle_mm_fault", 0)]
    before = [(-60, "+", "irq_enter_rcu", 0), (-55, "+", "up_read", 1), (-52, "-", "up_read", 1), (-50, "-", "irq_enter_rcu", 0)]
    torn = [(700, "-", "up_read", 2), (710, "+", "x64_sys_call", 0), (720, "+", "vfs_read", 1), (740, "+", "up_read", 2),
            (800, "+", "handle_mm_fault", 0), (830, "-", "handle_mm_fault", 0), (2400, "+", "x64_sys_call", 0)]
    of_other = [(151, "+", "irq_enter_rcu", 0), (153, "+", "up_read", 1), (154, "-", "up_read", 1), (158, "-", "irq_enter_rcu", 0)]
    symbols = "".join(f"{addr:016x} T {name}\n" for name, addr in KERNEL_FUNCS.items())
    save("datadir", "kernel-calls", pack({
        **changed(files, feat=feat | 4), "kernel_header": kernel.header(only=["ftrace:funcgraph_entry", "ftrace:funcgraph_exit"]),
        "kallsyms": symbols.encode(),
        "kernel-cpu0.dat": kernel_calls_page(first, tids[0], before + nested) + kernel_calls_page(first, tids[0], torn, missed=77),
        "kernel-cpu1.dat": kernel_calls_page(first, tids[2], of_other)}))


def make_build(files):
    """A recording of processes: a shell with a pipe, a compiler, a linker that is killed, a thread, and each kind of act."""
    out, now = b"", 1000 * 10**9

    def put(kind, tid, pid, payload):
        nonlocal out, now
        now += 1000 if kind != 64 else 0
        out += struct.pack("<QiiII", now + (1000 if kind == 64 else 0), tid, pid, kind, len(payload)) + payload + bytes(-len(payload) % 8)

    def texts(head, *parts):
        return struct.pack(f"<{len(head) + len(parts)}I", *head, *map(len, parts)) + b"".join(parts)

    def act(kind, pid, numbers=(), *parts, tid=None):
        parts += (b"",) * (3 - len(parts))
        put(kind, tid or pid, pid, texts([*numbers, 0, 0, 0][:3], *parts))

    def fork(pid, child, child_pid=None, how=1, flags=0):
        put(1, pid, pid, struct.pack("<iiIQ", child, child_pid or child, how, flags))

    def program(pid, path, *args, cwd=b"/w", real=None):
        put(2, pid, pid, texts([pid], real or path, path, cwd, b"".join(arg + b"\0" for arg in args)))
        for fd, name in enumerate((b"/dev/null", b"/w/out", b"/w/out")):
            act(14, pid, (fd, 2 if fd else 0), name)

    def end(pid, status=0, tid=None):
        put(3, tid or pid, pid, struct.pack("<I", status))

    put(64, 100, 100, struct.pack("<I", 1))
    program(100, b"/w/make.sh", b"sh", b"make.sh", real=b"/usr/bin/dash")
    act(16, 100, (), b"PATH=/bin\0LANG=C\0")
    act(15, 100, (), b"maker")
    act(4, 100, (3, 0), b"/w/make.sh", b"make.sh")
    act(7, 100, (4, 5, 0o2000000))
    fork(100, 101, how=3, flags=17)
    put(64, 101, 101, struct.pack("<I", 0))
    act(6, 101, (5, 1))
    act(5, 101, (4, 5))
    program(101, b"/usr/bin/cat", b"cat", b"a.h")
    act(14, 101, (1, 1), b"pipe:[7]")
    act(4, 101, (3, 0), b"/w/a.h")
    act(5, 101, (3, 3))
    end(101)
    fork(100, 102, how=2)
    act(6, 102, (4, 0))
    program(102, b"/usr/bin/cc", b"cc", b"@args", b"-c", b"-o", b"a.o", b"a.c")
    act(65, 102, (), b"args", b"-O2 -DNAME=\"a b\"\n")
    act(14, 102, (0, 0), b"pipe:[7]")
    act(4, 102, (3, 0), b"/w/a.c", b"./a.c")
    act(4, 102, (4, 0), b"/w/a.h")
    act(4, 102, (5, 0o1101, 0o644), b"/w/a.o")
    act(5, 102, (3, 5, 4))
    end(102)
    fork(100, 103, child_pid=100, how=3, flags=0x3D0F00)
    act(15, 100, (), b"a thread", tid=103)
    act(4, 100, (6, 0o2001), b"/w/log", tid=103)
    act(5, 100, (6, 6), tid=103)
    end(100, tid=103)
    fork(100, 104)
    program(104, b"/usr/bin/ld", b"ld", b"-o", b"prog", b"a.o", cwd=b"/w/sub")
    act(4, 104, (3, 0), b"/w/a.o", b"/w/sub/../a.o")
    act(4, 104, (4, 0o302, 0o755), b"/w/prog.tmp")
    act(8, 104, (1, 1), b"/w/prog.tmp", b"/w/prog")
    act(9, 104, (0, 1), b"/w/prog", b"/w/prog2")
    act(10, 104, (), b"prog", b"/w/newest", b"/w/prog")
    end(104, 9)
    act(11, 100, (), b"/w/a.o")
    act(11, 100, (0x200,), b"/w/sub")
    act(12, 100, (4096,), b"/w", b"/mnt", b"none")
    act(13, 100, (2,), b"/mnt")
    act(17, 100, (4, 1, 2), b"/w/x", b"/w/y")
    act(18, 100, (0x400, 1, 17), b"/w/x", b"/w/prog")
    act(20, 100, (0, 0, 1), b"/dev/sda", b"/mnt", b"ext4")
    act(21, 100, (0, 0, 22), b"/mnt")
    act(22, 100, (0x10000, 0, 11))
    act(4, 100, (7, 0o10000000), b"/w/out (deleted)")
    end(100, 3 << 8)
    end(100, 3 << 8, tid=105)
    names = b'SESS timestamp=1000.000000500 pid=100 sid=0123456789abcdef exename="/usr/bin/dash"\nTASK timestamp=1000.000000500 tid=100 pid=100\n'
    save("datadir", "processes", pack({"info": files["info"], "task.txt": names, "default.opts": b"--event-full\n", "proc.dat": out}))


def make_compact(build, work, found):
    """Recordings in the compact form, their files, and the records that are packed in these."""
    for name in ("ours-threads", "ours-arguments", "ours-fork"):
        files = found.get(name)
        if not files:
            continue
        unpack(files, work / f"plain-{name}")
        must(build / "utrail", "convert", "--compact", "-d", work / f"plain-{name}", work / f"compact-{name}")
        compact = read_dir(work / f"compact-{name}")
        save("datadir", f"compact-{name}", pack(compact))
        for file, data in compact.items():
            if file.endswith(".cdat") and data:
                save("compact", f"file-{name}", b"\0" + data)
                save("compact", f"body-{name}", b"\1" + struct.pack("<HBH", 2047, 9, 200) + data[48:])
                save("compact", f"torn-{name}", b"\0" + data[48:] + data + data[:-1])
        for file, data in files.items():
            if re.fullmatch(r"\d+\.dat", file) and data:
                save("compact", f"packed-{name}", b"\2" + data)


def declared_entry(time_ns, number, payload, flags=0):
    return struct.pack("<QIHH", time_ns, number, flags, len(payload)) + payload + bytes(-len(payload) % 8)


def make_imported(files, name, records, names):
    """A recording with declared events from lines of a log: with keys, with a payload that is too short, and with bytes that no line has."""
    beside = b""
    for time_ns, word in struct.iter_unpack("<QQ", records):
        number = word >> 16
        line = [b" NR=1 WHAT=a+box NR=2", b"", b"KEY=\0\n\x1b[5m =x"][number % 3]
        if word & 3 == 3:
            beside += declared_entry(time_ns, number, struct.pack("<q", time_ns // 1000 - (number % 3 << 61))[number % 3 == 1:] + line)
    defs = b"DECLARED: 1000000 line SOLD NR+WHAT\nDECLARED: 1000001 line A+B %\nDECLARED: 1000002 line QUIET KEY+KEY++%22%3E+WHAT\n"
    save("datadir", "ours-imported", pack({**files, name: records, name[:-4] + ".evt": beside, "events.txt": names, "events.def": defs,
                                           "default.opts": b"--event-full\n"}))


def make_declared(files):
    """A recording in which each call has an event. Three events take turns: one with values, one with a text that is cut, and one without a payload."""
    (name,) = (name for name in files if name.endswith(".dat") and name[0].isdigit() and files[name])
    records, beside, nr = b"", b"", 0
    for time_ns, word in struct.iter_unpack("<QQ", files[name]):
        records += struct.pack("<QQ", time_ns, word)
        if word & 3:
            continue
        number = 1000000 + nr % 3
        records += struct.pack("<QQ", time_ns, 3 | 5 << 3 | number << 16)
        text = struct.pack("<I", 5) + b"a box"
        payload = [struct.pack("<i", nr) + text, text[:-1], None][nr % 3]
        if payload is not None:
            beside += declared_entry(time_ns, number, payload, nr % 3)
        nr += 1
    info = bytearray(files["info"])
    struct.pack_into("<Q", info, 16, struct.unpack_from("<Q", info, 16)[0] | 1 << 7)
    names = b"EVENT: 1000000 trace:SOLD\nEVENT: 1000001 trace:A_B\nEVENT: 1000002 trace:QUIET\n"
    defs = (b"CLOCK: 1700000000000000000\nDECLARED: 1000000 fstrace SOLD %00 NR=%25d+WHAT=%25s\n"
            b"DECLARED: 1000001 fstrace A+B %25L %25s\nDECLARED: 1000002 fstrace QUIET %00 %\n")
    save("datadir", "ours-declared", pack({**files, "info": bytes(info), name: records, name[:-4] + ".evt": beside, "events.txt": names,
                                           "events.def": defs}))
    for seed, data in (("declared", beside), ("declared-torn", beside[:-3]), ("declared-late", beside[40:] + beside)):
        save("record", seed, b"\x08" + struct.pack("<H", len(data)) + data + records)
    make_imported({**files, "info": bytes(info)}, name, records, names)
    same = b"".join(declared_entry(7, 1000000 + i, bytes(i * 9)) for i in range(20))
    events = b"".join(struct.pack("<QQ", 7, 3 | 5 << 3 | (1000000 + i) << 16) for i in (0, 3, 2, 5, 19))
    save("record", "declared-same-time", b"\x0a" + struct.pack("<H", len(same)) + same + events)


def make_probed(files):
    """A recording in which each call has an event of a static probe. Three events take turns: one with integers, one with floating-point numbers and a missing value, and one with a cut payload."""
    (name,) = (name for name in files if name.endswith(".dat") and name[0].isdigit() and files[name])
    records, beside, nr = b"", b"", 0
    for time_ns, word in struct.iter_unpack("<QQ", files[name]):
        records += struct.pack("<QQ", time_ns, word)
        if word & 3:
            continue
        number = 1000000 + nr % 3
        records += struct.pack("<QQ", time_ns, 3 | 5 << 3 | number << 16)
        payload = [struct.pack("<QqQ", 3, -nr, 2**64 - 1 - nr), struct.pack("<QdfIQ", 3, nr / 3, nr / 7, 0, nr), struct.pack("<QQ", 3, nr)][nr % 3]
        beside += declared_entry(time_ns, number, payload)
        nr += 1
    info = bytearray(files["info"])
    struct.pack_into("<Q", info, 16, struct.unpack_from("<Q", info, 16)[0] | 1 << 7)
    names = b"EVENT: 1000000 app:paid\nEVENT: 1000001 app:paid\nEVENT: 1000002 app:cut\n"
    defs = (b"CLOCK: 1700000000000000000\nDECLARED: 1000000 sdt app:paid -4+8\n"
            b"DECLARED: 1000001 sdt app:paid 8f+4f+%3F\nDECLARED: 1000002 sdt app:cut 1+-2\n")
    save("datadir", "ours-probed", pack({**files, "info": bytes(info), name: records, name[:-4] + ".evt": beside, "events.txt": names,
                                         "events.def": defs}))


def make_files(found):
    """Files of the recordings are the seeds of the codecs' targets."""
    for name, files in found.items():
        if name.split("-")[-1] not in ("threads", "exec", "arguments", "plain"):
            continue
        save("header", name, files["info"][:40])
        save("info", name, files["info"][40:])
        save("task_txt", name, files["task.txt"])
        for file, data in files.items():
            if file.endswith(".map"):
                save("map", name, data)
            elif file.endswith(".sym") and data.count(b"\n") > 5:
                save("sym", f"{name}-{file[:12]}", data)
            elif re.fullmatch(r"\d+\.dat", file) and data:
                save("record", name, b"\0" + data)
                save("record", name + "-big", b"\1" + swap_records(data))
            elif file == "proc.dat" and data:
                save("proc", name, b"\0" + data)
            elif file.startswith("perf-cpu") and data:
                save("perf", name, b"\0" + data)
                save("perf", name + "-big", b"\1" + swap_perf(data))
    acts = b""
    for kind in range(4, 17):
        payload = struct.pack("<6I", 3, 0o2000102, 0o644, 4, 0, 3) + b"/a\nb" + b"A=1"
        acts += struct.pack("<Q4I", kind, 1, 1, kind, len(payload)) + payload + bytes(-len(payload) % 8)
    save("proc", "acts", b"\0" + acts)
    cpu = struct.pack("<Q6I", 4, 1, 1, 64, 4, 3, 0)
    save("proc", "cpus", b"\0" + cpu + acts[:56])
    save("header", "big", header_with(found["ours-plain"]["info"], endian=2)[:40])
    save("header", "version3", header_with(found["ours-plain"]["info"], version=3, cls=1)[:40])
    save("sym", "sizes", b"# symbols: 2\n# path name: /bin/x\n# build-id: 1234abcd\n"
         b"0000000000001000 00000010 T main\n0000000000001010 00000020 P puts\n0000000000001010 00000020 t _z\n")
    dlopen = (b"SESS timestamp=1.000000001 pid=10 sid=0123456789abcdef exename=\"/bin/a\"b\"\n"
              b"TASK timestamp=1.000000002 tid=11 pid=10\nFORK timestamp=1.5 pid=12 ppid=10\n"
              b"DLOP timestamp=2.000000000 tid=10 sid=0123456789abcdef base=7f0000001000 libname=\"./libx.so\"\n")
    save("task_txt", "dlopen", dlopen)
    save("extern", "lines", b"# comment\n\n1.000000001 first\n2.5 second message\n18446744073.709551615 last")


# --- objects ------------------------------------------------------------------------------------------------

C = """
extern int puts(const char *); extern void *malloc(unsigned long);
static int counter; int object = 3; __attribute__((weak)) int weak_function(int x) { return x + counter; }
static __attribute__((noinline)) int local_function(int x) { counter += x; return puts("x") + weak_function(x); }
int function(int x) { return local_function(x) + (malloc(1) != 0); }
"""


PROBES = """
#include <sys/sdt.h>
extern int puts(const char *);
unsigned short seed_two_semaphore __attribute__((section(".probes")));
struct guard { int *p; ~guard() { *p = 0; } };
int f(int n) { int k = n; guard g = { &k }; DTRACE_PROBE1(seed, one, n); if (n) puts("x"); DTRACE_PROBE(seed, three); return k; }
int g(int n)
{
    switch (n) {
    case 0: DTRACE_PROBE(seed, four); return puts("a");
    case 1: DTRACE_PROBE(seed, four); return puts("b") + 1;
    case 2: DTRACE_PROBE(seed, five); DTRACE_PROBE(seed, six); return 7;
    case 3: return 5;
    case 4: return puts("d") * n;
    }
    return f(n);
}
"""


def make_probes(work):
    """A program with notes, a table of landing pads and a switch. The same program stripped, as an object, and with its notes cut."""
    source = work / "probes.cc"
    source.write_text(PROBES)
    small = ["-O2", "-fno-omit-frame-pointer", "-fPIC", "-nostdlib", "-Wl,-z,noseparate-code", "-Wl,--unresolved-symbols=ignore-all"]
    must("g++", *small, "-shared", source, "-o", work / "probes.so")
    must("g++", *small, "-c", source, "-o", work / "probes.o")
    must("clang++", "-Os", *small[2:], "-shared", source, "-o", work / "probes-clang.so")
    must("strip", work / "probes.so", "-o", work / "probes-stripped.so")
    for name in ("probes.so", "probes.o", "probes-clang.so", "probes-stripped.so"):
        save("sdt", name, (work / name).read_bytes())
    raw = bytearray((work / "probes.so").read_bytes())
    at = raw.index(b"stapsdt\0")
    raw[at - 8] = 0xFF
    save("sdt", "long-note", bytes(raw))


def make_objects(work):
    source = work / "object.c"
    source.write_text(C)
    small = ["-nostdlib", "-Wl,-z,noseparate-code", "-Wl,--build-id", "-Wl,--hash-style=gnu"]
    jobs = {
        "x86_64.so": ["gcc", "-O1", "-pg", "-shared", "-fPIC", *small, "-Wl,-z,lazy"],
        "noplt.so": ["gcc", "-O1", "-fno-plt", "-shared", "-fPIC", *small, "-fcf-protection"],
        "exec": ["gcc", "-O1", "-static", "-nostdlib", "-Wl,-z,noseparate-code", "-Wl,--unresolved-symbols=ignore-all",
                 "-Wl,-e,function"],
        "x86_64.o": ["gcc", "-O1", "-c", "-ffunction-sections"],
        "i386.o": ["clang", "-m32", "-c", "-O1"],
        "aarch64.o": ["clang", "--target=aarch64-linux-gnu", "-c", "-O1"],
        "arm-big.o": ["clang", "--target=armeb-linux-gnueabi", "-c", "-O1"],
        "riscv64.o": ["clang", "--target=riscv64-linux-gnu", "-c", "-O1"],
    }
    for name, command in jobs.items():
        out = work / name
        result = run(*command, source, "-o", out)
        if result.returncode == 0:
            save("elf", name, out.read_bytes())
    so = work / "x86_64.so"
    must("objcopy", "--only-keep-debug", so, work / "debug")
    (work / "debug.xz").write_bytes(lzma.compress((work / "debug").read_bytes()))
    must("objcopy", "--strip-all", so, work / "stripped.so")
    must("objcopy", f"--add-section=.gnu_debugdata={work}/debug.xz", work / "stripped.so", work / "mini.so")
    must("objcopy", f"--add-gnu-debuglink={work}/debug", work / "stripped.so", work / "link.so")
    for name in ("stripped.so", "mini.so", "link.so"):
        save("elf", name, (work / name).read_bytes())
    save("elf", "script", b"#! /bin/sh -e\necho\n")
    text = so.read_bytes()[:3000]
    save("xz", "default", lzma.compress(text))
    save("xz", "crc32", lzma.compress(text, check=lzma.CHECK_CRC32, preset=9))
    save("xz", "bcj", lzma.compress(text, filters=[{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 1}]))
    save("xz", "two", lzma.compress(text[:300]) + lzma.compress(text[300:600]))
    save("xz", "lzma", lzma.compress(text, format=lzma.FORMAT_ALONE))
    save("xz", "zeros", lzma.compress(bytes(2 << 20)))


def make_names(work):
    names = set(re.findall(r"_[ZR]\w+", must("nm", work / "cplusplus").decode()))
    names |= set(re.findall(r'"(_[ZR][\w.$@]+)"', (TOP / "tests/unit/utils/object/names/test_demangle.c").read_text()))
    names |= {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "_RNvC6_123foo3bar", "main", "_Z",
              "_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZZN1A1fEvENKUlT_E_clIiEEDaS0_", "_GLOBAL__sub_I_main"}
    for name in sorted(names)[:120]:
        save("demangle", re.sub(r"\W", "_", name)[:60], name.encode())


# --- words of users, messages of programs --------------------------------------------------------------------


def make_words():
    lines = ["replay -f +module,time --flat --tid=1,2;3 -t 1.5ms", "report -s total,func -f all --avg-self --csv",
             "record -D 3 -b 4M --clock=mono_raw --max-stack 10 -- prog -x", "replay -r 1us~2ms",
             "replay -r 146.307278384~ -Z 128k --column-offset=3", "info --symbols --demangle full", "dump -vv --no-event",
             "--debug-domain=mcount:2,symbol --color=auto live --report", "report --task --format=csv", "-h", "--vers"]
    for i, line in enumerate(lines):
        save("words", f"line-{i}", line.replace(" ", "\n").encode())
    for i, word in enumerate(["1.5ms", "1min", "999", "0.0000000001s", "18446744073709551615", "128k", "1.5g", "~5us", "1.2~"]):
        save("words", f"word-{i}", word.encode())


def make_specs():
    """The first byte is the number of the option (7: signals, watches, words) plus 8 times the way in which names are matched."""
    filters = ["main", "!ns::.*$;bar2", "f@depth=2,time=1.5ms,size=1k", "f@if:arg1==5&&arg2/u32>0x10||retval=~\"^a\"",
               "f@libc,hide,caller", "f@plt", "f@kernel", "f@clear=depth+if", "^a(b|c)[x-z]{1,3}\\\\.d+", "f[", "@", "f@,"]
    triggers = ["f@trace_on;g@traceoff,color=red,backtrace", "f@read=proc/statm,read=pmu-cycle,finish", "f@arg1/s,fparg2/32%xmm1,retval",
                "f@recover,callsite,auto-args", "f@if:fparg1>=1.5e3", "f@if:arg2/s^=\"a;b,c\"", "f@colour=red", "f@depth=1025"]
    for i, text in enumerate(filters):
        save("spec", f"filter-{i}", bytes([0]) + text.encode())
    for i, text in enumerate(triggers):
        save("spec", f"trigger-{i}", bytes([1]) + text.encode())
    for i, text in enumerate(["src/lib", "!a.c", "a.c@hide"]):
        save("spec", f"location-{i}", bytes([4]) + text.encode())
    for i, text in enumerate(["f*", "*::[gh]oo?"]):
        save("spec", f"glob-{i}", bytes([8]) + text.encode())
    for i, text in enumerate(["USR1@trace_on;RTMIN+2@finish;10@traceoff", "cpu;var:foo", "-F 'a b' # c\\n\"d\\\"e\""]):
        save("spec", f"other-{i}", bytes([7]) + text.encode())


def make_dwarf():
    """Trees of entries in the form of fuzz_dwarf.c. Entry 0 is the unit, and the entries after it are numbered in their order."""
    struct_, member, func, param, base, union, derived, array, subrange = 0, 1, 2, 3, 4, 6, 7, 8, 9
    space = 16
    children, many, end = 64, 128, b"\x3f"

    def entry(tag, values=b"", which=0):
        return bytes([tag]) + struct.pack("<H", which) + values

    def ref(number):
        return struct.pack("<H", number)

    def call(kind):
        """A function with a parameter of type @kind."""
        return entry(func | children, b"\0" + ref(kind)) + entry(param, b"\x09" + ref(kind)) + end

    def named(kind, *rest):
        return entry(kind | children, b"\x01\x04") + b"".join(rest) + end

    field, nameless, parent = (b"\x09", 0), (b"", 1), (b"", 1)
    for name, tag, (text, which) in [("holds-itself", member, field), ("holds-itself-nameless", member, nameless), ("is-its-parent", derived, parent)]:
        one = entry(tag, text + ref(1), which)
        save("dwarf", name, named(struct_, one) + call(1))
        save("dwarf", name + "-often", named(struct_, one * 40) + call(1))
    nested = [named(struct_, entry(member, b"\x09" + ref(1 + (i + 1) * 3), 0) + entry(member, b"\x09" + ref(1 + (i + 1) * 3), 0)) for i in range(40)]
    save("dwarf", "twice-as-many-each", b"".join(nested) + named(struct_) + call(1))
    save("dwarf", "array-of-itself", entry(array | children, ref(1), 1) + entry(subrange, b"\x03", 3) + end + named(struct_, entry(member, b"\x09" + ref(1))) + call(3))
    save("dwarf", "sibling-behind", entry(struct_ | children, b"\x01\x04" + ref(1), 256) + entry(member, b"\x09" + ref(1) + ref(1), 256) + end + call(1))
    save("dwarf", "deep", entry(space | children | many, b"\xff" + b"\x07", 2) + call(1))
    save("dwarf", "many", entry(struct_ | children, b"\x01\x04") + entry(member | many, b"\xff" + b"\xff" + ref(1)) + end + call(1))
    save("dwarf", "middle", named(struct_, entry(member, b"\x09" + ref(0x8801))) + call(0x9001))
    save("dwarf", "plain", entry(base, b"\x04\x01\x0f") + named(union, entry(member, b"\x09" + ref(1))) + call(1) + call(2))


def make_patterns():
    def pattern(text, names, how=0):
        return bytes([how, len(text)]) + text + names[0].ljust(24, b"a") + b"".join(bytes([len(n)]) + n for n in names[1:])

    many_a = b"a" * 23
    texts = {
        "reference": rb"(a*)\1x", "many-references": rb"(a*)(a*)(a*)\3\2\1b", "stars-in-stars": b"((a*)*)*b", "alternatives": b"(a|aa)+$",
        "copies": b"(a|b)*a(a|b){200}", "too-many": b"((a{200}){200}){200}", "words": rb"\<a\b.\B_\>", "brackets": b"[]a-c^-][^]][---]",
        "classes": b"[[:alpha:]_][[=a=]][[.-.]]", "bad-bracket": b"a[b", "bad-group": b"(a", "bad-start": b"*a", "anchors": b"(^a|b$)|^$",
    }
    for name, text in texts.items():
        save("pattern", name, pattern(text, [many_a, b"abab", b"ab_ab a", b"]-"]))
    save("pattern", "parts", pattern(bytes(range(31)), [b"ab", b"a", b"b_"], 5))


def make_structs():
    """For each key a shape and the bytes of its fields (kind, how, ...). Kind 0 is struct K0, kind 10 is struct K1. With 2 as its how, a field has 24 bytes."""
    save("structs", "holds-itself", bytes([1, 0, 2]))
    save("structs", "holds-itself-often", bytes([40]) + bytes([0, 2]) * 40)
    save("structs", "ring-of-two", bytes([3, 10, 2, 10, 2, 10, 2, 3, 0, 2, 0, 2, 0, 2]))
    save("structs", "empty-ones", bytes([30]) + bytes([10, 12, 255]) * 30 + bytes([128, 0]))
    save("structs", "all-kinds", bytes([10]) + bytes(v for kind in range(10) for v in (kind, 0)) + bytes([1, 4, 8, 3]))


def make_control():
    """Steps of fuzz_control.c: the first byte of each is the process and the message."""
    hello, module, ready, crash, close, anything, end, announce, message, status, declare, call = range(12)
    fresh, fork, dlopen, ending, events, names = 1, 2, 3, 6, 9, 10
    wrong_secret, wrong_pid, no_token = 1, 2, 4

    def step(who, what, *args):
        return bytes([what * 6 + who, *args])

    def talk(who, kind, how=0, modules=()):
        return (step(who, hello, kind, how) + b"".join(step(who, module, m, i, 1) for i, m in enumerate(modules))
                + step(who, ready))

    start = b"\1" + talk(0, fresh, no_token, [0x18, 0x19])
    save("control", "exec", start)
    save("control", "exec-twice", start + talk(0, fresh, no_token, [0x18]) + step(0, announce, 0, 0))
    save("control", "no-modules", b"\0" + talk(0, fresh, no_token))
    save("control", "fork", start + talk(1, fork) + step(1, announce, 0, 0) + step(0, end, 0) + step(0, end, 1))
    save("control", "fork-of-nobody", b"\0" + talk(0, fork) + talk(1, fork, no_token))
    save("control", "fork-of-itself", start + talk(0, fork))
    save("control", "fork-after-exec", start + talk(0, fresh, no_token, [0x18]) + talk(1, fork, 1 << 3) + step(0, announce, 0, 1))
    save("control", "chain", start + talk(1, fork) + talk(2, fork) + step(2, announce, 0, 0))
    save("control", "dlopen", start + talk(0, dlopen, 0, [0x18, 0x1a]) + talk(1, dlopen, 0, [0x18]))
    save("control", "dlopen-of-others", start + talk(1, fresh, no_token) + talk(1, dlopen, 1 << 3, [0x18]))
    save("control", "crash", start + step(0, hello, ending, 0) + step(0, crash, 0) + step(0, hello, ending, 0) + step(0, crash, 1))
    save("control", "crash-unasked", b"\0" + start[1:] + step(0, hello, ending, 0) + step(0, crash, 0))
    save("control", "lies", b"\0" + talk(0, fresh, wrong_secret) + talk(1, fresh, wrong_pid) + talk(2, fresh, wrong_secret | wrong_pid))
    save("control", "wrong-order", b"\0" + step(0, ready) + step(1, module, 0x18, 0, 0) + step(2, crash, 0) + step(0, hello, 4, 4)
         + step(1, hello, fresh, 4) + step(1, hello, fresh, 4))
    save("control", "interleaved", b"\0" + step(0, hello, fresh, 4) + step(3, hello, fresh, 4) + step(1, hello, fresh, 4)
         + step(0, module, 0x18, 0, 0) + step(1, ready) + step(3, ready) + step(0, ready) + step(4, close))
    save("control", "anything", start + step(1, anything, 3, 0) + b"abc" + step(1, anything, 0, 0) + step(2, anything, 8, 0)
         + struct.pack("<HHI", 0x7554, 3, 4))
    header = struct.pack("<HHHHII", 0x7554, 3, 7, 0, 16, 9)
    save("control", "raw-ready", start + step(0, hello, fresh, no_token) + step(0, anything, 16, 0) + header)
    save("control", "declare", start + b"".join(step(0, hello, events, 0) + step(0, declare, how) + step(0, close) for how in (0, 1, 6, 0)))
    save("control", "declare-wrong", start + step(0, declare, 0) + step(1, hello, events, no_token) + step(1, declare, 0)
         + b"".join(step(who, hello, events, 0) + step(who, declare, how) + step(who, declare, 0) for who, how in ((0, 3), (1, 2), (2, 4), (3, 8), (4, 0))))
    for options, name in (1, "callable"), (3, "callable-by-filters"):
        save("control", name, bytes([options]) + start[1:] + step(0, hello, names, 0)
             + b"".join(step(0, call, which, how) for which in range(4) for how in (0, 2, 255, 0)))
    save("control", "callable-wrong", b"\3" + start[1:] + step(0, call, 0, 0) + step(1, hello, names, no_token) + step(1, call, 0, 0)
         + b"".join(step(who, hello, names, 0) + step(who, call, which, 2) for who, which in ((0, 4), (3, 5), (0, 6), (3, 7)))
         + step(0, hello, names, 0) + step(0, call, 1, 0) + step(0, module, 0x18, 0, 1) + step(3, hello, names, 0) + step(3, ready))
    save("control", "questions", start + step(0, status) + step(1, status) + step(1, hello, fresh, no_token) + step(1, status) * 3)
    optional, answer = 1, 2
    save("control", "skipped", b"\0" + step(0, hello, fresh, no_token) + step(0, message, 200, optional, 3) + b"abc" + step(0, ready)
         + step(0, message, 0, optional | answer, 0) + step(0, status))
    save("control", "strange", b"\0" + step(0, hello, fresh, no_token) + step(0, message, 200, 0, 0) + step(0, ready)
         + step(1, message, 200, optional, 0) + step(2, hello, fresh, no_token) + step(2, message, 7, answer, 8) + bytes(8))


def make_rings():
    def ring(state, tid, head, used=(), content=b"", payloads=0):
        owner = struct.pack("<IiQI44x", state, tid, 1000, payloads)
        producer = struct.pack("<QQQII32x", head, 3, 1, 0, 0)
        consumer = struct.pack("<QII48x", 0, 0, 0)
        return owner + producer + consumer + struct.pack("<64I", *used, *[0] * (64 - len(used))) + content.ljust(256, b"\0")

    def arena(nr=3):
        return struct.pack("<QIIIIQII", 0x616E6572412E7475, nr, 8, 4096, 0, 4096 + 8 * 4096, nr, 0)

    record = struct.pack("<QQ", 1000, 5 << 3 | 0x1234 << 16)
    few = arena() + ring(2, 7, 32, content=record * 2) + ring(1, 8, 16, content=record) + ring(0, 0, 0)
    save("ring", "few", few)
    save("ring", "twice", few + few)
    save("ring", "segments", arena() + ring(2, 7, 4096 * 3 + 16, (4096, 4080, 4096), record * 16) +
         ring(1, 8, 4096 * 8, [4096] * 8, record * 16) + ring(3, 0, 0))
    entry = declared_entry(1000, 1000000, b"12345678")
    save("ring", "payloads", 2 * (arena() + ring(2, 7, 32, content=record * 2, payloads=3) + ring(1, 8, 16, content=record)
                                  + ring(4, 0, 48, content=entry * 2)))
    save("ring", "payloads-of-others", arena() + ring(2, 7, 32, content=record * 2, payloads=2) +
         ring(1, 8, 16, content=record, payloads=3) + ring(1, 9, 16, content=record, payloads=1 << 31) +
         arena() + ring(2, 7, 32, content=record * 2, payloads=3) + ring(1, 8, 16, payloads=3) + ring(4, 0, 48, payloads=3))
    save("ring", "head-too-far", arena() + ring(2, 7, 1 << 63, (4096,), record) + ring(1, -1, 64) + ring(1, 0, 64))


def make_plans():
    def image(*sections):
        at = 16 + 24 * len(sections)
        directory = struct.pack("<IIQ", 0x4E414C50, len(sections), 0)
        content = b""
        for kind, size, entries in sections:
            directory += struct.pack("<IIQQ", kind, size, len(entries) // size, at + len(content))
            content += entries
        return directory + content

    none = 0xFFFFFFFF
    settings = (1, 80, struct.pack("<QQQIIiIII", 1000, 0, 0, 8, 0, 1, 64, 64, 0).ljust(80, b"\0"))
    funcs = (2, 24, struct.pack("<QQIIQQII", 16, 32, 0, none, 32, 48, none, 0))
    call = (3, 32, struct.pack("<QQQII", 4096, 4112, 4128, 3, 1))
    patch = (4, 136, struct.pack("<QQQQIHBBBBB8s16s64sBI", 0, 4096, 0, 0, 1000000, 0, 0, 0, 9, 1, 5, b"\1", b"\x90" * 5, b"\xe8", 0, 1))
    rule = (5, 32, struct.pack("<IIIIQII", 1 << 13 | 1, 0, 3, 0, 0, 0, 1))
    conds = (6, 16, struct.pack("<8Bq", 2, 1, 0, 0, 0, 0, 6, 3, 0) + b"abc".ljust(16, b"\0"))
    steps = (7, 8, struct.pack("<BBHIBBHIBBHI", 0, 0, 5, 0, 10, 0, 8, 1, 0, 0, 0, 3) + struct.pack("<BBHIIIHHHH", 0, 0, 0, 0, 8, 0, 0, 0, 0, 0))
    watches = (8, 16, struct.pack("<QII", 4096, 4, 0))
    counters = (9, 16, struct.pack("<QIIQII", 3, 1, 0, 0x1A8, 4, 0))
    operands = (10, 16, struct.pack("<6B2xQ6B2xQ", 4, 1, 4, 6, 255, 0, 2**64 - 20, 1, 2, 8, 0, 0, 0, 7))
    everything = [settings, funcs, call, patch, rule, conds, steps, watches, counters, operands]
    save("plan", "everything", image(*everything))
    save("plan", "nothing", image())
    save("plan", "of-a-newer-maker", image(settings, (99, 40, bytes(80)), (8, 24, struct.pack("<QIIQ", 4096, 4, 0, 7))))
    save("plan", "twice", image(watches, watches))
    save("plan", "cut", image(*everything)[:-9])


def make_functions():
    def image(functions, patches, texts, machine=62, nr=None):
        key = struct.pack("<48s8Q", b"ebeaf2df364d5eeb7096f0f7722a69eec6efdf3b", *range(1, 9))
        content = b"".join(functions) + b"".join(patches) + texts
        return struct.pack("<QQIIQ112sQIIII", 0x464C494152545501, 0, 1, machine, 168 + len(content), key, 0x1000,
                           len(functions) if nr is None else nr, len(b"".join(patches)), len(texts), 0) + content

    def function(start, size, name, why_not, patches, kind, way, nr):
        return struct.pack("<QIIIIBBB5x", start, size, name, why_not, patches, kind, way, nr)

    def patch(site, addr, ret, flags, taken, fixes, code, ret_at=0):
        return struct.pack("<iiiB5sBBBBBx", site, addr, ret, flags, b"\x55\x48\x89\xe5\x90", taken, len(code), len(fixes), ret_at, 0) + \
            fixes + code

    jump = patch(0, 5, 0, 0, 5, b"\x06", b"\x55\x48\x89\xe5\x90\xe9\x10\0\0\0")
    call = patch(4, 9, 9, 0, 5, b"\x10", b"\x68" + bytes(31), ret_at=1)
    island = patch(-8, 0, 0, 2, 0, b"", b"")
    short = patch(0, 2, 0, 5, 4, b"\x05", b"\x55\x48\x89\xe5\xe9\x10\0\0\0")
    functions = [function(0x1000, 32, 1, 0, 0, 0, 0, 1), function(0x1020, 40, 0, 0, len(jump), 0, 0, 1),
                 function(0x1048, 8, 0, 0, len(jump + call), 0, 2, 2), function(0x1050, 8, 0, 6, 0, 1, 4, 0)]
    texts = b"\0main\0it shares code\0"
    save("functions", "all-ways", image(functions, [jump, call, island, short], texts))
    save("functions", "none", image([], [], b"\0"))
    save("functions", "cut", image(functions, [jump, call, island, short], texts)[:-9])
    save("functions", "other-machine", image(functions, [jump, call, island, short], texts, machine=183))
    save("functions", "too-many", image(functions, [jump, call, island, short], texts, nr=1 << 31))
    save("functions", "patch-too-far", image([function(0x1000, 32, 0, 0, 4000, 0, 0, 1)], [jump], texts))
    save("functions", "fix-too-far", image([function(0x1000, 32, 0, 0, 0, 0, 0, 1)],
                                           [patch(0, 5, 0, 0, 5, b"\x40", b"\x90" * 10)], texts))


def make_tracedat():
    """Files of trace-cmd in all forms, each with one page of records. Also the pages of one CPU
    alone: in compressed chunks, and as they are."""
    small = ["sched:sched_switch", "ftrace:funcgraph_entry"]
    for name, version, packing, big in (("v6", 6, "none", False), ("v6-big", 6, "none", True), ("v7", 7, "none", False),
                                        ("v7-zstd", 7, "zstd", False), ("v7-zlib", 7, "zlib", True)):
        ids, page = kernel.event_ids(), kernel.Page(5, big)
        page.record(9, ids["sched:sched_switch"], 1, kernel.sched_switch(("a", 1), ("b", 2), big))
        page.record(10**12, ids["ftrace:funcgraph_entry"], 1, kernel.graph_entry(2**64 - 4096, 0, big))
        pages = page.pack(missed=3)
        made = tracedat.File([tracedat.Buffer({0: pages, 3: pages}), tracedat.Buffer({0: pages}, "two", "boot")], version, packing, big,
                             b"1 a\n2 b/c\n", b"ffffffff81000000 T f\n",
                             [(1, b"0x1234\0"), (4, b"local [mono]\0"), (7, b"-17\0"), (14, made_tsc(big))],
                             kernel.header(big, only=small))
        # Most of the file is for aligning pages.
        save("tracedat", name, made.make())
        if packing != "none":
            save("tracedat", f"chunks-{packing}", made.chunks(pages))
    save("tracedat", "pages", pages)


def made_tsc(big):
    return struct.pack(">IIQ" if big else "<IIQ", 1 << 20, 21, 7)


def posix_log(policy, room, first, events):
    """Returns an input of tests/fuzz/fuzz_posixlog.c: the header, two zeros (the file is not cut),
    and the records. After the end of the room, records overwrite the first ones."""
    ring, last = bytearray(min(room, 4096)), 0
    for nr, length in enumerate(events):
        record = struct.pack("<IIQQQIIII", 48 + (length + 7) // 8 * 8, 0, 10**18 + nr, 0x401000, 0x7f00, 77, 65 if nr else 2, length, nr & 1)
        record += bytes(range(length)) + bytes(-length % 8)
        for byte in record:
            ring[last % room] = byte
            last += 1
    attr = struct.pack("<IIIIQQQQQ64s256s", 0x52545441, 1, 1, policy, 4096, room, 16, 1, 10**18, b"utrail-1", b"seed")
    status = struct.pack("<IIIIIIQ", 0, 0, 0, 0, policy == 1, policy == 2, 0)
    header = b"UTPOSIX\n" + struct.pack("<IIQQQII", 0x01020304, 1, room, first, last, 1, 1) + attr + status
    return header + b"\0\0" + bytes(ring[:last])


def make_posix_logs():
    whole = posix_log(4, 2**61, 0, [0, 1, 8, 16, 24, 200])
    save("posixlog", "append", whole)
    save("posixlog", "loop", posix_log(1, 256, 56 * 3, [8] * 7))
    save("posixlog", "until_full", posix_log(2, 1024, 0, [4] * 16))
    save("posixlog", "empty", posix_log(2, 1024, 0, []))
    save("posixlog", "cut", whole[:-10])
    save("posixlog", "no_room", whole[:16] + struct.pack("<Q", 48) + whole[24:])
    save("posixlog", "odd_size", whole[:458] + struct.pack("<I", 49) + whole[462:])
    save("posixlog", "first_behind_last", whole[:24] + struct.pack("<Q", 2**40) + whole[32:])


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as tmp:
        work = Path(tmp)
        found = recordings(build, work)
        make_datadirs(found)
        make_compact(build, work, found)
        make_declared(found["ours-plain"])
        make_probed(found["ours-plain"])
        make_files(found)
        make_objects(work)
        make_probes(work)
        make_names(work)
    make_words()
    make_specs()
    make_dwarf()
    make_patterns()
    make_structs()
    make_control()
    make_rings()
    make_plans()
    make_functions()
    make_posix_logs()
    make_kernel()
    make_tracedat()
    print(must("du", "-sh", "--apparent-size", CORPUS).decode().strip())


if __name__ == "__main__":
    main()
