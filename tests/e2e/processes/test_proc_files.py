"""record --proc: what processes do to files, compared with strace(1), and that recording does them
no harm."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter

import pytest
from proc_ways import WAYS, lacking, only_bpf, only_ptrace, proc, way, what_matters  # noqa: F401  (a fixture)
from test_proc import compile_here, events, of_kind, record
from tools import LIMIT_S, UTRAIL, environment, is_alive, run, utrail, wait_until

# Makes each call in each way that may succeed, and some that fail. It is static, so no probe opens
# files of its own in it.
PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *in_thread(void *arg)
{
	prctl(PR_SET_NAME, "a thread's name that is cut");
	close(open("plain", O_WRONLY | O_APPEND));
	return arg;
}

static void open_all(int dir)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT, .mode = 0640 };
	struct { struct file_handle head; char bytes[128]; } handle = { { .handle_bytes = 128 } };
	char up[4096] = "";
	int id;

	creat("plain", 0604);
	open("a\nb \xff\x01'\"", O_CREAT | O_EXCL | O_RDWR, 0600);
	open("a\nb \xff\x01'\"", O_CREAT | O_EXCL | O_RDWR, 0600);
	openat(dir, "below", O_CREAT | O_WRONLY | O_CLOEXEC, 0);
	syscall(SYS_openat2, dir, "two", &how, sizeof(how));
	symlink("nowhere", "dangling");
	symlink("plain", "link");
	symlinkat("../plain", dir, "link");
	open("dangling", O_RDONLY);
	open("dangling", O_PATH | O_NOFOLLOW);
	syscall(SYS_open, "link", O_RDONLY | O_NONBLOCK);
	openat(dir, "../dir/.././dir/link", O_RDONLY);
	open(".", O_TMPFILE | O_RDWR, 0600);
	for (int i = 0; i < 400; i++)
		strcat(up, "../");
	open(strcat(up, "etc/passwd"), O_RDONLY);
	open((char *)8, O_RDONLY);
	if (name_to_handle_at(dir, "below", &handle.head, &id, 0) == 0)
		open_by_handle_at(dir, &handle.head, O_RDONLY);
}

static void copy_all(void)
{
	int ends[2];

	pipe(ends);
	pipe2(ends, O_CLOEXEC | O_NONBLOCK);
	dup(0);
	dup(99);
	dup2(1, 50);
	dup2(1, 1);
	dup3(1, 51, O_CLOEXEC);
	fcntl(1, F_DUPFD, 52);
	fcntl(1, F_DUPFD_CLOEXEC, 53);
	fcntl(1, F_GETFD);
	close(50);
	close(50);
	close(-1);
	syscall(SYS_close_range, 51, 53, 4);
	syscall(SYS_close_range, 51, 53, 0);
}

static void move_all(int dir)
{
	rename("plain", "a new name");
	rename("plain", "other");
	renameat(dir, "below", AT_FDCWD, "above");
	syscall(SYS_renameat2, AT_FDCWD, "above", dir, "link", RENAME_NOREPLACE);
	syscall(SYS_renameat2, AT_FDCWD, "above", dir, "link", RENAME_EXCHANGE);
	link("a new name", "dir/hard");
	linkat(dir, "hard", AT_FDCWD, "hard\nhard", 0);
	linkat(dir, "hard", AT_FDCWD, "hard", 0);
	linkat(AT_FDCWD, "nothing", dir, "x", 0);
	link("dir/link", "hard link");
	linkat(AT_FDCWD, "link", dir, "followed", AT_SYMLINK_FOLLOW);
	unlink("hard");
	unlink("hard");
	unlinkat(dir, "link", 0);
	mkdir("empty", 0700);
	mkdir("empty2", 0700);
	rmdir("empty//");
	unlinkat(AT_FDCWD, "empty2", AT_REMOVEDIR);
}

int main(void)
{
	pthread_t thread;
	int dir;

	mkdir("dir", 0755);
	dir = open("dir", O_RDONLY | O_DIRECTORY);
	open_all(dir);
	pthread_create(&thread, 0, in_thread, 0);
	pthread_join(thread, 0);
	copy_all();
	if (vfork() == 0) {
		close(open("/proc/self/comm", O_RDONLY));
		_exit(0);
	}
	wait(0);
	move_all(dir);
	return 0;
}
"""

