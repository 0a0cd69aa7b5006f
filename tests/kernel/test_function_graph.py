"""Calls of Debian's kernel, recorded by utrail and by uftrace in a virtual machine (vm.py), and
read by both tools inside and here.

One boot runs all commands; the tests check the resulting files.
"""

import itertools
import os
import re
import shutil
from pathlib import Path

import pytest
from tools import PEER, UTRAIL, run, utrail

import vm

SOURCE = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void touch(void)
{
	char *p = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 4; i++)
		p[i * 4096] = 1;
	munmap(p, 4 * 4096);
}
__attribute__((noinline)) void look(void)
{
	char text[512];
	int fd = open("/proc/self/stat", O_RDONLY);
	if (read(fd, text, sizeof(text)) < 0)
		abort();
	close(fd);
}
__attribute__((noinline)) void nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&t, NULL);
}
int main(int argc, char **argv)
{
	touch();
	for (int i = argc > 2 ? atoi(argv[2]) : 1; i > 0; i--)
		look();
	nap(argc > 1 ? atoi(argv[1]) : 1);
	puts("done");
	return 7;
}
"""

# uftrace finds tracefs only where its mount is shared. buffer_size_kb has more words than the size
# until the buffer is used, so it is set.
COMMANDS = r"""
mount --make-shared /sys/kernel/tracing
echo 2816 > /sys/kernel/tracing/buffer_size_kb
state() {
	for file in tracing_on current_tracer trace_clock buffer_size_kb buffer_percent max_graph_depth set_ftrace_pid \
		set_graph_function set_graph_notrace set_ftrace_notrace set_event_pid set_event options/function-fork \
		options/event-fork trace; do
		echo "$file: $(cat /sys/kernel/tracing/$file)"
	done > /out/$1
	ls /sys/kernel/tracing/instances >> /out/$1
	echo "$1: $(cut -d' ' -f1 /proc/uptime) s" > /dev/console
}
# until COMMAND...: for five minutes at most; the states say whether it came to that.
until_it() {
	for i in $(seq 3000); do
		"$@" && break
		sleep 0.1
	done
}
# tracing_on is the last file that the recorder writes to, and the last that its keeper, another utrail, writes back.
is_recording() { grep -q function_graph /sys/kernel/tracing/current_tracer && grep -q 1 /sys/kernel/tracing/tracing_on; }
has_ended() { ! pidof utrail > /dev/null; }
record() {
	/u/utrail record --libmcount-path /u "$@" > /out/record.out 2>> /out/record.err
	echo "$? $(cat /out/record.out)" >> /out/statuses
}
state before
record -K 5 -d ours /prog; state after-ours
record -k -d shallow /prog
record -K 9 -F 'vfs_read@kernel' -N 'security_.*@kernel' -d chosen /prog; state after-chosen
record -K 2 -E sched:sched_switch@kernel -d events /prog; state after-events
# As from a terminal, for all; a shell's background jobs would ignore it.
{ until_it is_recording; sleep 1; kill -INT $(pidof utrail prog); } &
/u/utrail record --libmcount-path /u -k -d interrupted /prog 60000; wait; state after-interrupted
/u/utrail record --libmcount-path /u -k -d killed /prog 60000 &
until_it is_recording; state during; kill -KILL $!; until_it has_ended; state after-killed
kill $(pidof prog)
# Something goes wrong: what it said, how it ended, and the state behind it.
fails() {
	name=$1; shift
	/u/utrail record --libmcount-path /u -k "$@" > $name.said 2>&1
	echo $? > $name.status
	state after-$name
}
# with_file TEXT FILE NAME RECORD...: FILE of tracefs says TEXT, and cannot be written.
with_file() {
	echo "$1" > /tmp/instead; where=/sys/kernel/tracing/$2; shift 2
	mount -o bind /tmp/instead $where && mount -o remount,bind,ro $where
	name=$1; shift
	/u/utrail record --libmcount-path /u -k "$@" > $name.said 2>&1
	echo $? > $name.status
	umount $where
	state after-$name
}
with_file "blk nop" available_tracers no-tracer -d no-tracer /prog
with_file nop current_tracer no-switch -K 3 -N 'security_.*@kernel' -d no-switch /prog
with_file 0 per_cpu/cpu1/trace_pipe_raw no-watch -d no-watch /prog
mkdir /small; mount -t tmpfs -o size=4m small /small
fails full-disk -K 5 -d /small/data /prog 1 1500
mount -o remount,ro small
fails read-only -d /small/other /prog
umount /small
fails no-program -d no-program /nowhere
echo 1 > /sys/kernel/tracing/events/sched/sched_switch/enable
/u/utrail record --libmcount-path /u -k -d busy /prog 2> busy.err
echo 0 > /sys/kernel/tracing/events/sched/sched_switch/enable
uftrace record -K 5 -d theirs /prog > /dev/null; state after-theirs
if [ -x /usr/bin/trace-cmd ]; then
	trace-cmd record -C mono -e sched:sched_switch -p function_graph --max-graph-depth 4 -F -c -o beside.dat \
		/u/utrail record --libmcount-path /u -d beside /prog > beside.said 2>&1
	echo "trace-cmd: $(cut -d' ' -f1 /proc/uptime) s" > /dev/console
