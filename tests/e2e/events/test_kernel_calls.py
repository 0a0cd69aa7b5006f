"""Calls of the kernel's functions, read from files made by hand. tests/kernel has recordings of a
real kernel."""

import re
import struct
from pathlib import Path

import kernel
from test_kernel import ONE, TIME, TWO, handmade
from tools import utrail

SYSCALL, READ, LOCK, FAULT, IRQ = (0xFFFFFFFF81000000 + 0x100 * i for i in range(5))
SYMBOLS = "".join(
    f"{addr:016x} T {name}\n"
    for addr, name in ((SYSCALL, "x64_sys_call"), (READ, "vfs_read.isra.0"), (LOCK, "up_read"), (FAULT, "handle_mm_fault"),
                       (IRQ, "irq_enter_rcu"))
).encode()
IDS = kernel.event_ids()
ENTRY, EXIT = IDS["ftrace:funcgraph_entry"], IDS["ftrace:funcgraph_exit"]


def page(records, tid=ONE, big=False):
    """A page of the kernel. @records: (microseconds since main() began, '+' or '-', function,
    depth)"""
    made = kernel.Page(TIME + 1000 * records[0][0], big)
    for us, what, func, depth in records:
        fields = kernel.graph_entry if what == "+" else kernel.graph_exit
        made.record(TIME + 1000 * us, ENTRY if what == "+" else EXIT, tid, fields(func, depth, big))
    return made


# main() is open from 0 to 1000 us.
CALLS = [(100, "+", SYSCALL, 0), (110, "+", READ, 1), (150, "+", LOCK, 2), (160, "-", LOCK, 2), (300, "-", READ, 1),
         (310, "-", SYSCALL, 0), (400, "+", FAULT, 0), (420, "-", FAULT, 0)]
TREE = """main() {
  x64_sys_call() {
    vfs_read.isra.0() {
      up_read();
    } /* vfs_read.isra.0 */
  } /* x64_sys_call */
  handle_mm_fault();
} /* main */"""


def recording(records, missed=None, **more):
    return handmade({0: page(records).pack(missed)}, more={"kallsyms": SYMBOLS}, **more)


def tree(*args, name="hand.data"):
    """The text of the first task, right of the bar."""
    text = utrail("replay", "--no-pager", "-d", name, "--tid", str(ONE), *args, preempted=True).must().out
    return "\n".join(line.split("| ", 1)[1] for line in text.splitlines() if "| " in line)


def test_nested():
    name = recording(CALLS)
    assert tree() == TREE
    lines = utrail("replay", "-d", name, "--tid", str(ONE), "-f", "duration,module").must().out.splitlines()
    assert any(re.fullmatch(r" 190\.000 us +\[kernel\] \| +} /\* vfs_read\.isra\.0 \*/", line) for line in lines)


def test_report_and_exporters():
    name = recording(CALLS)
    report = utrail("report", "-d", name, "-f", "total,self,call").must().out
    assert re.search(r" 210\.000 us +20\.000 us +1 +x64_sys_call\n", report)
    assert re.search(r" 190\.000 us +180\.000 us +1 +vfs_read\.isra\.0\n", report)
    assert re.search(r"main;x64_sys_call;vfs_read\.isra\.0;up_read \d", utrail("dump", "-d", name, "--format=flame-graph", "--sample-time=1us").must().out)
    assert '"name":"handle_mm_fault"' in utrail("dump", "-d", name, "--format=chrome").must().out.replace(" ", "")
    assert "x64_sys_call" in utrail("graph", "-d", name, "vfs_read.isra.0").must().out
    assert f"{ONE}: [entry] up_read(ffff81000200) depth: 2" in utrail("dump", "-d", name).must().out


def test_outside_of_functions():
    """Calls of the kernel before and after main() are shown with --kernel-full only."""
    recording([(-50, "+", IRQ, 0), (-45, "+", LOCK, 1), (-42, "-", LOCK, 1), (-40, "-", IRQ, 0), *CALLS, (1100, "+", SYSCALL, 0)])
    assert tree() == tree("--kernel-skip-out") == TREE
    full = tree("--kernel-full")
    assert full.startswith("irq_enter_rcu() {\n  up_read();\n} /* irq_enter_rcu */\nmain() {")