# Calls that the C library does not have, or that are made by other ways than the machine's usual
# one.
OTHER_WAYS = r"""
static int call(int number, const void *a, long b, long c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}
void _start(void)
{
	static int ends[2];

	call(8, "created", 0600, 0);
	call(5, "created", 0, 0);
	call(6, (void *)999, 0, 0);
	call(42, ends, 0, 0);
	call(221, (void *)(long)ends[0], 1030, 40);
	call(55, (void *)(long)ends[0], 1, 40);
	call(63, (void *)(long)ends[0], 41, 0);
	call(38, "created", (long)"renamed", 0);
	call(10, "renamed", 0, 0);
	call(1, (void *)7, 0, 0);
}
"""

CALLS = ("open,openat,openat2,creat,open_by_handle_at,close,close_range,dup,dup2,dup3,fcntl,pipe,pipe2,rename,renameat,renameat2,"
         "link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,prctl")
FLAGS = {name: getattr(os, name) for name in dir(os) if name.startswith("O_")}
FLAGS |= {"0": 0, "O_NOFOLLOW": os.O_NOFOLLOW, "RENAME_EXCHANGE": 2, "AT_REMOVEDIR": 0x200, "AT_SYMLINK_FOLLOW": 0x400}


def number(text):
    """The value of flags that strace writes."""
    return sum({FLAGS[word] if word in FLAGS else int(word, 0) for word in text.split("|")})


def unhex(text):
    """A name that strace -xx writes, as JSON has it in our events: U+FFFD stands for bytes that are
    not UTF-8."""
    raw = re.sub(rb"\\x(..)", lambda m: bytes.fromhex(m.group(1).decode()), text.encode())
    return raw.decode("utf-8", "replace")


def split_args(text):
    """The arguments at the commas outside of quotes and angles; -xx escapes all other commas."""
    return [word.strip() for word in re.findall(r'((?:"[^"]*"|<[^>]*>|\{[^}]*\}|\[[^\]]*\]|[^,"<{\[])+)', text)]


class Strace:
    """The events that --proc should have for the lines of strace: (event, the arguments that
    matter)."""

    def __init__(self, text):
        self.events = Counter()
        for line in text.splitlines():
            line = re.sub(r"^\d+ +", "", line)
            match = re.match(r"(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(\(deleted\))?", line)
            if match and int(match[3]) >= 0:
                self.add(match[1], split_args(match[2]), int(match[3]), unhex(match[4] or "") + (" (deleted)" if match[5] else ""))

    def place(self, directory, name):
        base = unhex(re.fullmatch(r"[^<]*<(.*)>", directory)[1]) if directory else os.getcwd()
        return os.path.normpath(os.path.join(base, unhex(name.strip('"'))))

    def fd(self, text):
        return int(re.match(r"-?\d+", text)[0])

    def add(self, name, args, result, path):
        if name == "creat":
            self.events["open", result, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, int(args[1], 8), path] += 1
        elif name in ("open", "openat"):
            rest = args[1:] if name == "open" else args[2:]
            self.events["open", result, number(rest[0]), int(rest[1], 8) if len(rest) > 1 else 0, path] += 1
        elif name == "openat2":
            flags, mode = re.search(r"flags=([^,]*), mode=(\d+)", args[2]).groups()
            self.events["open", result, number(flags), int(mode, 8), path] += 1
        elif name == "open_by_handle_at":
            # strace does not name the file that open_by_handle_at() opens.
            self.events["open", result, number(args[-1]), 0, os.path.join(os.getcwd(), "dir/below")] += 1
        elif name == "close":
            self.events["close", self.fd(args[0]), None] += 1
        elif name == "close_range" and args[2] == "0":
            self.events["close", self.fd(args[0]), self.fd(args[1])] += 1
        elif name in ("dup", "dup2"):
            self.events["dup", self.fd(args[0]), result, 0] += 1
        elif name == "dup3":
            self.events["dup", self.fd(args[0]), result, number(args[2])] += 1
        elif name == "fcntl" and args[1].startswith("F_DUPFD"):
            self.events["dup", self.fd(args[0]), result, os.O_CLOEXEC if args[1] == "F_DUPFD_CLOEXEC" else 0] += 1
        elif name in ("pipe", "pipe2"):
            ends = [int(end) for end in re.findall(r"(\d+)<", args[0])]
            self.events["pipe", *ends, number(args[1]) if len(args) > 1 else 0] += 1
        elif name in ("rename", "link"):
            self.events[name, 0, self.place("", args[0]), self.place("", args[1])] += 1
        elif name in ("renameat", "renameat2", "linkat"):
            source = self.place(args[0], args[1])
            flags = number(args[4]) if len(args) > 4 else 0
            source = os.path.realpath(source) if flags == 0x400 else source
            self.events[name.rstrip("2")[:-2], flags, source, self.place(args[2], args[3])] += 1
        elif name in ("symlink", "symlinkat"):
            self.events["symlink", unhex(args[0].strip('"')), self.place(args[1] if name == "symlinkat" else "", args[-1])] += 1
        elif name in ("unlink", "rmdir"):
            self.events["unlink", 0x200 if name == "rmdir" else 0, self.place("", args[0])] += 1
        elif name == "unlinkat":
            self.events["unlink", number(args[2]), self.place(args[0], args[1])] += 1
        elif name == "prctl" and args[0] == "PR_SET_NAME":
            self.events["name", unhex(args[1].strip('".'))[:15]] += 1


