"""The progress of a command is one line on the terminal. It does not disturb other output, and is
erased at the end."""

import contextlib
import fcntl
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

import pytest
from tools import UTRAIL, environment, run, terminal_text, utrail, wait_until

# Prints to both outputs until there is a file "stop". "detach": it becomes a daemon without a
# terminal.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) int step(int n) { __asm__ volatile(""); return n + 1; }
int main(int argc, char **argv) {
    int n = 0;
    if (argc > 1 && strcmp(argv[1], "detach") == 0) {
        setsid();
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            return 1;
    }
    printf("begins\n");
    fprintf(stderr, "no end of line");
    fflush(stdout);
    while (access("stop", F_OK) != 0) { n = step(n); usleep(1000); }
    fprintf(stderr, "\n");
    printf("ends\n");
    return 0;
}
"""

RECORDED = rb"\r(\d+:\d\d, [^\r\x1b]*)\x1b\[K"
FIRST_S = 1  # no line is shown earlier (statusline.h)
ERASED = b"\r\x1b[K"
OWN = b"begins\r\nno end of line\r\nends\r\n"


@pytest.fixture(autouse=True)
def program(workdir):
    Path("prog.c").write_text(PROGRAM)
    run("gcc", "-pg", "prog.c", "-o", "prog").must()


class Terminal:
    """A command on a new terminal. With @out, stdout is that file, and stderr is still the
    terminal."""

    def __init__(self, *args, columns=80, out=None, pager=""):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            if out:
                os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
            os.execve(UTRAIL, [str(UTRAIL), *map(str, args)], environment(PAGER=pager))

    def read(self):
        with contextlib.suppress(OSError):
            part = os.read(self.fd, 65536)
            self.text += part
            return part != b""
        return False

    def until(self, pattern):
        while not re.search(pattern, self.text):
            assert self.read(), self.text
        return re.search(pattern, self.text)

    def end(self, status=0):
        """Read all output, and check the status."""
        while self.read():
            pass
        assert os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]) == status, self.text
        os.close(self.fd)
        return self.text


@contextlib.contextmanager
def running(*args, **kw):
    """The program, unrecorded, and its end."""
    proc = subprocess.Popen(["./prog", *args], **kw)
    yield proc
    Path("stop").touch()
    assert proc.wait() == 0


@contextlib.contextmanager
def running_elsewhere():
    with open("prog.out", "wb") as out, running(stdout=out, stderr=out, start_new_session=True) as proc:
        wait_until(lambda: b"no end" in Path("prog.out").read_bytes())
        yield proc


def passing_time(seconds):
    """The option with which `record -p` ends by itself after @seconds."""
    return ["--for", f"{seconds}s"]


class TestRecord:
    @pytest.mark.parametrize("columns", [12, 25, 40, 200])
    def test_attached(self, columns):
        with running_elsewhere() as proc:
            terminal = Terminal("record", "-p", proc.pid, columns=columns)
            terminal.until(RECORDED)
            os.write(terminal.fd, b"\x03")
            text = terminal.end()
        shown = re.findall(RECORDED, text)
        whole = re.compile(rb"\d+:\d\d, \d+ calls, \d+\.\d MB, 0 lost")
        assert shown and all(len(line) < columns for line in shown)
        assert all(whole.fullmatch(line) for line in shown) or columns < 40
        assert text.endswith(ERASED)
        assert re.sub(RECORDED, b"", text).replace(b"^C", b"") == ERASED
        assert Path("prog.out").read_bytes().count(b"\n") == 3

    @pytest.mark.parametrize("options", [[], ["-A", "step@arg1"], ["--compact"]], ids=" ".join)
    def test_calls_are_counted(self, options):
        """The progress line counts the calls of the recording; arguments are not counted."""
        terminal = Terminal("record", *options, "./prog", "detach")
        before = int(terminal.until(rb"\r\d+:\d\d, ([1-9]\d*) calls")[1])
        Path("stop").touch()
        terminal.end()
        report = utrail("report", "--no-event", "-f", "call").must().out
        assert before <= sum(int(n) for n in re.findall(r"^ +(\d+)  \w+$", report, re.M))

    def test_flight(self):
        terminal = Terminal("record", "--flight=1m", "./prog", "detach")
        terminal.until(rb"\r\d+:\d\d, \d+\.\d MB of 1 task in memory, 0 lost\x1b\[K")
        Path("stop").touch()
        assert terminal.end().endswith(ERASED)

    @pytest.mark.parametrize("options", [["--no-progress"], ["--logfile=log"], ["--progress", "--no-progress"]], ids=" ".join)
    def test_not_wanted(self, options):
        with running_elsewhere() as proc:
            assert Terminal("record", *options, *passing_time(2), "-p", proc.pid).end() == b""

    def test_no_terminal(self):
        with running_elsewhere() as proc:
            result = utrail("record", "--progress", *passing_time(2), "-p", proc.pid).must()
        assert result.out == result.err == ""

    def test_background(self):
        """The recorder is in the background: another process group has the terminal, and writing to
        it may even stop a process (TOSTOP)."""
        ours, theirs = pty.openpty()
        script = 'stty tostop; set -m; "$0" record --for 2s -p $1 & wait $!; echo "status $?"'
        with running_elsewhere() as proc:
            shell = subprocess.Popen(
                ["bash", "-c", script, UTRAIL, str(proc.pid)],
                stdin=theirs, stdout=theirs, stderr=theirs, env=environment(),
                preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)),
            )
            os.close(theirs)
            assert shell.wait() == 0
        text = terminal_text(ours)
        assert text.endswith(b"status 0\r\n") and b"calls" not in text and b"\x1b" not in text

    def test_terminal_that_stands_still(self):
        """The terminal is stopped by Ctrl-S: the recorder does not wait for it."""
        with running_elsewhere() as proc:
            terminal = Terminal("record", "-p", proc.pid)
            terminal.until(RECORDED)
            termios.tcflow(terminal.fd, termios.TCOOFF)
            os.kill(terminal.pid, signal.SIGINT)
            assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == 0
            os.close(terminal.fd)
        assert utrail("replay").must().out

    def test_attached_on_the_same_terminal(self):
        """The line is not shown when an attached program prints to the same terminal, since its
        output would mix with the line. --progress shows the line nevertheless."""
        for is_asked_for in False, True:
            ours, theirs = pty.openpty()
            with running(stdout=theirs, stderr=subprocess.DEVNULL, start_new_session=True) as proc:
                begins = b""
                while b"\n" not in begins:
                    begins += os.read(ours, 100)
                assert begins == b"begins\r\n"
                options = ["--progress"] if is_asked_for else []
                command = [UTRAIL, "record", *options, *passing_time(2), "-p", str(proc.pid)]
                assert subprocess.run(command, stderr=theirs, env=environment()).returncode == 0
            os.close(theirs)
            text = terminal_text(ours)
            assert re.sub(RECORDED, b"", text).replace(ERASED, b"") == b"ends\r\n"
            assert bool(re.search(RECORDED, text)) == is_asked_for
            os.remove("stop")

    def test_program_prints_there(self):
        """The program's output is passed on byte for byte, even a line without an end."""
        terminal = Terminal("record", "./prog")
        terminal.until(b"no end of line")
        time.sleep(2.5)
        Path("stop").touch()
        assert terminal.end() == OWN

    def test_program_prints_elsewhere(self):
        terminal = Terminal("record", "./prog", out="out", columns=40)
        terminal.until(RECORDED)
        Path("stop").touch()
        text = terminal.end()
        assert re.sub(RECORDED, b"", text).replace(ERASED, b"") == b"no end of line\r\n"
        assert text.endswith(ERASED)
        assert Path("out").read_text() == "begins\nends\n"

    def test_program_prints_there_and_it_is_asked_for(self):
        terminal = Terminal("record", "--progress", "./prog", columns=40)
        terminal.until(RECORDED)
        Path("stop").touch()
        text = terminal.end()
        assert re.sub(RECORDED, b"", text).replace(ERASED, b"") == OWN

    def test_warning_at_the_end(self):
        terminal = Terminal("record", "-F", "nobody", "./prog", "detach")
        terminal.until(RECORDED)
        Path("stop").touch()
        before, erased, after = terminal.end().rpartition(ERASED)
        assert re.search(RECORDED, before)
        assert after.startswith(b"WARN: ") and b"\r" not in after.replace(b"\r\n", b"")

    def test_live_has_none(self):
        terminal = Terminal("live", "./prog", "detach", out="out")
        wait_until(lambda: os.path.exists("out"))
        time.sleep(1.5)
        Path("stop").touch()
        assert terminal.end() == b""