def test_filters():
    recording(CALLS)
    assert tree("--kernel-only") == "\n".join(line[2:] for line in TREE.splitlines()[1:-1])
    assert tree("-F", "vfs_read*@kernel", "--match", "glob") == "vfs_read.isra.0() {\n  up_read();\n} /* vfs_read.isra.0 */"
    assert tree("-N", "x64_sys_call@kernel") == "main() {\n  handle_mm_fault();\n} /* main */"
    assert tree("-C", "up_read@kernel").count("{") == 3
    assert tree("-T", "x64_sys_call@kernel,depth=1") == "main() {\n  x64_sys_call();\n  handle_mm_fault();\n} /* main */"
    assert "vfs_read" not in tree("-H", "vfs_read.isra.0@kernel") and "up_read" in tree("-H", "vfs_read.isra.0@kernel")
    # A pattern without @kernel matches functions of the program only.
    result = utrail("replay", "-d", "hand.data", "-F", "x64_sys_call").must()
    assert "no function matches 'x64_sys_call'" in result.err
    assert "no function matches 'nowhere@kernel'" in utrail("replay", "-d", "hand.data", "-N", "nowhere@kernel").must().err


def test_a_time_range_cuts_calls():
    """A range may begin inside a call of the kernel: the call's end does not end a call of the
    program."""
    recording(CALLS)
    assert tree("-r", "120us~500us") == "up_read();\nhandle_mm_fault();"


def test_returns_that_are_missing():
    """A call whose end was lost ends at the next record that is outside of it. An end without a
    beginning is left out."""
    lost = [record for record in CALLS if record != (300, "-", READ, 1)]
    recording(lost)
    assert tree() == TREE
    recording([(50, "-", LOCK, 2), (60, "-", SYSCALL, 0), *CALLS])
    assert tree() == TREE
    recording([record for record in CALLS if record[0] not in (300, 310)])
    assert tree() == TREE
    recording([record for record in CALLS if record != (420, "-", FAULT, 0)])
    assert tree() == TREE


def test_records_were_lost():
    recording(CALLS, missed=77)
    assert "/* LOST 77 records!! */" in tree()
    assert re.sub(r" +/\* LOST 77 .*\n", "", tree()) == TREE
    # Views that only add up go on after missing returns, too.
    assert re.search(r" 1 +vfs_read\.isra\.0\n", utrail("report", "-d", "hand.data").must().out)


def test_more_calls_than_are_held():
    """Records of two tasks that change to the other CPU with every page. Views that add up read
    them in windows of time, one after the other."""
    nr_pages, nr_calls = 3400, 60
    packed = []
    for tid in (ONE, TWO):
        made = kernel.Page(0)
        for i in range(nr_calls):
            made.record(2 * i, ENTRY, tid, kernel.graph_entry(SYSCALL, 0))
            made.record(2 * i + 1, EXIT, tid, kernel.graph_exit(SYSCALL, 0))
        packed.append(made.pack())
    files = [bytearray(), bytearray()]
    for i in range(nr_pages):
        time = struct.pack("<Q", TIME + 100_000 + 2 * nr_calls * i)
        files[i % 2] += time + packed[0][8:]
        files[1 - i % 2] += time + packed[1][8:]
    handmade(dict(enumerate(files)), more={"kallsyms": SYMBOLS})
    total = 2 * nr_pages * nr_calls
    for threads in ("1", "2"):
        report = utrail("report", "-d", "hand.data", "-f", "total,self,call", f"--num-thread={threads}").must().out
        assert re.search(rf" 408\.000 us +408\.000 us +{total} +x64_sys_call\n", report)
        assert re.search(r" 2\.000 ms +1\.592 ms +2 +main\n", report)
        graph = utrail("graph", "-d", "hand.data", f"--num-thread={threads}").must().out
        assert re.search(rf" 408\.000 us : +\({total}\) x64_sys_call\n", graph)


def test_clocks_that_differ():
    """The kernel's clock may be a little ahead of the program's. A call of the kernel then seems to
    end after the program's next record, but is shown as if it had ended before that record."""
    recording([(990, "+", SYSCALL, 0), (1005, "-", SYSCALL, 0)])
    assert tree() == "main() {\n  x64_sys_call();\n} /* main */"
    recording([(-2, "+", SYSCALL, 0), (500, "-", SYSCALL, 0)])
    assert tree() == "main() {\n  x64_sys_call();\n} /* main */"


def switch(us, misc, tid=ONE):
    """A PERF_RECORD_SWITCH as in perf-cpu*.dat. @misc: 0x2000 when the task leaves the CPU, 0x6000
    when it is pre-empted, 0 when it comes back."""
    return struct.pack("<IHHIIQ", 14, misc, 24, tid, tid, TIME + 1000 * us)


