"""Another user's socket, or one that gives no answer, has the name by which snapshot, control and
--follow look for a recorder."""

import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tools import LIMIT_S, UTRAIL, environment, run, utrail, wait_until

PROGRAM = """#include <unistd.h>
int step(int n) { return n + 1; }
int main(void) { int n = 0; while (access("stop", F_OK) != 0) { n = step(n); usleep(1000); } return 0; }
"""

# Listens under the name in its first argument. The second argument is "yes" (it answers each
# request), "nothing" (it only accepts connections) or "deaf" (it accepts none). It prints the pid of
# each process that connects.
LISTENER = """
import os, socket, struct, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\\0" + sys.argv[1])
s.listen(int(sys.argv[3]))
print("listening", flush=True)
kept = []
while True:
    if sys.argv[2] == "deaf":
        time.sleep(1)
        continue
    c, _ = s.accept()
    kept.append(c)
    print(struct.unpack("iII", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0], flush=True)
    if sys.argv[2] == "yes":
        c.recv(70000)
        c.send(struct.pack("<IiIIQ", 0x71557472, 0, 4711, 0, 2**63))
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")


@pytest.fixture(autouse=True)
def program(workdir):
    Path("prog.c").write_text(PROGRAM)
    run("gcc", "-pg", "prog.c", "-o", "prog").must()
    Path("listener.py").write_text(LISTENER)


# Connects to the name in its argument, and stays until its input ends.
CONNECTOR = """
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("\\0" + sys.argv[1])
sys.stdin.read()
"""


def name_of(directory):
    st = os.stat(directory)
    return "utrail-dir-%x-%x" % (st.st_dev, st.st_ino)


class Listener:
    def __init__(self, name, how, uid=0, backlog=10):
        self.proc = subprocess.Popen(
            [sys.executable, "-c", LISTENER, name, how, str(backlog)],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=(lambda: os.setuid(uid)) if uid else None,
            cwd="/",
        )

    def __enter__(self):
        assert self.proc.stdout.readline() == "listening\n"
        return self

    def __exit__(self, *_):
        self.proc.kill()
        self.proc.communicate()


def finished(uid=0):
    """Make a recording whose recorder has ended."""
    Path("stop").touch()
    utrail("record", "-d", "data", "./prog").must()
    if uid:
        os.chown("data", uid, uid)


# A stranger who watches for a new directory, and takes its socket's name at once.
GRABBER = """
import os, socket, sys, time
kept = []
seen = set()
print("ready", flush=True)
while True:
    try:
        st = os.stat("data")
    except FileNotFoundError:
        continue
    name = "\\0utrail-dir-%x-%x" % (st.st_dev, st.st_ino)
    if name in seen:
        time.sleep(0.01)
        continue
    seen.add(name)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        s.bind(name)
    except OSError:
        os._exit(7)
    s.listen(5)
    kept.append(s)
    print("taken", flush=True)
