"""Attacks on the recorder, or on other traced programs by way of it. The attacker is another user,
or a traced program (attack/attack.c)."""

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path

import pytest
from tools import TOP, UTRAIL, environment, has_sanitizer, run, utrail, wait_until

SOURCES = TOP / "tests/e2e/attack"
PROBE = UTRAIL.parent / "libmcount/libmcount.so"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be attacked by somebody else")


@pytest.fixture(autouse=True)
def programs(workdir):
    run("gcc", "-O1", "-Wall", SOURCES / "attack.c", "-o", "attack").must()
    run("gcc", "-pg", "-g", "-O1", SOURCES / "victim.c", "-o", "victim").must()


def attack(*args, **kw):
    """Attack from outside: the attacker is no child of a traced program."""
    return run("./attack", *args, **kw)


def from_inside(*args, options=(), status=42):
    """Attack as a child of a traced program. Returns its output and all messages of the
    recorder."""
    result = utrail("record", "-d", "data", *options, "./victim", "./attack", *args).must(status)
    return result


class Recording:
    """A running recorder, whose program waits until the end of the `with` block."""

    def __init__(self, *options, command=("./victim",), **kw):
        self.args = [str(UTRAIL), "record", "-d", "data", *options, *command]
        self.kw = kw

    def __enter__(self):
        self.proc = subprocess.Popen(self.args, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, start_new_session=True, **self.kw)
        wait_until(lambda: list(Path("data").glob("[0-9]*.dat")) or self.proc.poll() is not None)
        return self

    def __exit__(self, kind, value, trace):
        Path("stop").touch()
        try:
            self.out, self.err = self.proc.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(self.proc.pid, signal.SIGKILL)
            raise
        if not kind:
            assert self.proc.returncode == 42, self.err


def functions(*args):
    out = utrail("replay", "-d", "data", "-f", "none", *args).must().out
    return re.findall(r"(\w+)\(\)", out)


def is_whole():
    names = functions()
    return "before" in names and "after" in names


@needs_root
def test_a_stranger_is_not_served(workdir):
    """Any user can find the socket. A process that does not know the secret gets no answer."""
    with Recording("--crash-report") as recording:
        result = attack("--as-nobody", "--recorder", recording.proc.pid, "everything").must()
    assert "served" not in result.out and result.out.count("refused") == 6, result.out
    assert is_whole()
    assert len(list(Path("data").glob("sid-*.map"))) == 1
    assert "ended by signal" not in recording.err


def test_without_the_secret_the_own_user_is_a_stranger(workdir):
    with Recording("--crash-report") as recording:
        result = attack("--recorder", recording.proc.pid, "everything").must()
    assert "served" not in result.out, result.out
    assert len(list(Path("data").glob("sid-*.map"))) == 1
    assert "ended by signal" not in recording.err


def test_the_secret_is_nowhere_to_be_seen(workdir):
    """The secret is neither in the list of sockets, nor in a written file, nor in arguments."""
    with Recording() as recording:
        pid = next(Path("data").glob("[0-9]*.dat")).stem
        address = next(v for v in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if v.startswith(b"UTRAIL_SOCKET="))
        name, secret, _ = address.split(b"=")[1].split(b":")
        sockets = Path("/proc/net/unix").read_bytes()
        arguments = Path(f"/proc/{recording.proc.pid}/cmdline").read_bytes()
    assert len(secret) == 32 and name in sockets
    assert secret not in sockets and secret not in arguments
    assert not [f for f in Path("data").iterdir() if secret in f.read_bytes()]


def test_nobody_is_somebody_else(workdir):
    """The kernel names the process that speaks: a claim to be another one has no effect."""
    result = from_inside("pid", "PID")
    assert result.out == "another's pid: refused\nour pid: served\n"


def test_only_the_own_session(workdir):
    """A process can report only the modules and children of its own session."""
    result = from_inside("token")
    assert result.out == (
        "a child without a token: refused\na library without a token: refused\na library of our own: served\n"
        "a library with a bit changed: refused\nour own child: refused\n"
    )


def test_what_all_share_is_for_reading(workdir):
    """A traced program cannot write to shared data: neither to the number of writers, by which
    every probe divides, nor to the state of the recording."""
    result = from_inside("control")
    assert result.out == (
        "map for writing: refused\nmap for writing, opened again: refused\nwrite: refused\ncut off: refused\n"
        "change the mapping: refused\nmap for reading: served\n"
    )
    assert is_whole()


def test_nobody_ends_the_recording_of_others(workdir):
    """A process may ask for the end only if an option allows it. The recorder does not believe the
    header of the process' own page."""
    # With any action, the probe checks at each call if the recording has ended.
    from_inside("finish", options=["-T", "nothing@color=red"])
    assert is_whole()


def test_where_an_option_says_so_a_process_ends_it_for_all(workdir):
    from_inside("finish", options=["-T", "nothing@finish"])
    names = functions()
    assert "before" in names and "after" not in names