def test_time_off_the_cpu():
    """perf's record of a task's return to the CPU may be later than the first call that the task
    then makes. The return is shown before that call."""
    recording([(100, "+", SYSCALL, 0), (500, "+", READ, 1), (550, "-", READ, 1), (600, "-", SYSCALL, 0)], feat=68)
    Path("hand.data/perf-cpu0.dat").write_bytes(switch(200, 0x6000) + switch(540, 0) + switch(560, 0x2000) + switch(570, 0))
    assert tree() == """main() {
  x64_sys_call() {
    /* linux:schedule (pre-empted) */
    vfs_read.isra.0();
    /* linux:schedule */
  } /* x64_sys_call */
} /* main */"""
    report = utrail("report", "-d", "hand.data", "-f", "total,self,call", preempted=True).must().out
    assert re.search(r" 299\.999 us +299\.999 us +1 +linux:schedule \(pre-empted\)\n", report)
    assert re.search(r" 10\.000 us +10\.000 us +1 +linux:schedule\n", report)
    assert re.search(r" 50\.000 us +50\.000 us +1 +vfs_read\.isra\.0\n", report)
    assert re.search(r" 500\.000 us +140\.001 us +1 +x64_sys_call\n", report)


def test_the_return_is_to_another_cpu():
    """A task may come back to another CPU than the one that it left. Its return is shown before the
    first call that the task then makes, whichever CPU the task was on."""
    name = recording([(100, "+", SYSCALL, 0), (500, "+", READ, 1), (550, "-", READ, 1), (600, "-", SYSCALL, 0)], feat=68)
    for cpu_left, cpu_back in ((0, 1), (1, 0)):
        Path(f"{name}/perf-cpu{cpu_left}.dat").write_bytes(switch(200, 0x6000))
        Path(f"{name}/perf-cpu{cpu_back}.dat").write_bytes(switch(540, 0))
        assert "/* linux:schedule (pre-empted) */\n    vfs_read.isra.0();\n" in tree()
        report = utrail("report", "-d", name, "-f", "total,self,call", preempted=True).must().out
        assert re.search(r" 50\.000 us +50\.000 us +1 +vfs_read\.isra\.0\n", report)


def test_the_return_to_the_cpu_was_lost():
    """The record of a return to the CPU is lost. The next return belongs to the next time that the
    task is off the CPU."""
    recording([(100, "+", SYSCALL, 0), (500, "+", READ, 1), (550, "-", READ, 1), (600, "-", SYSCALL, 0)], feat=68)
    Path("hand.data/perf-cpu0.dat").write_bytes(switch(200, 0x6000) + switch(560, 0x2000) + switch(570, 0))
    assert "/* linux:schedule (pre-empted) */\n    vfs_read.isra.0();\n    /* linux:schedule */" in tree()


def test_big_endian_and_no_depth():
    """Kernels that write no depth: the address tells which call returns."""
    header = kernel.header()
    bare = header
    for name in ("entry", "exit"):
        bare = bare.replace(b"\tfield:unsigned int depth;\toffset:16;\tsize:4;\tsigned:0;\n",
                            b"\tfield:unsigned int depht;\toffset:16;\tsize:4;\tsigned:0;\n")
    assert bare != header
    recording(CALLS, header=bare)
    assert tree() == TREE


def test_damage_ends_a_page_only():
    good = page(CALLS).pack()
    short = kernel.Page(TIME + 600_000).record(TIME + 600_000, ENTRY, ONE, struct.pack("<I", 1)).pack()
    bad = struct.pack("<QQ", TIME, 4090) + bytes(kernel.PAGE_BYTES - 16)
    handmade({0: bad + good + short}, more={"kallsyms": SYMBOLS})
    result = utrail("replay", "-d", "hand.data", "--tid", str(ONE))
    assert "kernel-cpu0.dat': page at offset 0" in result.err
    assert "up_read();" in result.out


def test_without_kallsyms():
    handmade({0: page(CALLS).pack()})
    assert "<ffffffff81000200>();" in tree()


def test_tasks_keep_apart():
    both = {0: page(CALLS).pack(), 1: page([(130, "+", FAULT, 0), (135, "-", FAULT, 0)], TWO).pack()}
    handmade(both, more={"kallsyms": SYMBOLS})
    assert tree() == TREE
