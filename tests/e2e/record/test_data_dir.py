"""The data directory of `record`. `record` deletes only files that have the names of files of a
recording. It follows no links, and deletes no recording that is being made."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from data import Recording
from programs import Variant, build, program
from tools import UTRAIL, environment, peer, run, utrail

PG = Variant("gcc", "pg", "O2")

# Runs until a line or the end of its input comes.
WAITS = """
#include <unistd.h>
int step(void) { char c; return read(0, &c, 1); }
int main(void) { write(1, "runs", 4); return step() < 0; }
"""


def tree(recording):
    """The names of functions in the records of calls and returns, in order."""
    return [record.name for record in next(iter(recording.tasks.values())).records]


def plain():
    return build(program("plain"), PG)


@pytest.fixture
def waits(workdir):
    (workdir / "waits.c").write_text(WAITS)
    run("gcc", "-pg", "-O0", "-o", "waits", "waits.c").must()
    return workdir / "waits"


class Started:
    """A recorder whose program runs until it gets a line."""

    def __init__(self, exe, *options):
        command = [UTRAIL, "record", *options, exe]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment(), start_new_session=True)

    def wait_until_it_runs(self):
        assert self.process.stdout.read(4) == b"runs"
        return self

    def end(self):
        out, err = self.process.communicate(b"\n")
        assert (self.process.returncode, err) == (0, b"")
        return out

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def content(directory):
    """All names below the directory, with the content of files."""
    return {str(p.relative_to(directory)): p.read_bytes() if p.is_file() else None for p in Path(directory).rglob("*")}


def refused(*words, options=()):
    before = content(".")
    result = utrail("record", *options, plain())
    lines = result.err.splitlines()
    assert result.status == 1 and result.out == "" and len(lines) == 1, result
    assert lines[0].startswith("utrail: cannot ") and lines[0].endswith("use -d"), lines
    for word in words:
        assert word in lines[0]
    assert content(".") == before


def test_old_one_is_a_link(workdir):
    utrail("record", "-d", "other", plain()).must()
    utrail("record", plain()).must()
    Path("uftrace.data.old").symlink_to("other")
    refused("uftrace.data.old", "link")
    Path("uftrace.data.old").unlink()
    Path("uftrace.data.old").symlink_to("nowhere")
    refused("uftrace.data.old", "link")
    Path("uftrace.data.old").unlink()
    utrail("record", plain()).must()
    assert tree(Recording("other")) == tree(Recording("uftrace.data"))


def test_a_link_in_the_place(workdir):
    """A link in the directory's place is renamed to .old. The link's target stays unchanged, also
    at the next recording."""
    utrail("record", "-d", "other", plain()).must()
    before = content("other")
    Path("uftrace.data").symlink_to("other")
    utrail("record", plain()).must()
    assert Path("uftrace.data.old").is_symlink() and not Path("uftrace.data").is_symlink()
    refused("uftrace.data.old", "link")
    assert content("other") == before


@pytest.mark.parametrize("name", ["precious", "info.bak", ".hidden", "notes.txt", "a.dat", "evil\x1b[5m\nname"])
def test_files_of_the_user(workdir, name):
    utrail("record", plain()).must()
    (workdir / "uftrace.data" / name).write_text("mine")
    utrail("record", plain()).must()
    shown = name.replace("\x1b", "\\x1b").replace("\n", "\\x0a")
    refused("uftrace.data.old", f"'{shown}'")
    assert (workdir / "uftrace.data.old" / name).read_text() == "mine"
    (workdir / "uftrace.data.old" / name).unlink()
    utrail("record", plain()).must()


def test_what_is_no_file(workdir):
    """An old recording is not removed if it has a directory, link or pipe that is named like a file
    of recordings. The FIFO of uftrace is an exception."""
    utrail("record", plain()).must()
    utrail("record", plain()).must()
    old = workdir / "uftrace.data.old"
    (workdir / "mine.sym").write_text("mine")
    (old / "x.sym").symlink_to("../mine.sym")
    refused("'x.sym'")
    (old / "x.sym").unlink()
    (old / "x.dbg").mkdir()
    refused("'x.dbg'")
    (old / "x.dbg").rmdir()
    os.mkfifo(old / "7.dat")
    refused("'7.dat'")
    (old / "7.dat").unlink()
    # uftrace makes this FIFO, and leaves it when it is killed.
    os.mkfifo(old / ".channel")
    utrail("record", plain()).must()
    assert (workdir / "mine.sym").read_text() == "mine"


@pytest.mark.parametrize("others", [{}, {"important.txt": "mine"}, {"info": "words\n"}, {"task.txt": "buy milk\n"}])
@pytest.mark.parametrize("place", ["uftrace.data", "uftrace.data.old"])
def test_options_do_not_make_a_recording(workdir, others, place):
    if place != "uftrace.data":
        utrail("record", plain()).must()
    (workdir / place).mkdir()
    for name, text in {"default.opts": "-t 1ms\n", **others}.items():
        (workdir / place / name).write_text(text)
    refused(place, "not a recording")


def killed_early():
    """The files that a killed recorder leaves, for each step of its start."""
    marker = {".info.tmp": ""}
    yield {}
    yield marker
    yield {**marker, ".default.opts.tmp": ""}
    yield {**marker, "default.opts": ""}
    yield {**marker, "default.opts": "-t 1ms\n", "task.txt": "", "events.txt": "", ".events.txt.tmp": ""}
    yield {".info.tmp": "Ftr", "default.opts": "", "task.txt": ""}
    # uftrace writes info last.
    yield {"default.opts": "", "1.dat": "", "sid-0123456789abcdef.map": "",
           "task.txt": 'SESS timestamp=1.000000001 pid=1 sid=0123456789abcdef exename="/bin/true"\n'}


@pytest.mark.parametrize("files", killed_early())
@pytest.mark.parametrize("place", ["uftrace.data", "uftrace.data.old"])
def test_killed_early(workdir, place, files):
    if place != "uftrace.data":
        utrail("record", plain()).must()
    (workdir / place).mkdir()
    for name, text in files.items():
        (workdir / place / name).write_text(text)
    for _ in range(3):
        utrail("record", plain()).must()
    assert sorted(p for p in os.listdir() if p != "gmon.out") == ["uftrace.data", "uftrace.data.old"]
    assert tree(Recording("uftrace.data")) == tree(Recording("uftrace.data.old"))
    assert not [p for p in os.listdir("uftrace.data") if p.startswith(".")]


@pytest.mark.needs_peer
def test_those_of_uftrace(workdir):
    exe = plain()
    for _ in range(2):
        peer("record", "-a", exe).must()
    for _ in range(3):
        utrail("record", exe).must()


@pytest.mark.parametrize("options", [[], ["--keep-pid"], ["--flight=1m"]])
def test_in_use(waits, options):
    """A second recording renames the first one's directory, and the first recorder goes on there. A
    third recording does not delete that directory."""
    with Started(waits, *options) as first:
        first.wait_until_it_runs()
        utrail("record", plain()).must()
        # The recorder renames a file when it has written it: its first name begins with a dot.
        begun = [name for name in os.listdir("uftrace.data.old") if name[0] != "."]
        for _ in range(2):
            result = utrail("record", plain())
            assert result.status == 1 and result.out == ""
            assert result.err == ("utrail: cannot replace 'uftrace.data.old': a recorder is still writing into it; wait for its end "
                                  "or use -d\n")
        assert set(begun) <= set(os.listdir("uftrace.data.old"))
        assert tree(Recording("uftrace.data"))
        first.end()
    assert {"main", "step"} <= {r.name for task in Recording("uftrace.data.old").tasks.values() for r in task.records}
    utrail("record", plain()).must()
    assert tree(Recording("uftrace.data.old")) == tree(Recording("uftrace.data"))


def test_in_use_until_it_is_killed(waits):
    with Started(waits) as first:
        first.wait_until_it_runs()
        utrail("record", plain()).must()
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
        # The recorder's lock is not passed to the program, which still runs.
        utrail("record", plain()).must()
        os.killpg(first.process.pid, signal.SIGKILL)


def test_a_directory_that_is_locked(workdir):
    """Another process' lock counts as well. The recorder waits for it for a while, then fails."""
    utrail("record", plain()).must()
    utrail("record", plain()).must()
    with subprocess.Popen(["flock", "uftrace.data.old", "sh", "-c", "echo has it; read line"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"has it\n"
        refused("uftrace.data.old", "still writing")
        other.communicate(b"\n")
    utrail("record", plain()).must()


def test_the_program_gets_no_descriptor_of_it(workdir):
    (workdir / "fds.c").write_text(
        r"""
        #include <dirent.h>
        #include <stdio.h>
        #include <unistd.h>
        int main(void)
        {
            DIR *dir = opendir("/proc/self/fd");
            char path[4096];
            for (struct dirent *e; (e = readdir(dir)) != NULL;) {
                ssize_t len = readlinkat(dirfd(dir), e->d_name, path, sizeof(path) - 1);
                if (len > 0) {
                    path[len] = 0;
                    puts(path);
                }
            }
            return 0;
        }"""
    )
    run("gcc", "-pg", "-O1", "-o", "fds", "fds.c").must()
    for options in ([], ["--keep-pid"]):
        out = utrail("record", *options, "./fds").must().out
        assert "/proc/" in out and "uftrace.data" not in out


@pytest.mark.parametrize("there", ["nothing", "a recording", "two recordings"])
def test_at_the_same_instant(workdir, there):
    """Recorders that start together: each records all, or fails with one line."""
    exe = plain()
    for _ in range({"nothing": 0, "a recording": 1, "two recordings": 2}[there]):
        utrail("record", exe).must()
    for _ in range(4):
        command = [UTRAIL, "record", exe]
        all_of_them = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) for _ in range(5)
        ]
        done = [(*p.communicate(), p.returncode) for p in all_of_them]
        for out, err, status in done:
            if status == 0:
                assert (out, err) == ("done\n", "")
                continue
            assert status == 1 and out == "", (out, err)
            assert err in (
                "utrail: cannot replace 'uftrace.data.old': a recorder is still writing into it; wait for its end or use -d\n",
                "utrail: cannot record into 'uftrace.data': others begin to record into it, too; use -d\n",
            )
        assert any(status == 0 for *_, status in done)
        names = [name for name in os.listdir() if name != "gmon.out"]
        assert set(names) <= {"uftrace.data", "uftrace.data.old"}
        for name in names:
            assert tree(Recording(name))