FIELDS = {
    "open": ["fd", "flags", "mode", "path"],
    "close": ["fd", "last"],
    "dup": ["old", "new", "flags"],
    "pipe": ["read", "write", "flags"],
    "rename": ["flags", "from", "to"],
    "link": ["flags", "from", "to"],
    "symlink": ["target", "path"],
    "unlink": ["flags", "path"],
    "name": ["name"],
}


def value(event, field):
    found = event["args"].get(field, None if field == "last" else 0)
    return int(found, 16) if field in ("flags", "mode") and isinstance(found, str) else found


def acts(all_events):
    ours = Counter()
    for event in all_events:
        name = event["event"].removeprefix("proc:")
        if name in FIELDS:
            ours[name, *(value(event, field) for field in FIELDS[name])] += 1
    return ours


def without_numbers(all_acts):
    """The actions without numbers of inodes and processes, which differ in each run. The numbers
    are parts of the names of files that have no other name."""
    same = Counter()
    for act, count in all_acts.items():
        same[tuple(re.sub(r"(#|/proc/)\d+", r"\1", word) if isinstance(word, str) else word for word in act)] += count
    return same


def in_empty_place(tmp_path, monkeypatch, recorder, *command):
    place = tmp_path / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    monkeypatch.chdir(place)
    return recorder(*command)


def test_every_call_is_as_strace_has_it(tmp_path, monkeypatch):
    exe = compile_here(tmp_path, PROGRAM, "-static", "-pthread", "-w")
    strace = ["strace", "-f", "-y", "-xx", "-s", "9999", "-e", "trace=" + CALLS, "-o", tmp_path / "strace.txt"]
    in_empty_place(tmp_path, monkeypatch, record, "-d", tmp_path / "data", exe).must()
    ours = acts(events(tmp_path / "data"))
    in_empty_place(tmp_path, monkeypatch, run, *strace, exe).must()
    theirs = Strace((tmp_path / "strace.txt").read_text()).events
    assert len(theirs) >= 40 and {act[0] for act in theirs} == set(FIELDS)
    ours, theirs = without_numbers(ours), without_numbers(theirs)
    assert (ours - theirs, theirs - ours) == (Counter(), Counter())


def only_opened(all_events, name):
    return [event for event in of_kind(all_events, "open") if event["args"]["path"].endswith(name)]


def test_other_ways_to_call_the_kernel(workdir):
    """System calls by int $0x80 from a program of 64 bits, and, where they can be compiled, from
    programs of 32 bits."""
    for options in (["-no-pie"], ["-m32"]):
        try:
            exe = compile_here(workdir, OTHER_WAYS, "-static", "-nostdlib", "-O1", "-w", *options)
        except subprocess.CalledProcessError:
            continue
        if run(exe).status != 7:
            pytest.skip("this kernel runs no programs of 32 bits")
        assert record("--force", exe).status == 7
        ours = acts(events())
        here = str(workdir)
        (inherited,) = [event for event in ours if event[0] == "pipe"]
        ends = inherited[1:3]
        assert ours - Counter([("open", ends[0] - 1, 0, 0, here + "/created")]) == Counter([
            ("open", ends[0] - 2, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600, here + "/created"),
            inherited,
            ("dup", ends[0], 40, os.O_CLOEXEC),
            ("dup", ends[0], 41, 0),
            ("rename", 0, here + "/created", here + "/renamed"),
            ("unlink", 0, here + "/renamed"),
        ])


