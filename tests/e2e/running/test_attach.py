"""record -p and live -p: running processes are recorded, and left as they were."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from data import ENTRY, Recording
from programs import SOURCES
from tools import LIMIT_S, UTRAIL, environment, run, utrail, wait_until, why_not_as_nobody

BUILDS = {
    "pg": ["-O2", "-pg"],
    "fentry": ["-O2", "-pg", "-mfentry"],
    "cyg": ["-O1", "-finstrument-functions"],
    "lazy": ["-O0", "-pg", "-no-pie", "-Wl,-z,lazy"],
    "plain": ["-O2"],
}


def executables(tmp_path_factory, builds, default):
    """Executables by build and by the name of a source beside server.c; each is made at its first
    use."""
    made = {}

    def make(build, name=default):
        if (build, name) not in made:
            made[build, name] = tmp_path_factory.mktemp("attach") / f"{name}-{build}"
            run("gcc", *builds[build], SOURCES / "attach" / f"{name}.c", "-o", made[build, name], "-pthread").must()
        return made[build, name]

    return make


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    return executables(tmp_path_factory, BUILDS, "server")


class Server:
    """A running server, which checks itself."""

    def __init__(self, exe, **kw):
        self.proc = subprocess.Popen(
            [exe], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), **kw
        )
        assert self.proc.stdout.readline() == "ready\n"
        self.pid = self.proc.pid
        self.before = self.look()

    def read(self, name):
        with open(f"/proc/{self.pid}/{name}", "rb") as f:
            return f.read()

    def look(self):
        """The state of the server: mapped files with their permissions, descriptors, the program's
        code and its GOT."""
        lines = [line.split() for line in self.read("maps").decode().splitlines()]
        files = [line for line in lines if len(line) > 5 and line[5].startswith("/")]
        code = []
        with open(f"/proc/{self.pid}/mem", "rb") as mem:
            for place, flags, *_, path in files:
                start, end = (int(at, 16) for at in place.split("-"))
                if "x" in flags or "/server-" in path and "w" not in flags:
                    mem.seek(start)
                    code.append((path, mem.read(end - start)))
        executable = [line[0] for line in lines if "x" in line[1]]
        return files, executable, sorted(os.listdir(f"/proc/{self.pid}/fd")), code

    def is_let_go(self):
        """True when no process traces any of its threads, which may end meanwhile."""
        statuses = []
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{self.pid}/task/{task}/status") as f:
                statuses.append(f.read())
        return all("TracerPid:\t0\n" in status for status in statuses)

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def is_as_it_was(self):
        """Check that the server is as before. (The dynamic linker may have bound more slots, as it
        would have done untraced.)"""
        files, executable, fds, code = self.look()
        before = self.before
        assert (files, executable, fds) == (before[0], before[1], before[2])
        for (path, then), (_, now) in zip(before[3], code):
            assert then == now, path
        status = self.read("status").decode()
        assert re.search(r"^TracerPid:\s0$", status, re.M) and not re.search(r"^State:\s[tT]", status, re.M)

    def is_alive(self):
        """Fail with the server's status if it has ended."""
        try:
            status = self.proc.wait(timeout=0.01)
        except subprocess.TimeoutExpired:
            return
        raise AssertionError(f"the program ended with status {status}: {self.proc.stderr.read()!r}")

    def end(self):
        self.proc.send_signal(signal.SIGTERM)
        out, err = self.proc.communicate(timeout=LIMIT_S)
        assert (out, err, self.proc.returncode) == ("done\n", "", 0)


@pytest.fixture
def serve(servers):
    running = []

    def start(build, exe=None, **kw):
        running.append(Server(exe or servers(build), **kw))
        return running[-1]

    yield start
    for server in running:
        server.proc.kill()
        server.proc.wait()


def record(pid, *args, **kw):
    return utrail("record", "-p", pid, *args, **kw)


def unexpected(err):
    """The messages of a recorder without that about lost records: on a busy machine the recorder may
    get no CPU for so long that the buffers are full."""
    return re.sub(r"^WARN: \d+ records? w(as|ere) lost; .*\n", "", err)


def record_briefly(pid, *args):
    """Record a program for a short time, without an unexpected message. A busy machine may give the
    program no CPU during this time: then it is recorded once more."""

    def record_once():
        result = record(pid, *args).must()
        return None if result.err.startswith("WARN: nothing was recorded: ") else result

    result = wait_until(record_once)
    assert result.out + unexpected(result.err) == ""


def record_until(is_enough, pid, *args):
    """Record a program for a short time, again and again until the recording has what is looked for:
    nothing is certain to happen in so short a time."""

    def record_once():
        record(pid, *args).must()
        return is_enough()

    wait_until(record_once)