def test_where_there_are_no_locks(workdir, waits):
    (workdir / "nolock.c").write_text("#include <errno.h>\nint flock(int fd, int how) { errno = ENOLCK; return -1; }\n")
    run("gcc", "-shared", "-fPIC", "-o", "nolock.so", "nolock.c").must()
    exe = plain()
    for _ in range(3):
        utrail("record", exe, env={"LD_PRELOAD": workdir / "nolock.so"}).must()
    assert tree(Recording("uftrace.data")) == tree(Recording("uftrace.data.old"))


def test_slashes_at_the_end(workdir):
    exe = plain()
    for _ in range(3):
        utrail("record", "-d", "place//", exe).must()
    assert sorted(p for p in os.listdir() if p != "gmon.out") == ["place", "place.old"]


def test_killed_while_it_deletes(workdir):
    """The next recorder succeeds after one that was killed while it deleted a recording, at any
    system call."""
    run("gcc", "-O1", Path(__file__).parents[1] / "src/odd/kill_at.c", "-o", "kill_at").must()
    exe = plain()
    utrail("record", exe).must()
    shutil.copytree("uftrace.data", "kept")
    env = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}
    partly = 0
    nr_files = len(os.listdir("kept"))
    # The first system call at which something can be deleted: the loader makes the calls before it,
    # hundreds with sanitizers.
    first = next(number for number in range(1, 100000, 16) if run("./kill_at", number, UTRAIL, "--version", env=env).status in (3, 77))
    for number in range(first * 3 // 4, 100000, 3):
        for name in ("uftrace.data", "uftrace.data.old"):
            shutil.rmtree(name, ignore_errors=True)
            shutil.copytree("kept", name)
        # Half of the runs begin with the state that an earlier killed recorder leaves: info is
        # renamed.
        if number % 2:
            for name in ("uftrace.data", "uftrace.data.old"):
                (workdir / name / "info").rename(workdir / name / ".info.tmp")
        result = run("./kill_at", number, UTRAIL, "record", exe, env=env)
        if result.status == 77:
            pytest.skip(f"cannot trace the recorder: {result.err.strip()}")
        left = os.listdir("uftrace.data.old") if Path("uftrace.data.old").exists() else None
        partly += left is not None and 0 < len(left) < nr_files
        utrail("record", exe).must()
        if left is not None and len(left) == nr_files and not Path("uftrace.data/info").exists():
            continue
        # End when the recorder was not killed, or had moved the older recording away completely.
        # Tests in tests/e2e/trust/test_death.py kill the recorder at later system calls.
        if result.status == 3 or (left is not None and partly > 1 and len(left) == nr_files):
            break
    assert partly > 1