fi
for data in ours theirs; do
	/u/utrail replay --no-pager -d $data > $data.by-utrail 2>&1
	uftrace replay --no-pager -d $data > $data.by-uftrace 2>&1
done
"""


def strip(text):
    """The calls: the text right of the bar, without each tool's own headings."""
    return [line.split("| ", 1)[1] for line in text.splitlines() if re.search(r"\[ *\d+\] \| ", line)]


def entered(lines):
    """The names of the entered functions, in order."""
    return [line.strip().split("(")[0] for line in lines if not line.strip().startswith(("}", "/*"))]


def nr_open(lines):
    return sum(line.endswith("{") for line in lines) - sum(line.strip().startswith("}") for line in lines)


def late_ends(dump):
    """The functions whose end is recorded after another record of their own depth. An interrupt
    came after the function had counted the depth down, and before the end was recorded."""
    calls = re.findall(r"^([\d.]+) +\d+: \[(entry|exit ?)\] (\S+)\(\S+ depth: (\d+)$", dump.split("reading kernel-cpu", 1)[1], re.MULTILINE)
    late, calls_open = set(), []
    for _, kind, name, depth in sorted(((float(time), kind, name, int(depth)) for time, kind, name, depth in calls), key=lambda call: call[0]):
        while calls_open and (calls_open[-1][1] > depth or (kind == "entry" and calls_open[-1][1] == depth)):
            late.add(calls_open.pop()[0])
        if kind == "entry":
            calls_open.append((name, depth))
        elif calls_open and calls_open[-1] == (name, depth):
            calls_open.pop()
    return late


def apart_from_ends(lines, names):
    """The lines without the ends of calls of @names, and without nesting."""
    ends = {f"}} /* {name} */" for name in names}
    return [re.sub(r"\(\) \{$", "();", line.strip()) for line in lines if line.strip() not in ends]


def changes_cpu(dump):
    """True when a task left one CPU and came back to another one."""
    switches, cpu = [], None
    for line in dump.splitlines():
        if heading := re.match(r"reading perf-cpu(\d+)", line):
            cpu = heading[1]
        elif switch := re.match(r"([\d.]+) +(\d+): \[event\] linux:sched-(in|out)", line):
            switches.append((switch[2], float(switch[1]), switch[3], cpu))
    switches.sort()
    return any((tid, kind) == (next_tid, "out") and next_kind == "in" and cpu != next_cpu
               for (tid, _, kind, cpu), (next_tid, _, next_kind, next_cpu) in itertools.pairwise(switches))


def without_switches(lines):
    """The lines without events of the scheduler. A call that has nothing else inside is one line."""
    text = "\n".join(line for line in lines if not line.strip().startswith("/* linux:sched"))
    return re.sub(r"\(\) \{\n *\} /\* .* \*/$", "();", text, flags=re.MULTILINE).splitlines()