def live_until(is_enough, *args):
    """Run `live` again and again until its output is enough. Returns the output."""

    def show_once():
        result = utrail("live", *args)
        return is_enough(result.out) and result

    return wait_until(show_once).must().out


def called(*options):
    """The functions that were called. There may be none yet."""
    lines = utrail("report", "-f", "call", *options).out.splitlines()[2:]
    return {line.split()[1] for line in lines if line.strip()}


def names(data="uftrace.data"):
    lines = utrail("report", "-d", data, "-f", "call", "--no-libcall").must().out.splitlines()[2:]
    return {line.split()[1] for line in lines if line.strip()}


@pytest.mark.parametrize("build", BUILDS)
def test_records_and_leaves(serve, build):
    server = serve(build)
    for _ in range(3):
        record_briefly(server.pid, "--for=50ms")
        server.is_as_it_was()
    wanted = {"nanosleep", "pthread_create"}
    if build != "plain":
        wanted |= {"check", "sum", "leaf", "halves", "jump"}
    record_until(lambda: wanted <= called(), server.pid, "--for=50ms")
    server.is_as_it_was()
    for command in ("replay", "graph"):
        assert utrail(command).must().out
    assert f"utrail record -p {server.pid}" in utrail("info").must().out
    server.end()


def test_peer_reads_it(serve):
    server = serve("pg")
    record_until(lambda: "sum" in called(), server.pid, "--for=60ms")
    server.end()
    ours = utrail("report", "-f", "call", "-s", "call").must().out
    theirs = run("uftrace", "report", "-f", "call", "-s", "call", "--no-pager").must().out
    counts = lambda text: dict(reversed(line.split()[:2]) for line in text.splitlines()[2:] if line.strip())
    assert counts(ours)["sum"] == counts(theirs)["sum"]


def test_again_and_again(serve):
    server = serve("pg")
    for _ in range(20):
        record_briefly(server.pid, "--for=10ms")
    server.is_as_it_was()
    server.end()


@pytest.mark.parametrize("build", ["pg", "cyg"])
def test_killed_before_the_probe_knows(serve, build):
    """The recorder is killed after it has loaded the probe, and before it has told the probe where
    to send records: the next recorder removes the probe."""
    server = serve(build)
    for i in range(40):
        recorder = subprocess.Popen([UTRAIL, "record", "-p", str(server.pid)], stderr=subprocess.DEVNULL, env=environment())
        time.sleep(0.001 + i * 0.0003)
        recorder.kill()
        recorder.wait()
        server.is_alive()
    record_briefly(server.pid, "--for=10ms")
    assert b"libmcount" not in server.read("maps")
    server.end()


def test_recorder_is_killed(serve):
    """The recorder is killed at any moment: the server runs on, and the next recorder can
    attach."""
    server = serve("pg")
    chance = random.Random()
    for _ in range(10):
        recorder = subprocess.Popen(
            [UTRAIL, "record", "-p", str(server.pid), "--for=30ms"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        time.sleep(chance.uniform(0, 0.12))
        recorder.kill()
        recorder.wait()
        server.is_alive()
        record_briefly(server.pid, "--for=10ms")
        server.is_alive()
        # A page for calls that was just being made may stay; code of the probe must not.
        assert b"libmcount" not in server.read("maps")
    server.end()


FORKS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t ends;
static void on_signal(int signal) { ends = signal; }
static void *forks(void *unused)
{
	for (int status; !ends;) {
		pid_t child = fork();

		if (child == 0)
			_exit(3);
		if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
			_exit(1);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[4];

	signal(SIGTERM, on_signal);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, forks, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


def test_threads_that_fork_all_the_time(workdir):
    """The C library calls a function of the probe at each fork. It must not call this function after
    the probe has been removed."""
    Path("forks.c").write_text(FORKS)
    run("gcc", "-O1", "forks.c", "-o", "forks", "-pthread").must()
    program = subprocess.Popen(["./forks"], stdout=subprocess.PIPE, text=True, env=environment())
    assert program.stdout.readline() == "ready\n"
    for _ in range(24):
        record_briefly(program.pid, "--for=10ms")
    assert program.poll() is None
    program.send_signal(signal.SIGTERM)
    assert program.wait(timeout=LIMIT_S) == 0


@pytest.mark.parametrize("ask", [signal.SIGINT, signal.SIGTERM])
def test_until_interrupt(serve, ask):
    server = serve("pg")
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(server.pid)], stderr=subprocess.PIPE, env=environment(), text=True)
    wait_until(lambda: "sum" in called())
    recorder.send_signal(ask)
    assert recorder.wait(LIMIT_S) == 0 and unexpected(recorder.stderr.read()) == ""
    assert "sum" in names()
    server.is_as_it_was()
    server.end()


def test_until_it_is_large_or_ends(serve):
    server = serve("pg")
    result = record(server.pid, "--max-size=256k").must()
    assert "reached its --max-size" in result.err
    server.is_as_it_was()
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(server.pid)], stderr=subprocess.PIPE, env=environment())
    wait_until(lambda: b"libmcount" in server.read("maps"))
    server.end()
    assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()