"""


def record_with_taken_name(*options):
    """Record while the grabber has the socket's name. The grabber has some milliseconds between
    mkdir(2) and bind(2); it may miss them, so there are more tries."""
    for _ in range(50):
        Path("stop").unlink(missing_ok=True)
        run("rm", "-rf", "data", "data.old")
        grabber = subprocess.Popen([sys.executable, "-c", GRABBER], stdout=subprocess.PIPE, text=True)
        assert grabber.stdout.readline() == "ready\n"
        recorder = subprocess.Popen([str(UTRAIL), "record", "-d", "data", *options, "./prog"], env=environment(),
                                    stderr=subprocess.PIPE, text=True)
        if grabber.stdout.readline() == "taken\n":
            return grabber, recorder
        grabber.communicate()
        Path("stop").touch()
        recorder.communicate()
    pytest.fail("the name was never taken in time")
    return None


@needs_root
@pytest.mark.parametrize("words", [["snapshot", "-d", "data"], ["control", "data", "off"], ["control", "data"]])
def test_root_does_not_believe_a_stranger(words):
    finished()
    with Listener(name_of("data"), "yes", uid=65533):
        result = utrail(*words, limit=60).must(1)
    assert "another user listens in the place of its recorder" in result.err
    assert "4711" not in result.out


@needs_root
def test_root_does_not_believe_a_stranger_about_a_process():
    finished()
    # The name of a directory that no recorder uses: it is nobody else's, also not another suite's.
    with Listener(name_of("."), "yes", uid=65533):
        result = utrail("control", str(os.getpid()), "off", limit=60).must(1)
    assert "no utrail of yours is recording it" in result.err


@needs_root
@pytest.mark.parametrize("uid", [0, 65533])
def test_sockets_of_one_name_are_asked_once(uid):
    """Connections that a listener keeps are in /proc/net/unix with the listener's name, too: the
    listener is not asked for each of them."""
    finished()
    with Listener(name_of("data"), "nothing", uid=uid) as listener:
        kept = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(8)]
        for s in kept:
            s.connect("\0" + name_of("data"))
        asks = subprocess.Popen([str(UTRAIL), "control", str(os.getpid()), "off"], env=environment(), stderr=subprocess.PIPE, text=True)
        err = asks.communicate(timeout=LIMIT_S)[1]
        assert asks.returncode == 1 and "no utrail of yours is recording it" in err, err
        assert listener.proc.poll() is None
        # Connections are accepted in their order: after this one, all of utrail's are known.
        last = subprocess.Popen([sys.executable, "-c", CONNECTOR, name_of("data")], stdin=subprocess.PIPE)
        told = []
        while last.pid not in told:
            told.append(int(listener.proc.stdout.readline()))
        last.communicate()
        # At most two connections are utrail's: it asks the socket of this name, and then each name
        # of a socket that may answer for the process. Another test's utrail may ask here, too.
        assert told.count(os.getpid()) == len(kept) and told.count(asks.pid) <= 2
        for s in kept:
            s.close()


@needs_root
def test_follow_reads_what_is_there():
    """--follow reads a recording that has ended, although a stranger has its socket's name."""
    finished()
    expected = utrail("replay", "-d", "data", "-f", "none").must().out
    with Listener(name_of("data"), "yes", uid=65533):
        assert utrail("replay", "--follow", "-d", "data", "-f", "none", limit=60).must().out == expected


@pytest.mark.parametrize("how,backlog", [("nothing", 10), ("deaf", 10), ("deaf", 0)])
@pytest.mark.parametrize("uid", [0, 65533])
@pytest.mark.parametrize("words", [["snapshot", "-d", "data"], ["control", "data", "off"], ["replay", "--follow", "-d", "data"]])
def test_no_answer(words, uid, how, backlog):
    """A process of the owner accepts the connection and does not answer, or does not accept it. The
    command reports this after two seconds."""
    if uid and os.geteuid() != 0:
        pytest.skip("needs root, to be another user")
    finished(uid)
    with Listener(name_of("data"), how, uid, backlog):
        result = utrail(*words, limit=60).must(1)
    assert "gave no sign of life for two seconds" in result.err


@pytest.mark.parametrize("option,words", [("--flight=1m", ["snapshot", "-d", "data"]), ("-g", ["control", "data", "off"])])
def test_a_taken_name(option, words):
    """If another process has taken the recorder's name, the recorder reports this. Commands find
    the recorder by the file in its directory."""
    grabber, recorder = record_with_taken_name(option)
    try:
        wait_until(lambda: Path("data/.control").exists() or recorder.poll() is not None)
        name, secret = Path("data/.control").read_text().split()
        assert re.fullmatch(re.escape(name_of("data")) + "-[0-9a-f]{16}", name) and re.fullmatch("[0-9a-f]{32}", secret)
        assert stat.S_IMODE(os.stat("data/.control").st_mode) == 0o600
        wait_until(lambda: utrail(*words, limit=60).status == 0)
    finally:
        Path("stop").touch()
        err = recorder.communicate(timeout=60)[1]
        grabber.kill()
        grabber.communicate()
    assert recorder.returncode == 0
    assert "another process listens where control, snapshot and --follow look for this recorder" in err
    assert not Path("data/.control").exists()


def test_a_door_that_a_liar_wrote():
    """A file with a made-up secret leads to another user's socket, which does not know the
    secret."""
    finished()
    other = name_of("data") + "-0123456789abcdef"
    Path("data/.control").write_text(other + "\n" + "0" * 32 + "\n")
    with Listener(other, "yes"):
        result = utrail("snapshot", "-d", "data", limit=60).must(1)
    assert "another user listens in the place of its recorder" in result.err


@pytest.mark.parametrize("text", [b"", b"\n", b"x" * 5000, b"utrail-dir-1-1\n" + b"0" * 32, b"\0" * 80])
def test_a_damaged_door(text):
    finished()
    Path("data/.control").write_bytes(text)
    assert "no utrail is recording into it" in utrail("snapshot", "-d", "data").must(1).err
    Path("data/.control").unlink()
    os.mkfifo("data/.control")
    assert "no utrail is recording into it" in utrail("snapshot", "-d", "data").must(1).err