@pytest.fixture(scope="session")
def out(tmp_path_factory):
    directory = Path(os.environ.get("UTRAIL_KERNEL_CACHE", Path(UTRAIL).parent / "kernel"))
    directory.mkdir(exist_ok=True)
    try:
        machine = vm.Machine(directory, tmp_path_factory.mktemp("machine"))
    except vm.Unavailable as why:
        pytest.skip(f"no machine with Debian's kernel: {why}")
    path = tmp_path_factory.mktemp("prog")
    (path / "prog.c").write_text(SOURCE)
    run("gcc", "-pg", "-O1", "prog.c", "-o", "prog", cwd=path).must()
    machine.add(path / "prog", "/prog")
    machine.add(UTRAIL, "/u/utrail")
    machine.add(Path(UTRAIL).parent / "libmcount/libmcount.so", "/u/libmcount.so")
    if PEER:
        machine.add("/usr/bin/uftrace")
        for library in Path("/usr/lib").glob("*/uftrace/*.so"):
            machine.add(library)
    if shutil.which("trace-cmd"):
        machine.add(Path(shutil.which("trace-cmd")), "/usr/bin/trace-cmd")
    return machine.run(COMMANDS, timeout=3600)


def test_the_program_is_as_it_was(out):
    assert (out / "statuses").read_text().splitlines() == ["7 done"] * 4
    assert (out / "record.err").read_text() == ""


def find(lines, first, *, inside):
    """True when a line with @first is between "@inside() {" and its end."""
    start = next(i for i, line in enumerate(lines) if line.strip() == f"{inside}() {{")
    end = next(i for i, line in enumerate(lines) if i > start and line.strip() == f"}} /* {inside} */")
    return any(re.match(rf" *{first}\(\)", line) for line in lines[start:end])


def test_calls_are_under_those_of_the_program(out):
    lines = strip(utrail("replay", "-d", out / "ours").must().out)
    assert find(lines, "__x64_sys_mmap", inside="mmap")
    assert find(lines, "handle_mm_fault", inside="touch")
    assert find(lines, "vfs_read", inside="read")
    assert find(lines, "do_nanosleep", inside="nanosleep")
    lines = strip(utrail("replay", "-d", out / "shallow").must().out)
    assert find(lines, "handle_mm_fault", inside="touch")
    assert not any("vfs_read" in line for line in lines)


def test_times_are_inside_those_of_the_parents(out):
    """Check that each call takes at least the time of the calls inside it."""
    children, checked = [0.0], 0
    units = {"us": 1, "ms": 1e3, " s": 1e6, " m": 60e6}
    for line in utrail("replay", "-d", out / "ours").must().out.splitlines():
        m = re.match(r" *([\d.]+) (us|ms| s| m) \[ *\d+\] \| (.*)", line)
        if re.search(r"\{$", line):
            children.append(0.0)
        elif m:
            total = float(m[1]) * units[m[2]]
            if m[3].strip().startswith("}"):
                assert children.pop() <= total * 1.001 + 0.01, line
                checked += 1
            children[-1] += total
    assert checked > 20


def test_chosen_by_the_kernel(out):
    lines = strip(utrail("replay", "-d", out / "chosen").must().out)
    assert find(lines, "vfs_read", inside="read")
    text = "\n".join(lines)
    assert "security_" not in text and "__x64_sys_mmap" not in text


def test_events_beside_calls(out):
    text = utrail("replay", "-d", out / "events").must().out
    assert "sched:sched_switch" in text and "x64_sys_call" in text


def test_reports(out):
    text = utrail("report", "-d", out / "ours").must().out
    assert re.search(r" 1 +do_nanosleep\n", text) or re.search(r" 1 +hrtimer_nanosleep\n", text)
    assert "x64_sys_call" in utrail("graph", "-d", out / "ours").must().out
    assert "vfs_read" in utrail("dump", "-d", out / "ours", "--format=chrome").must().out
    assert "x64_sys_call" in utrail("report", "-d", out / "ours", "--kernel-only").must().out