def test_options_hold(serve):
    server = serve("pg")
    options = "-F", "sum", "-A", "leaf@arg1", "--no-libcall"
    record_until(lambda: "leaf(3)" in utrail("replay").out and "sum" in called(), server.pid, "--for=50ms", *options)
    assert names() - {"handler"} == {"sum", "leaf"}  # handler() may interrupt sum()
    record(server.pid, "--for=50ms", "-D", "1", "-t", "100us").must()
    server.is_as_it_was()
    server.end()


def test_two_at_a_time_and_names(serve, servers, workdir):
    # The name is unique: tests run in parallel.
    name = f"server-{os.getpid()}"
    named = shutil.copy(servers("cyg"), workdir / name)
    first, second = serve("pg"), serve("cyg", named)
    both = {str(first.pid), str(second.pid)}
    record_until(lambda: both <= set(re.findall(r"pid=(\d+) ", open("uftrace.data/task.txt").read())), ",".join(both), "--for=80ms")
    record(name, "--for=30ms").must()
    third = serve("cyg", named)
    result = record(name).must(1)
    assert re.search(rf"2 processes are called '{name}'.*({second.pid}, {third.pid}|{third.pid}, {second.pid})", result.err)
    for server in (first, second, third):
        server.is_as_it_was()
        server.end()


def test_only_one_recorder(serve):
    server = serve("pg")
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(server.pid), "-d", "one"], env=environment())
    wait_until(lambda: os.path.exists("one") and any(n.endswith(".dat") for n in os.listdir("one")) and server.is_let_go())
    assert "is being recorded already" in record(server.pid, "-d", "two").must(1).err
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(LIMIT_S) == 0
    server.is_as_it_was()
    server.end()


def test_started_by_record(servers):
    recorder = subprocess.Popen([UTRAIL, "record", servers("pg")], stdout=subprocess.PIPE, env=environment(), text=True)
    assert recorder.stdout.readline() == "ready\n"
    pid = int(run("pgrep", "-P", recorder.pid).must().out)
    assert "is being recorded already" in record(pid, "-d", "two").must(1).err
    os.kill(pid, signal.SIGTERM)
    assert recorder.wait(LIMIT_S) == 0


def test_live(serve):
    server = serve("pg")
    live_until(lambda out: "leaf();" in out and "sum() {" in out, "-p", server.pid, "--for=60ms", "--no-libcall", "-F", "sum")
    server.is_as_it_was()
    server.end()


