"""Runs programs on a screen of their own (tmux): tests send keys, and read the screen as a user
sees it."""
import fcntl
import itertools
import os
import re
import shutil
import struct
import subprocess
import termios
import time

SGR = re.compile(r"\x1b\[([0-9;:]*)m")
# The time in which a screen must come to the expected state.
PATIENCE_S = 60
STEP_S = 0.02
# A screen is settled when it is the same twice, at times this far apart, and its programs wait for keys.
STILL_S = 0.06
NUMBERS = itertools.count()


def has_tmux():
    return shutil.which("tmux") is not None


def reversed_in(line, is_on):
    """Two values: True when a part of the line is in reverse video, True when its end is."""
    found = False
    at = 0
    for match in SGR.finditer(line):
        found |= is_on and match.start() > at
        for number in (match[1] or "0").split(";"):
            is_on = number == "7" if number in ("7", "27", "0", "") else is_on
        at = match.end()
    return found or (is_on and at < len(line)), is_on


def stat_of(pid):
    """The words of /proc/PID/stat behind the name: state, parent, group, session, terminal and
    foreground group come first (proc_pid_stat(5))."""
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()


def states_of(group):
    """The states of the first threads of the processes in a group."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = stat_of(pid)
        except OSError:
            continue
        if words[2] == group:
            yield words[0]


class Screen:
    """A command in a terminal of @columns by @rows. Ends with close(), or as a context."""

    def __init__(self, tmp_path, command, columns=80, rows=24, env=None):
        # A tmux server of its own: a shared one may just be ending, and accept no connection.
        self.socket = str(tmp_path / f"tmux-{next(NUMBERS)}")
        self.rows = rows
        words = {"LC_ALL": "C.UTF-8", **(env or {})}
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)}
        environment.pop("TMUX", None)
        line = "exec env " + " ".join(f"{k}={v}" for k, v in words.items()) + f" {command}"
        self.name = "screen"
        (tmp_path / "tmux.conf").write_text("set -g remain-on-exit on\nset -g escape-time 0\nset -g default-terminal screen-256color\n")
        self.tmux("-f", str(tmp_path / "tmux.conf"), "new-session", "-d", "-s", self.name, "-x", str(columns), "-y", str(rows), line,
                  env=environment)

    def tmux(self, *args, env=None):
        return subprocess.run(["tmux", "-u", "-S", self.socket, *args], check=True, text=True, stdout=subprocess.PIPE, env=env).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-session", "-t", self.name], check=False, stderr=subprocess.DEVNULL)

    def send(self, *keys):
        self.tmux("send-keys", "-t", self.name, *keys)

    def type(self, text):
        self.tmux("send-keys", "-t", self.name, "-l", text)

    def resize(self, columns, rows):
        self.rows = rows
        self.tmux("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def raw(self):
        return self.tmux("capture-pane", "-p", "-e", "-t", self.name).split("\n")[:self.rows]

    def lines(self):
        return [SGR.sub("", line).rstrip() for line in self.raw()]

    def state(self):
        return self.lines(), self.cursor()

    def cursor(self):
        """The row in reverse video below the heading, or None."""
        is_on = False
        for row, line in enumerate(self.raw()):
            found, is_on = reversed_in(line, is_on)
            if found and 0 < row < self.rows - 1:
                return row
        return None

    def body(self):
        return self.lines()[1:-1]

    def is_idle(self):
        """True when all keys are read, and each process in the foreground sleeps. On a busy machine a
        program may have no CPU for long, and its screen stands still although keys wait for it."""
        words = self.tmux("display-message", "-p", "-t", self.name, "#{pane_tty} #{pane_pid}").split()
        try:
            terminal = os.open(words[0], os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                (unread,) = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)))
            finally:
                os.close(terminal)
            foreground = stat_of(words[1])[5]
        except (OSError, IndexError):  # the program has ended
            return True
        return not unread and all(each == "S" for each in states_of(foreground))

    def settle(self):
        """The lines of the screen when they have stopped changing."""
        before = None
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            # All that an idle program has written is in the next picture but one.
            now = self.raw() if self.is_idle() else None
            if now and now == before:
                return self.lines()
            before = now
            time.sleep(STILL_S)
        raise AssertionError("the screen never stands still")

    def wait_for(self, text):
        """Wait until @text is on the screen. Returns the lines."""
        return self.wait_until(lambda lines: any(text in line for line in lines), repr(text))

    def wait_until(self, holds, missing="the lines that are waited for"):
        """Wait until @holds is true of the lines. Returns the lines. @missing: for the error."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            lines = self.lines()
            if holds(lines):
                return lines
            time.sleep(STEP_S)
        raise AssertionError(f"no {missing} in:\n" + "\n".join(lines))

    def is_dead(self):
        return self.tmux("display-message", "-p", "-t", self.name, "#{pane_dead}").strip() == "1"

    def status(self):
        """The program's status, or the negative number of the signal that ended it."""
        end = time.monotonic() + PATIENCE_S
        while not self.is_dead():
            assert time.monotonic() < end, "it does not end"
            time.sleep(STEP_S)
        words = self.tmux("display-message", "-p", "-t", self.name, "#{pane_dead_status} #{pane_dead_signal}").strip("\n")
        status, _, signal = words.partition(" ")
        return -int(signal) if signal.strip() else int(status or 0)

    def pid(self):
        return int(self.tmux("display-message", "-p", "-t", self.name, "#{pane_pid}"))