@pytest.mark.parametrize("when", ["ours", "chosen", "events", "interrupted", "killed"])
def test_tracefs_is_as_before(out, when):
    assert (out / f"after-{when}").read_text() == (out / "before").read_text()
    during = (out / "during").read_text()
    assert "tracing_on: 1\n" in during and "current_tracer: function_graph\n" in during


# By fault: the status and the message. The program runs despite the fault, if it exists and the
# recording can be made.
FAILURES = {
    "no-tracer": (7, "WARN: cannot record calls of the kernel: this kernel has no tracer 'function_graph' (CONFIG_FUNCTION_GRAPH_TRACER)\n"),
    "no-switch": (7, "WARN: cannot record calls of the kernel: cannot write to 'current_tracer': Read-only file system\n"),
    "no-watch": (7, "WARN: cannot record calls of the kernel: cannot watch 'per_cpu/cpu1/trace_pipe_raw': Operation not permitted\n"),
    "full-disk": (7, "WARN: cannot write to '/small/data': No space left on device; the recording is not complete\n"),
    "read-only": (1, "utrail: cannot create directory '/small/other': Read-only file system\n"),
    "no-program": (1, "utrail: cannot trace '/nowhere': No such file or directory\n"),
}


@pytest.mark.parametrize("when", FAILURES)
def test_tracefs_is_as_before_when_something_fails(out, when):
    status, said = FAILURES[when]
    text = (out / f"{when}.said").read_text()
    assert (int((out / f"{when}.status").read_text()), said in text) == (status, True), text
    assert (out / f"after-{when}").read_text() == (out / "before").read_text()


def test_who_traces_already_is_left_alone(out):
    said = (out / "busy.err").read_text()
    assert said == "WARN: cannot record calls of the kernel: another program is recording events (set_event in tracefs)\n"


@pytest.mark.skipif(not PEER, reason="Debian's uftrace is not installed")
@pytest.mark.parametrize("data", ["ours", "theirs"])
def test_both_show_the_same(out, data):
    """Both tools show the same calls. If the kernel has not recorded the end of a call, uftrace
    shows no end, and shows the next calls inside of that call. utrail ends the call with its system
    call. If an end is recorded late, uftrace shows the calls before that end inside of the call.
    If a task comes back to another CPU, uftrace shows the return inside of the next call."""
    ours, theirs = (strip((out / f"{data}.by-{tool}").read_text()) for tool in ("utrail", "uftrace"))
    assert len(ours) > 100
    assert entered(ours) == entered(theirs)
    assert nr_open(ours) == 0
    if nr_open(theirs) == 0:
        dump = utrail("dump", "-d", out / data).must().out
        late = late_ends(dump)
        if changes_cpu(dump):
            ours, theirs = without_switches(ours), without_switches(theirs)
        assert ours == theirs or (late and apart_from_ends(ours, late) == apart_from_ends(theirs, late))


def test_a_trace_beside_a_recording(out, tmp_path):
    """trace-cmd's recording of the same time is imported into the program's recording, and alone.
    uftrace shows the program's recording as utrail does."""
    if not shutil.which("trace-cmd"):
        pytest.skip("there is no trace-cmd")
    data = tmp_path / "beside"
    shutil.copytree(out / "beside", data)
    if "zstd" not in utrail("--version").out.split():
        pytest.skip("built without zstd, which trace-cmd compresses with")
    result = utrail("import", "--into", data, out / "beside.dat").must()
    assert result.err == "", (out / "beside.said").read_text()
    lines = strip(utrail("replay", "-d", data).must().out)
    assert find(lines, "__x64_sys_mmap", inside="mmap")
    assert find(lines, "handle_mm_fault", inside="touch")
    assert find(lines, "hrtimer_nanosleep", inside="nanosleep")
    if PEER:
        theirs = strip(run("uftrace", "replay", "--no-pager", "-d", data).must().out)
        assert entered(theirs) == entered(lines)
    utrail("import", "-d", tmp_path / "alone", out / "beside.dat").must()
    assert " vfs_read\n" in utrail("report", "-d", tmp_path / "alone").must().out