UNTRACED_CHILD = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status;
#ifdef BY_CLONE3
	/* The kernel takes larger arguments than it knows, if the rest is 0. */
	union {
		struct clone_args head;
		char bytes[BY_CLONE3];
	} args = { .head = { .flags = CLONE_UNTRACED, .exit_signal = SIGCHLD } }, before = args;
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (memcmp(&args, &before, sizeof(args)))
		_exit(6);
#else
	long pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
#endif

	if (pid == 0)
		_exit(open("/etc/passwd", O_RDONLY) < 0 ? errno : 5);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
"""


@pytest.mark.parametrize("call", [[], ["-DBY_CLONE3=88"], ["-DBY_CLONE3=264"], ["-DBY_CLONE3=4096"]],
                         ids=["clone", "clone3", "large-clone3", "page-clone3"])
@pytest.mark.parametrize("options", [[], ["-static"]], ids=["dynamic", "static"])
def test_child_that_wants_no_tracer(workdir, options, call):
    """A child with CLONE_UNTRACED would have the filter without a tracer: all calls that stop for
    the tracer would fail (ENOSYS)."""
    exe = compile_here(workdir, UNTRACED_CHILD, *options, *call)
    assert run(exe).status == 5
    assert record("--force", exe).status == 5


def test_dynamic_programs_read_what_strace_says(workdir):
    """The files that a shell, its children and their libraries open; the probe adds one."""
    script = "cat /etc/passwd > copy; cp copy copy2; mv copy2 copy3; ls -l | sort > list; rm -f copy"
    strace = ["strace", "-f", "-y", "-e", "trace=open,openat", "-o", "strace.txt"]
    record("sh", "-c", script).must()
    run(*strace, "sh", "-c", script).must()
    theirs = Counter(re.findall(r"open(?:at)?(?:\(| resumed).* = \d+<(.*)>$", (workdir / "strace.txt").read_text(), re.M))
    ours = Counter(event["args"]["path"] for event in of_kind(events(), "open"))
    missing = {path for path in theirs if not path.startswith("/proc/")} - set(ours)
    assert not missing
    assert {path for path in set(ours) - set(theirs) if "libmcount" not in path and not path.startswith("/proc/")} == set()
    assert ours[str(workdir / "copy")] == theirs[str(workdir / "copy")] == 2


def test_descriptors_that_a_program_begins_with(workdir):
    script = "exec 7< /etc/passwd; exec 8> out; cat <&8- /dev/null | sh -c 'exit 3'"
    utrail("record", proc(), "--no-libcall", "sh", "-c", script)
    mine = events()
    execs = [event["tid"] for event in of_kind(mine, "exec")]
    last = [event["args"] for event in of_kind(mine, "inherit") if event["tid"] == execs[-1]]
    paths = {args["fd"]: args["path"] for args in last}
    assert paths[7] == os.path.realpath("/etc/passwd")
    first = {event["args"]["fd"] for event in of_kind(mine, "inherit") if event["tid"] == execs[0]}
    assert {0, 1, 2} <= first and not {7, 8} & first
    pipes = [event["args"] for event in of_kind(mine, "inherit") if event["args"]["path"].startswith("pipe:")]
    ends = Counter(args["path"] for args in pipes if args["fd"] in (0, 1))
    assert 2 in ends.values(), "one writes what the other reads"


def test_environment_is_told_on_demand(workdir, monkeypatch):
    monkeypatch.setenv("A_SECRET", "two words\nand a line")
    record("true").must()
    assert not of_kind(events(), "env")
    record("--proc-env", "true").must()
    (event,) = of_kind(events(), "env")
    assert "A_SECRET=two words\nand a line" in event["args"]["environment"].split("\0")


def test_without_files(workdir):
    record("--no-proc-files", "sh", "-c", "exec 3< /etc/passwd; grep Seccomp: /proc/self/status > status").must()
    assert {event["event"] for event in events()} == {"proc:exec", "proc:exit", "proc:fork"}
    assert (workdir / "status").read_text().split() == ["Seccomp:", "0"]


CHROOT = """
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	if (chroot("root") < 0 || chdir("/in") < 0)
		return 1;
	close(open("../../../file", O_CREAT | O_RDWR, 0600));
	rename("/abs/file", "other");
	symlink("/in/other", "link");
	return 0;
}
"""


@pytest.mark.skipif(os.getuid() != 0, reason="chroot(2) is root's")
def test_paths_behind_chroot_begin_with_the_way_there(workdir):
    exe = compile_here(workdir, CHROOT, "-static", "-w")
    (workdir / "root" / "in").mkdir(parents=True)
    (workdir / "root" / "abs").symlink_to("/")
    record(exe).must()
    mine, root = events(), str(workdir / "root")
    (opened,) = only_opened(mine, "/file")
    assert opened["args"]["path"] == root + "/file" and opened["args"]["given"] == root + "/in/../../../file"
    assert of_kind(mine, "rename")[0]["args"] == {"from": root + "/file", "to": root + "/in/other"}
    assert of_kind(mine, "symlink")[0]["args"] == {"target": "/in/other", "path": root + "/in/link", "resolved": root + "/in/other"}


MOUNTS = "mount -n -t tmpfs some tmp && umount -n tmp"


def test_mounts(workdir):
    (workdir / "tmp").mkdir()
    if run("unshare", "-Urm", "sh", "-c", MOUNTS).status:
        pytest.skip("no mounts here")
    record("unshare", "-Urm", "sh", "-c", MOUNTS).must()
    mine, place = events(), str(workdir / "tmp")
    (mounted,) = [event["args"] for event in of_kind(mine, "mount") if event["args"]["path"] == place]
    assert (mounted["source"], mounted["type"]) == ("some", "tmpfs")
    assert [event["args"]["path"] for event in of_kind(mine, "umount")] == [place]


@only_ptrace
def test_as_another_user(workdir):
    """A user without rights may set the filter only by giving up setuid programs; root in a user
    namespace need not."""
    workdir.chmod(0o777)
    for others in (["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"], ["unshare", "-Ur"]):
        if run(*others, "true").status:
            continue
        result = run(*others, UTRAIL, "record", proc(), "-d", others[0], "cat", "/etc/passwd", env=environment())
        assert result.status == 0, result.err
    assert only_opened(events("unshare" if (workdir / "unshare").exists() else "setpriv"), "/etc/passwd")


SECCOMP = r"""
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter code[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_creat },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EXDEV },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog program = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 9;
	if (syscall(SYS_creat, "x", 0600) != -1 || errno != EXDEV)
		return 8;
	return open("y", O_CREAT | O_WRONLY, 0600) < 0;
}
"""


def test_programs_have_their_own_filters(workdir):
    exe = compile_here(workdir, SECCOMP, "-static", "-w")
    record(exe).must()
    assert [event["args"]["path"] for event in of_kind(events(), "open")] == [str(workdir / "y")]


def start(*command):
    os.mkfifo("fifo")
    return subprocess.Popen([UTRAIL, "record", proc(), *command], stdout=subprocess.PIPE, text=True, env=environment(), process_group=0)


@only_ptrace
def test_tree_ends_with_a_recorder_that_is_killed(workdir):
    """Processes end with their tracer: without it their system calls would fail."""
    recorder = start("sh", "-c", "echo $$; (exec sleep 1000) & read line < fifo; echo more > out")
    pid = int(recorder.stdout.readline())
    wait_until(lambda: [event for event in of_kind(events(), "exec") if event["args"]["program"].endswith("/sleep")])
    sleeper = [event["pid"] for event in of_kind(events(), "exec")][-1]
    recorder.kill()
    recorder.wait(LIMIT_S)
    for process in (pid, sleeper):
        wait_until(lambda: not is_alive(process))
    assert not (workdir / "out").exists()


@pytest.mark.parametrize("options", [[], ["--no-proc-files"]])
def test_who_is_left_behind_ends_with_the_recording(workdir, options, way):  # noqa: F811
    """Processes that outlive the program are ended with the recording if they have a seccomp
    filter. Other processes go on."""
    recorder = start(*options, "sh", "-c", "sleep 1000 > /dev/null & echo $! $$; exit 3")
    pid, program = map(int, recorder.stdout.readline().split())
    wait_until(lambda: not os.path.exists(f"/proc/{program}"))
    # The recorder may notice the program's end a moment later. Until then it passes SIGINT on to
    # the program.
    wait_until(lambda: recorder.poll() is not None or recorder.send_signal(signal.SIGINT))
    assert recorder.returncode == 3
    if options or way == "bpf":
        os.kill(pid, signal.SIGKILL)
    else:
        wait_until(lambda: not is_alive(pid))


def test_a_call_that_waits_is_interrupted_as_alone(workdir):
    """A process that waits in open(2) of a FIFO without a writer can be stopped, continued, and
    ended by a signal, as a process that is not traced."""
    recorder = start("sh", "-c", "trap 'exit 5' USR1; echo $$; read line < fifo; echo read > out; exit 6")
    pid = int(recorder.stdout.readline())
    wait_until(lambda: open(f"/proc/{pid}/syscall").read().split()[0] in ("2", "257"))
    os.kill(pid, signal.SIGTSTP)
    os.kill(pid, signal.SIGCONT)
    (workdir / "fifo").write_text("go\n")
    assert recorder.wait(LIMIT_S) == 6
    assert (workdir / "out").read_text() == "read\n"
    assert only_opened(events(), "/fifo")


WIDE = """
all: $(addprefix out,$(shell seq 100))
out%: in%
\tcat $< > made$*; mv made$* $@
"""


def test_a_hundred_at_a_time(workdir):
    """make -j100: each process and each file is recorded exactly once."""
    (workdir / "Makefile").write_text(WIDE)
    for i in range(1, 101):
        (workdir / f"in{i}").write_text(f"{i}\n")
    record("--no-event", "make", "-s", "-j100").must()
    mine = events()
    top = os.getcwd()

    first = of_kind(mine, "exec")[0]["tid"]
    children = [event["args"]["child"] for event in of_kind(mine, "fork")]
    assert Counter(event["tid"] for event in of_kind(mine, "exit")) == Counter([*children, first])

    def about(kind, key, name):
        paths = (event["args"][key] for event in of_kind(mine, kind))
        return Counter(path for path in paths if re.fullmatch(rf"{top}/{name}\d+", path))

    every = lambda name: Counter(f"{top}/{name}{i}" for i in range(1, 101))  # noqa: E731
    assert about("open", "path", "in") == every("in")
    assert about("open", "path", "made") == every("made")
    assert about("rename", "from", "made") == every("made")
    assert about("rename", "to", "out") == every("out")
    assert not about("open", "path", "out")
    # The programs of all rules were run.
    programs = Counter(os.path.basename(event["args"]["program"]) for event in of_kind(mine, "exec"))
    assert programs["cat"] == programs["mv"] == 100
    assert all((workdir / f"out{i}").read_text() == f"{i}\n" for i in range(1, 101))


BUILD = """
all: both
both: one.o two.o
\tgcc -o $@ $^
\tmv both moved && ln -s moved both && ln moved second && rm second
%.o: %.c
\tgcc -O1 -c -o $@ $<
"""


@only_bpf
def test_both_ways_tell_the_same(tmp_path, monkeypatch):
    """ptrace and eBPF record exactly the same events of a build with make -j2."""
    found = {}
    for one in WAYS:
        if why := lacking(one):
            pytest.skip(why)
        place = tmp_path / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        monkeypatch.chdir(place)
        (place / "Makefile").write_text(BUILD)
        (place / "one.c").write_text("#include <stdio.h>\nint main(void)\n{\n\treturn puts(\"x\") < 0;\n}\n")
        (place / "two.c").write_text("#include <errno.h>\nint two;\n")
        options = [f"--proc={one}", "--proc-env", "--no-libcall", "--no-event", "-d", tmp_path / one]
        utrail("record", *options, "make", "-s", "-j2").must()
        found[one] = what_matters(events(tmp_path / one))
    assert sum(found["bpf"].values()) > 500
    assert (found["bpf"] - found["ptrace"], found["ptrace"] - found["bpf"]) == (Counter(), Counter())


# This program opens unusual files, and files without a name, and leaves them open for the next
# program. It also uses names that lead to a file for a moment only.
ODD = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void go_deep(void)
{
	char name[201];
	int top = open(".", O_PATH | O_DIRECTORY);

	memset(name, 'n', 200);
	name[200] = 0;
	for (int i = 0; i < 22; i++) {
		mkdir(name, 0700);
		if (chdir(name) < 0)
			break;
		close(open("file", O_CREAT | O_WRONLY, 0600));
		rename("file", "other");
	}
	fchdir(top);
}

int main(int argc, char **argv)
{
	sigset_t none;
	int dir, fd;

	sigemptyset(&none);
	memfd_create("a memory", 0);
	eventfd(0, 0);
	epoll_create1(0);
	inotify_init1(0);
	signalfd(-1, &none, 0);
	timerfd_create(CLOCK_MONOTONIC, 0);
	socket(AF_UNIX, SOCK_STREAM, 0);
	syscall(SYS_pidfd_open, getpid(), 0);
	mmap(0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	open("/proc/self/ns/mnt", O_RDONLY);
	open("/proc/self/ns/pid", O_RDONLY);
	open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	open("/dev/null", O_WRONLY | O_APPEND);
	open("/", O_PATH);
	mkdir("dir", 0700);
	dir = open("dir", O_PATH);
	fd = openat(dir, "gone", O_CREAT | O_RDWR, 0600);
	unlinkat(dir, "gone", 0);
	linkat(fd, "", AT_FDCWD, "again", AT_EMPTY_PATH);
	fd = open("dir/kept", O_CREAT | O_RDWR, 0600);
	linkat(fd, "", AT_FDCWD, "kept", AT_EMPTY_PATH);
	symlink("nowhere", "to nowhere");
	rename("dir/kept", "dir/./moved");
	rename("dir", "other dir");
	openat(dir, "moved", O_RDONLY);
	mkdir("work", 0700);
	chdir("work");
	unlinkat(open("..", O_PATH), "work", AT_REMOVEDIR);
	open(".", O_RDONLY);
	open("../x", O_CREAT | O_WRONLY, 0600);
	chdir("/");
	chdir(argv[1]);
	if (unshare(CLONE_NEWNS) == 0) {
		mount("none", "/", 0, MS_REC | MS_PRIVATE, 0);
		mkdir("below", 0700);
		mount("other dir", "below", "none", MS_BIND, 0);
		open("below/moved", O_RDONLY);
		rename("below/moved", "below/once more");
		mount("x", "/dev/null", "none", MS_BIND, 0);
		open("/dev/null", O_RDONLY);
		umount2("/dev/null", MNT_DETACH);
		mount("some", "below", "tmpfs", 0, 0);
		fd = open("below/in tmpfs", O_CREAT | O_RDWR, 0600);
		link("below/in tmpfs", "below/linked");
		umount2("below", MNT_DETACH);
	}
	go_deep();
	prctl(PR_SET_NAME, "");
	return execl("/bin/echo", "echo", "", "x", (char *)0);
}
"""


