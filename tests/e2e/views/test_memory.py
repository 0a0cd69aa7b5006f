"""Reading takes as much memory for many events of the scheduler and the kernel as for few."""

import re
import struct
import subprocess
from pathlib import Path

import kernel
import pytest
from archive import unpack
from tools import UTRAIL, environment, has_sanitizer

pytestmark = pytest.mark.skipif(has_sanitizer(), reason="sanitizers keep memory that was freed")

START = 5_000_000_000
TASKS = (100, 101, 102)
PAGE_EVENTS = 60
STEP = 2000


def perf_file(events, cpu):
    """A file of perf events in which tasks leave the CPU and come back."""
    one = struct.Struct("<IHHIIQ")
    return b"".join(
        one.pack(14, misc, 24, TASKS[0], TASKS[i % 3], START + i * STEP + wait)
        for i in range(cpu, events // 2, 2)
        for misc, wait in ((0x2000, 0), (0, 1500))
    )


def kernel_file(events, cpu):
    """A file of pages of the kernel, which are equal except for their times."""
    number = kernel.event_ids()["syscalls:sys_enter_clock_nanosleep"]
    page = kernel.Page(0)
    for i in range(PAGE_EVENTS):
        page.record(1 + i * STEP, number, TASKS[i % 3], kernel.nanosleep())
    rest = page.pack()[8:]
    return b"".join(
        struct.pack("<Q", START + i * PAGE_EVENTS * STEP) + rest for i in range(cpu, events // PAGE_EVENTS, 2)
    )


def recording(name, events):
    span = events * STEP
    task_txt = f'SESS timestamp=4.0 pid={TASKS[0]} sid=0123456789abcdef exename="/bin/prog"\n'
    task_txt += "".join(f"TASK timestamp=4.1 tid={tid} pid={TASKS[0]}\n" for tid in TASKS)
    records = struct.pack("<QQQQ", START, 5 << 3 | 0x401000 << 16, START + span, 1 | 5 << 3 | 0x401000 << 16)
    files = {
        "info": b"Ftrace!\0" + struct.pack("<IHBBQQH6x", 4, 40, 1, 2, 0x22 | 4 | 64, 0, 1024),
        "task.txt": task_txt.encode(),
        "sid-0123456789abcdef.map": b"00400000-00402000 r-xp 00000000 00:00 0    /bin/prog\n",
        "prog.sym": b"# symbols: 1\n# path name: /bin/prog\n0000000000001000 00000100 T main\n",
        "kernel_header": kernel.header(),
        "extern.dat": b"".join(b"%d.%09d a line of extern.dat\n" % divmod(START + i * STEP, 10**9)
                               for i in range(events // 4)),
    }
    for tid in TASKS:
        files[f"{tid}.dat"] = records
    for cpu in range(2):
        files[f"perf-cpu{cpu}.dat"] = perf_file(events, cpu)
        files[f"kernel-cpu{cpu}.dat"] = kernel_file(events, cpu)
    unpack(files, Path(name))


def peak_kb(*args):
    """The peak of the process' memory, read while it runs: the peak of wait4(2) includes the Python
    that it was forked from."""
    peak = lines = 0
    with subprocess.Popen([UTRAIL, *args], stdout=subprocess.PIPE, env=environment()) as proc:
        while block := proc.stdout.read(1 << 16):
            lines += block.count(b"\n")
            status = Path(f"/proc/{proc.pid}/status").read_text()
            if (found := re.search(r"VmHWM:\s+(\d+)", status)) and "python" not in status:
                peak = max(peak, int(found[1]))
    assert proc.returncode == 0
    return peak, lines


FEW, MANY = 120_000, 600_000


@pytest.mark.parametrize("args", [["replay"], ["dump"], ["dump", "--format=chrome"]], ids=" ".join)
def test_many_events(args):
    """The memory holds windows of two megabytes, and the lane of each task (doc/glossary.md). All
    events together would take more than sixty megabytes."""
    peaks = []
    for events in FEW, MANY:
        recording(f"{events}.data", events)
        peak, lines = peak_kb(*args, "-d", f"{events}.data")
        assert lines > events / 2
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 4 << 10