@pytest.fixture
def recording(workdir):
    Path("stop").touch()
    utrail("record", "-d", "data", "./prog").must()


class Slow:
    """Listens as a recorder that is not done yet: a recording is not opened until let_go()."""

    def __init__(self, directory):
        st = os.stat(directory)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind("\0utrail-dir-%x-%x" % (st.st_dev, st.st_ino))
        self.listener.listen(10)
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.kept.append(self.listener.accept()[0])

    def let_go(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.kept:
            connection.close()


OPENING = rb"\r(opening '[^\r\x1b]*)\x1b\[K"
COMMANDS = [["replay"], ["report"], ["graph"], ["dump"], ["dump", "--format=chrome"], ["report", "--diff", "data"]]


@pytest.mark.usefixtures("recording")
class TestOpening:
    @pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
    def test_line_before_it_is_open(self, command):
        """The line is erased before the output, which is the same as without progress."""
        slow = Slow("data")
        terminal = Terminal(*command, "-d", "data", "--color=off")
        terminal.until(OPENING)
        slow.let_go()
        shown, erased, after = terminal.end().rpartition(ERASED)
        assert set(re.findall(OPENING, shown + erased)) == {b"opening 'data'"}
        without = utrail(*command, "-d", "data", "--color=off", preempted=True).must()
        assert after.decode().replace("\r\n", "\n") == without.out

    @pytest.mark.parametrize("command", COMMANDS[:4], ids=" ".join)
    def test_pager(self, command):
        """The pager has the terminal from the first output on."""
        slow = Slow("data")
        terminal = Terminal(*command, "-d", "data", "--color=off", pager="sed s/^/paged:/")
        terminal.until(OPENING)
        slow.let_go()
        shown, erased, after = terminal.end().rpartition(ERASED)
        assert set(re.findall(OPENING, shown + erased)) == {b"opening 'data'"}
        without = utrail(*command, "-d", "data", "--color=off", preempted=True).must()
        assert after.decode().replace("\r\n", "\n") == "".join(f"paged:{line}" for line in without.out.splitlines(True))

    @pytest.mark.parametrize("columns", [8, 40])
    def test_narrow(self, columns):
        os.rename("data", "data" * 20)
        slow = Slow("data" * 20)
        terminal = Terminal("report", "-d", "data" * 20, columns=columns)
        terminal.until(rb"\x1b\[K")
        slow.let_go()
        shown = re.findall(rb"\r([^\r\x1b\n]+)\x1b\[K", terminal.end())
        # On a busy machine another short line comes after the line about opening: the one about
        # reading.
        lines = {line for line in shown if line.startswith(b"opening"[: columns - 1])}
        assert lines == {(b"opening '" + b"data" * 20)[: columns - 1]}
        assert all(len(line) < columns for line in shown)

    @pytest.mark.parametrize("options", [["--no-progress"], ["--logfile=log"]], ids=" ".join)
    def test_not_wanted(self, options):
        slow = Slow("data")
        terminal = Terminal("report", *options, "-d", "data", out="out")
        wait_until(lambda: slow.kept)
        time.sleep(1.5)
        slow.let_go()
        assert terminal.end() == b""

    def test_nothing_to_open(self):
        """The error message is on a line of its own."""
        os.remove("data/info")
        slow = Slow("data")
        terminal = Terminal("report", "-d", "data")
        terminal.until(OPENING)
        slow.let_go()
        assert terminal.end(255).rpartition(ERASED)[2].startswith(b"utrail: cannot ")

    def test_soon_done(self):
        began = time.monotonic()
        assert Terminal("report", "-d", "data", out="out").end() == b"" or time.monotonic() - began >= FIRST_S