@only_bpf
@pytest.mark.skipif(os.getuid() != 0, reason="mounts are root's")
def test_both_ways_tell_the_same_of_odd_files(tmp_path, monkeypatch):
    exe = compile_here(tmp_path, ODD, "-static", "-w")
    found = {}
    for one in WAYS:
        if why := lacking(one):
            pytest.skip(why)
        command = ["record", f"--proc={one}", "--no-libcall", "--no-event", "-d", tmp_path / one, exe, tmp_path / "place"]
        in_empty_place(tmp_path, monkeypatch, utrail, *command).must()
        found[one] = Counter({(name, re.sub(r"#\d+|mnt:\[\d+|0x[0-9a-f]{6,}", "#", text)): count
                              for (name, text), count in what_matters(events(tmp_path / one)).items()})
    assert len(found["bpf"]) > 50
    assert (found["bpf"] - found["ptrace"], found["ptrace"] - found["bpf"]) == (Counter(), Counter())


def test_a_build_leaves_behind_who_can_go_on_alone(workdir, way):  # noqa: F811
    """A build does not wait for processes that can go on without the recorder. With ptrace(2) and its
    filter of system calls no process can go on alone, so a build waits for the end of all."""
    seconds = 1000 if way == "bpf" else 3
    result = utrail("build", "--as=json", proc(), "-o", "tree.json", "sh", "-c", f"sleep {seconds} </dev/null >/dev/null 2>&1 & echo $! > daemon; exit 3")
    assert result.status == 3
    assert ("processes that the command has left behind go on" in result.err) == (way == "bpf")
    if way == "bpf":
        os.kill(int((workdir / "daemon").read_text()), signal.SIGKILL)
    assert json.loads((workdir / "tree.json").read_text())