def test_elsewhere(serve, workdir):
    """The server has a mount namespace of its own, in which the probe's file is hidden."""
    library = os.path.dirname(os.path.realpath(UTRAIL))
    hide = f"mount -t tmpfs none {library}/libmcount && exec \"$0\""
    try:
        subprocess.run(["unshare", "-m", "true"], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        pytest.skip("this user may not make mount namespaces")
    probe = os.path.join(os.path.dirname(os.path.realpath(UTRAIL)), "libmcount")
    if not os.path.isdir(probe):
        pytest.skip("the probe is not beside utrail")

    def start(exe):
        return subprocess.Popen(
            ["unshare", "-m", "sh", "-c", hide, exe], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    server = serve("pg")
    hidden = start(server.proc.args[0])
    try:
        assert hidden.stdout.readline() == "ready\n"
        record_until(lambda: "sum" in called(), hidden.pid, "--for=50ms")
        assert "libmcount" not in open(f"/proc/{hidden.pid}/maps").read()
        hidden.terminate()
        assert hidden.wait(LIMIT_S) == 0
    finally:
        hidden.kill()
        hidden.wait()
    server.end()


def sleeper(*command, **kw):
    return subprocess.Popen([*command], stdout=subprocess.PIPE, **kw)


def thread_of_the_kernel():
    """The pid of a thread of the kernel, or None: a pid namespace has none, and 2 is then the pid
    of any program."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            flags = int(stat.read_text().rpartition(")")[2].split()[6])
            if flags & 0x200000:  # PF_KTHREAD
                return int(stat.parent.name)
    return None


SECCOMP = "import ctypes,time;c=ctypes.CDLL(None);c.prctl(38,1,0,0,0);{};print(1,flush=True);time.sleep(100)"


def test_refusals(servers, workdir):
    """Processes that cannot be recorded: each is refused with a message, nothing is done to it, and
    no recording is made."""

    def refused(pid, text, *args, status=1):
        result = record(pid, *args).must(status)
        assert re.search(text, result.err), result.err
        assert not os.path.exists("uftrace.data")

    refused(2147483647, "there is no process 2147483647")
    refused("no-such-name", "there is no process 'no-such-name'")
    refused("1,,x y", "no process|cannot attach")
    if thread := thread_of_the_kernel():
        refused(thread, "a thread of the kernel|another user's")
    refused(os.getpid(), "utrail itself, or its parent")
    refused(1, "cannot be run, too", "program", status=2)
    refused(1, "says how a program is started", "--keep-pid", status=2)
    refused(1, "says how a program is started", "--no-randomize-addr", status=2)
    refused(1, "handlers of signals", "--crash-report", status=2)
    refused(1, "for programs that are started", "-E", "sched:*@kernel", status=2)

    proc = sleeper("sleep", "100")
    os.kill(proc.pid, signal.SIGSTOP)
    wait_until(lambda: "\nState:\tT" in open(f"/proc/{proc.pid}/status").read())
    refused(proc.pid, f"it is stopped; 'kill -CONT {proc.pid}'")
    proc.kill()
    wait_until(lambda: "\nState:\tZ" in open(f"/proc/{proc.pid}/status").read())
    refused(proc.pid, "it has ended")
    proc.wait()

    (workdir / "nap.c").write_text("#include <unistd.h>\nint main(void) { write(1, \"r\\n\", 2); pause(); return 0; }\n")
    run("gcc", "-static", "nap.c", "-o", "nap-static").must()
    proc = sleeper("./nap-static")
    proc.stdout.readline()
    refused(proc.pid, "statically linked")
    assert proc.poll() is None
    proc.kill()
    proc.wait()

    tracer = subprocess.Popen(
        ["gdb", "-q", "-nx", "--batch", "-ex", "run", "/bin/sleep", "--args", "/bin/sleep", "100"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = lambda: run("pgrep", "-P", tracer.pid, "-x", "sleep").out.strip()
    wait_until(found)
    refused(int(found()), "traces it, and there can be one tracer only")
    os.kill(int(found()), signal.SIGKILL)
    tracer.wait(LIMIT_S)


@contextlib.contextmanager
def starting(*command, **kw):
    proc = sleeper(*command, **kw)
    try:
        yield proc
    finally:
        proc.kill()
        proc.communicate()


def test_program_that_just_starts(workdir):
    """A program that has no C library yet: its dynamic linker still waits for another library."""
    os.mkfifo("library.so")
    with starting("sleep", "100", env=environment(LD_PRELOAD="./library.so"), stderr=subprocess.PIPE) as proc:
        command = [UTRAIL, "record", "-p", str(proc.pid), "--for", "0.1s"]
        recorder = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
        time.sleep(0.2)
        Path("library.so").write_text("no library")
        err = recorder.communicate(timeout=LIMIT_S)[1]
        assert err == "WARN: nothing was recorded: the program made no call that can be seen\n" and recorder.returncode == 0


def test_program_without_a_c_library(workdir):
    linker = "-Wl,--no-as-needed,-dynamic-linker,/lib64/ld-linux-x86-64.so.2"
    Path("prog.c").write_text("void _start(void) { for (;;) ; }")
    run("gcc", "-nostdlib", "-pie", "prog.c", "-o", "prog", linker).must()
    with starting("./prog") as proc:
        assert "its C library is not glibc (musl?), which the probe needs" in record(proc.pid).must(1).err


def test_strict_seccomp(workdir):
    source = (
        "#include <sys/prctl.h>\n#include <linux/seccomp.h>\n#include <unistd.h>\n"
        'int main(void) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); write(1, "r\\n", 2); char c; '
        "while (read(0, &c, 1) >= 0) ; return 0; }\n"
    )
    (workdir / "caged.c").write_text(source)
    run("gcc", "caged.c", "-o", "caged").must()
    proc = subprocess.Popen(["./caged"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    proc.stdout.readline()
    result = record(proc.pid).must(1)
    assert "strict seccomp" in result.err and proc.poll() is None
    proc.kill()
    proc.wait()


def test_other_users(serve):
    reason = why_not_as_nobody()
    if reason:
        pytest.skip(reason)
    server = serve("pg")
    result = utrail("record", "-p", server.pid, preexec=lambda: os.setuid(65534)).must(1)
    assert "another user's (0); root may attach" in result.err
    server.is_as_it_was()
    server.end()


HIDES = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
static volatile sig_atomic_t hides, ends;
static void on_signal(int signal) { (signal == SIGUSR1 ? (hides = 1) : (ends = 1)); }
__attribute__((noipa)) void work(void) { usleep(1000); }
int main(void)
{
	signal(SIGUSR1, on_signal);
	signal(SIGTERM, on_signal);
	puts("ready");
	fflush(stdout);
	while (!ends) {
		work();
		if (hides == 1)
			hides = prctl(PR_SET_DUMPABLE, 0) == 0 && puts("hidden") && fflush(stdout) == 0 ? 2 : 3;
	}
	return 0;
}
"""


def test_a_program_that_cannot_be_looked_at_any_more(monkeypatch):
    """The probe stays in such a program, and that is reported. The program goes on."""
    reason = why_not_as_nobody()
    if reason:
        pytest.skip(reason)
    # Not beneath pytest's directories, which only their owner can enter.
    place = tempfile.mkdtemp(dir="/tmp")
    monkeypatch.chdir(place)
    Path("hides.c").write_text(HIDES)
    run("gcc", "-O1", "-pg", "hides.c", "-o", "hides").must()
    os.chmod(place, 0o777)
    as_nobody = {"preexec_fn": lambda: os.setuid(65534)}
    program = subprocess.Popen(["./hides"], stdout=subprocess.PIPE, text=True, **as_nobody)
    assert program.stdout.readline() == "ready\n"
    recorder = subprocess.Popen([UTRAIL, "record", "-p", str(program.pid)], stderr=subprocess.PIPE,
                                text=True, env=environment(), **as_nobody)
    wait_until(lambda: any(path.stat().st_size for path in Path("uftrace.data").glob("[0-9]*.dat")))
    program.send_signal(signal.SIGUSR1)
    assert program.stdout.readline() == "hidden\n"
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate(timeout=LIMIT_S)[1]
    assert f"the probe stays in process {program.pid}: cannot attach to process {program.pid}" in said
    program.send_signal(signal.SIGTERM)
    assert program.wait(timeout=LIMIT_S) == 0
    assert "work" in names()
    shutil.rmtree(place)


VFORKS = """
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noipa))
FN int in_child(int v) { volatile int seen = v; return seen; }
FN void after(void) { volatile int seen = 1; seen++; }
FN int run_child(int v)
{
	int status;

	if (vfork() == 0) {
		if (in_child(v))
			_exit(v);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait(&status);
	after();
	return WEXITSTATUS(status);
}
int main(void)
{
	char c = 1;

	while (read(0, &c, 1) == 1) {
		for (int i = 0; i < 20; i++) {
			if (run_child(3) != 3 || run_child(0) != 0)
				return 1;
		}
		write(1, &c, 1);
	}
	return 0;
}
"""


@pytest.mark.parametrize("options, flags", [([], ["-pg"]), ([], ["-finstrument-functions", "-Wl,-z,now"]), (["-P", "."], ["-Wl,-z,lazy"])],
                         ids=["pg", "cyg-now", "patched"])
def test_children_in_the_memory_of_an_attached_parent(workdir, options, flags):
    """Calls of a child of vfork(2) before its exec are recorded as the child's. After detaching the
    program is as it was."""
    (workdir / "vforks.c").write_text(VFORKS)
    subprocess.run(["gcc", "-O1", *flags, "vforks.c", "-o", "vforks"], check=True)
    with subprocess.Popen(["./vforks"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        def round_trip():
            program.stdin.write(b"x")
            program.stdin.flush()
            assert program.stdout.read(1) == b"x"

        round_trip()
        with subprocess.Popen([UTRAIL, "record", *options, "-p", str(program.pid)], env=environment()) as recorder:
            wait_until(lambda: "libmcount" in Path(f"/proc/{program.pid}/maps").read_text())
            wait_until(lambda: "TracerPid:\t0\n" in Path(f"/proc/{program.pid}/status").read_text())
            for _ in range(3):
                round_trip()
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(LIMIT_S) == 0
        round_trip()
        assert "libmcount" not in Path(f"/proc/{program.pid}/maps").read_text()
        program.stdin.close()
        assert program.wait(LIMIT_S) == 0
    tasks = Recording("uftrace.data").tasks
    children = [tid for tid, t in tasks.items() if any(r.name == "in_child" for r in t.records)]
    assert len(children) >= 80 and program.pid not in children
    assert sum(r.name == "after" and r.kind == ENTRY for r in tasks[program.pid].records) >= 80
