"""How far a command is: one line on the terminal, where it is in nobody's way, and nothing of it is left."""

import contextlib
import fcntl
import os
import pty
import re
import socket
import struct
import termios
import threading
import time
from pathlib import Path

import pytest
from tools import UTRAIL, environment, run, utrail, wait_until

# Says what it does on both outputs until there is a file "stop". "detach": it is a daemon, which has no terminal.
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

ERASED = b"\r\x1b[K"


@pytest.fixture(autouse=True)
def program(workdir):
    Path("prog.c").write_text(PROGRAM)
    run("gcc", "-pg", "prog.c", "-o", "prog").must()


class Terminal:
    """A command whose terminal is a new one; @out: its stdout is this file, and its terminal is stderr all the same."""

    def __init__(self, *args, columns=80, out=None):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            if out:
                os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
            os.execve(UTRAIL, [str(UTRAIL), *map(str, args)], environment())

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
        """All that came."""
        while self.read():
            pass
        assert os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]) == status, self.text
        os.close(self.fd)
        return self.text


@pytest.fixture
def recording(workdir):
    Path("stop").touch()
    utrail("record", "-d", "data", "./prog").must()


class Slow:
    """Listens as a recorder that is not done yet: the recording is not opened before this lets go."""

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
        """The output comes where it was, and is what it is without."""
        slow = Slow("data")
        terminal = Terminal(*command, "-d", "data", "--color=off")
        terminal.until(OPENING)
        slow.let_go()
        shown, erased, after = terminal.end().rpartition(ERASED)
        assert set(re.findall(OPENING, shown + erased)) == {b"opening 'data'"}
        without = utrail(*command, "-d", "data", "--color=off", preempted=True).must()
        assert after.decode().replace("\r\n", "\n") == without.out

    @pytest.mark.parametrize("columns", [8, 40])
    def test_narrow(self, columns):
        os.rename("data", "data" * 20)
        slow = Slow("data" * 20)
        terminal = Terminal("report", "-d", "data" * 20, columns=columns)
        terminal.until(rb"\x1b\[K")
        slow.let_go()
        shown = re.findall(rb"\r([^\r\x1b\n]+)\x1b\[K", terminal.end())
        assert shown and {len(line) for line in shown} == {columns - 1}

    @pytest.mark.parametrize("options", [["--no-progress"], ["--logfile=log"]], ids=" ".join)
    def test_not_wanted(self, options):
        slow = Slow("data")
        terminal = Terminal("report", *options, "-d", "data", out="out")
        wait_until(lambda: slow.kept)
        time.sleep(1.5)
        slow.let_go()
        assert terminal.end() == b""

    def test_nothing_to_open(self):
        """The error is on a line of its own."""
        os.remove("data/info")
        slow = Slow("data")
        terminal = Terminal("report", "-d", "data")
        terminal.until(OPENING)
        slow.let_go()
        assert terminal.end(255).rpartition(ERASED)[2].startswith(b"utrail: cannot ")

    def test_soon_done(self):
        assert Terminal("report", "-d", "data", out="out").end() == b""