def records(tid):
    data = Path(f"data/{tid}.dat").read_bytes()
    return [word >> 16 for _, word in struct.iter_unpack("<QQ", data[: len(data) // 16 * 16])]


def test_no_records_in_the_file_of_others(workdir):
    """Records under a false tid are kept under an id of their own."""
    from_inside("tid", "PID")
    files = {int(f.stem): records(f.stem) for f in Path("data").glob("[0-9]*.dat")}
    assert files.pop(5000000) == [0xbadc0de]
    assert files and not any(0xbadc0de in addresses for addresses in files.values())
    assert is_whole()


def test_strange_messages_and_questions(workdir):
    """A message of an unknown type is skipped if it is optional, else refused, with its number.
    Each question is answered, on one connection."""
    result = from_inside("strange")
    assert result.out == (
        "STATUS_IS of 2 processes to 3\nwith a strange message: served\nSTATUS_IS of 2 processes to 5\nSTATUS_IS of 2 processes to 6\n"
        "ERROR 4 about 7\nthe end\n"
    )
    assert "WARN: 1 conversation with a process was ended at a message that was not understood" in result.err
    assert is_whole()


@pytest.mark.parametrize("version", [5, 8])
def test_a_probe_of_another_version(workdir, version):
    """The process gets an error, and the user a warning; there is no warning of unknown
    processes."""
    result = from_inside("version", str(version))
    assert result.out.startswith("ERROR 3 about ") and result.out.endswith("the end\n"), result.out
    assert (f"WARN: 1 process was not traced: its probe (libmcount.so) speaks version {version} of the control messages, this utrail "
            "speaks version 7; install both from the same build\n") in result.err
    shutil.rmtree("data")
    with Recording() as recording:
        attack("--recorder", recording.proc.pid, "version", str(version)).must()
    assert "speaks version" not in recording.err


def test_declarations(workdir):
    """Declarations are refused with a message: without a token, with too few texts or too many,
    twice in one conversation, and beyond the room for events. An event that is declared again keeps
    its number."""
    result = from_inside("declare")
    assert result.out == (
        "the end\nthe end\nDECLARED 1000000, choice 0\nERROR 6 about 9\nthe end\nDECLARED 1000000, choice 0\n"
        "ERROR 5 about 13\nERROR 5 about 15\nERROR 5 about 17\nERROR 5 about 19\nDECLARED 1000001, choice 0\nrefused at last: 1\n"
    )
    assert "WARN: 1 event that the program declares is not recorded: there is room for 65536 events, with names and formats of 8 MB in all\n" in result.err
    names = Path("data/events.txt").read_text().splitlines()
    assert names[:2] == ["EVENT: 1000000 trace:A_B:_", "EVENT: 1000001 trace:A"]
    definitions = Path("data/events.def").read_text().splitlines()
    assert len(definitions) == len(names) + 1 and definitions[1] == "DECLARED: 1000000 fstrace A+B%3A%0A %00 %25d"
    assert Path("data/events.def").stat().st_size < 9 << 20
    assert is_whole()


def test_functions_of_python(workdir):
    """Functions of Python that are declared without a token, with too few texts or too many, with
    too many parameters, or with the lines of a file as names: they are refused, or harmless."""
    result = from_inside("callable", options=["-A", "f@arg36", "-R", "f@retval"])
    known = "CALLABLE_IS 0x3fff00, range 1, values 0x1000000001\n"
    assert result.out == (
        f"the end\nthe end\nERROR 5 about 8\nERROR 5 about 10\nERROR 5 about 12\n{known}{known}"
        "CALLABLE_IS 0x1, range 0, values 0\nthe last is 20001\n"
    )
    names = Path("data/python.fake.sym").read_text().splitlines()
    assert names[2] == "0000000000000001 T x?0000000000000009 T y" and len(names) == 2 + 20002 + 2
    assert is_whole()


HEADER = struct.Struct("<HHHHII")


def recorder_of(answer, out):
    """A recorder of another build, with its address. It answers HELLO with @answer; the messages
    that it gets are in @out."""
    # Processes of other pid namespaces have the same pids, and may share the names of sockets.
    name = f"\0utrail-test-{os.urandom(8).hex()}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(name)
    listener.listen()

    def serve():
        connection = listener.accept()[0]
        out.append(connection.recv(8192))
        if answer:
            connection.send(answer)
            while packet := connection.recv(8192):
                out.append(packet)
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    return name[1:] + ":" + "00" * 16, thread, listener


@pytest.mark.parametrize("answer, said", [
    (None, None),  # a recorder of version 5 hangs up
    (HEADER.pack(0x7554, 7, 8, 2, 24, 1) + struct.pack("<II", 3, 1), None),
    (HEADER.pack(0x7554, 7, 7, 2, 24, 1) + struct.pack("<II", 3, 1), None),
    (HEADER.pack(0x7554, 0x8001, 7, 0, 16, 9), (4, 0x8001, 9)),
], ids=["hangs-up", "version-8", "error", "strange"])
def test_a_recorder_of_another_build(workdir, answer, said):
    """The program runs on without being recorded."""
    heard = []
    address, thread, listener = recorder_of(answer, heard)
    result = run("./victim", "/bin/true", env=environment(LD_PRELOAD=str(PROBE), UTRAIL_SOCKET=address))
    thread.join(60)
    listener.close()
    assert (result.status, result.out, result.err) == (42, "", "")
    messages = [(*HEADER.unpack_from(packet), packet[HEADER.size:]) for packet in heard]
    assert messages[0][:4] == (0x7554, 1, 7, 0)
    assert [length for _, _, _, _, length, _, _ in messages] == [len(packet) for packet in heard]
    errors = [(*struct.unpack("<II", body), seq) for _, type, _, _, _, seq, body in messages if type == 7]
    assert errors == ([said] if said else [])


FULL = r"WARN: (\d+) records were lost; a larger buffer \(-b\) may help"
INSIDE = r"WARN: (\d+) records of calls inside of the probe were lost: .*; a larger buffer does not help"


@pytest.mark.parametrize("counters, full, inside", [("7,0", "7", None), ("7,3", "4", "3"), ("7,7", None, "7"),
                                                    ("7,999999999999", None, "7"), ("0,5", None, None)])
def test_each_loss_by_its_cause(workdir, counters, full, inside):
    """A message for each cause of losses that a process reports. Losses inside the probe cannot be
    more than all losses."""
    lines = from_inside("lose", counters).err.splitlines()
    for pattern, number in ((FULL, full), (INSIDE, inside)):
        found = [match[1] for match in (re.fullmatch(pattern, line) for line in lines) if match]
        assert found == ([number] if number else []), lines
    assert len([line for line in lines if "lost" in line]) == (full is not None) + (inside is not None)
    if full or inside:
        assert "LOST 7 records" in utrail("replay", "-d", "data").must().out


def test_a_crash_is_of_who_reports_it_and_only_when_asked_for(workdir):
    result = from_inside("crash", "1")
    assert "ended by signal" not in result.err
    shutil.rmtree("data")
    result = from_inside("crash", "1", options=["--crash-report"])
    assert result.err.count("was ended by signal 11") == 1, result.err


@needs_root
def test_no_symbols_of_files_that_the_peer_may_not_read(workdir):
    """A process of another user names a file: root's recorder reads it with that user's rights."""
    os.chmod(workdir, 0o755)
    shutil.copy("victim", "secrets")
    os.chmod("secrets", 0o700)
    result = utrail("record", "-d", "data", "./victim", "./attack", "--as-nobody", "module", workdir / "secrets").must(42)
    assert result.out == "a module: served\n"
    assert not Path("data/secrets.sym").exists()
    # root's own process may name the file.
    utrail("record", "-d", "data2", "./victim", "./attack", "module", workdir / "secrets").must(42)
    assert Path("data2/secrets.sym").exists()


@needs_root
def test_records_of_another_user_are_written_by_root(workdir):
    """The recorder writes with its own rights, even while it reads with those of the process."""
    result = from_inside("--as-nobody", "another")
    assert "lost" not in result.err and "cannot" not in result.err, result.err
    assert any(0xbadc0de in records(f.stem) for f in Path("data").glob("[0-9]*.dat"))


def memory_kb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


@pytest.mark.skipif(has_sanitizer(), reason="a sanitizer's memory is its own")
def test_a_flood_of_modules_is_not_kept(workdir):
    """A process that reports modules again and again cannot take more than the allowed memory."""
    with Recording() as recording:
        pid = next(Path("data").glob("[0-9]*.dat")).stem
        address = next(v for v in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if v.startswith(b"UTRAIL_SOCKET="))
        before = memory_kb(recording.proc.pid)
        flood = subprocess.Popen(["./attack", "flood", "20000"], stdout=subprocess.PIPE,
                                 env=environment(UTRAIL_SOCKET=address.decode().split("=")[1]))
        assert flood.stdout.readline() == b"all of them: served\n"
        # 160 MB were sent; the recorder may still have to read the last of them.
        after = memory_kb(recording.proc.pid)
        flood.kill()
        flood.communicate()
    assert after - before < 64 << 10, f"{after - before} KB"
    assert "libraries were left out" in recording.err


@pytest.mark.parametrize("who", [[], pytest.param(["--as-nobody"], marks=needs_root)])
def test_a_thousand_idle_connections(workdir, who):
    """Idle connections do not keep other programs from being recorded, though the recorder has few
    descriptors."""
    Path("again.sh").write_text("#!/bin/sh\nwhile [ ! -e sitting ]; do sleep 0.05; done\n"
                                "for i in 1 2 3 4 5; do ./victim /bin/true; done\nexit 42\n")
    os.chmod("again.sh", 0o755)
    limits = ["prlimit", "--nofile=256:256"]
    proc = subprocess.Popen([*limits, UTRAIL, "record", "--force", "-d", "data", "./again.sh"], env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    crowd = None
    try:
        wait_until(lambda: Path("data/info").exists())
        crowd = subprocess.Popen(["./attack", *who, "--recorder", str(proc.pid), "sit", "1000"], env=environment(), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        assert crowd.stdout.readline() == "sitting\n"
        Path("sitting").touch()
        err = proc.communicate(timeout=120)[1]
    finally:
        proc.kill()
        if crowd:
            crowd.communicate()
    assert proc.returncode == 42, err
    assert functions().count("after") == 5
