"""A recording without an end is not shown as a whole one: the disk was full, or the recorder
died."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from programs import Variant, build, program
from test_shortage import small_disk  # noqa: F401  (a fixture)
from tools import UTRAIL, environment, peer, utrail, wait_until

PG = Variant("gcc", "pg", "O2")
READERS = ("report", "replay", "graph", "dump", "info")


def said(command, directory):
    """The reader's message that the recording is incomplete, in its output or on stderr; "" when
    there is none."""
    result = utrail(command, "-d", directory).must()
    found = re.search(r"incomplete: .*", result.out + result.err)
    return found[0] if found else ""


def of_all(directory):
    return {said(command, directory) for command in READERS}


def recorder(exe, *options, directory="data"):
    """A recorder with its first records written, and a program that runs for ever."""
    proc = subprocess.Popen([UTRAIL, "record", "-d", directory, *options, exe, "20000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env=environment(), start_new_session=True)
    wait_until(lambda: any(file.stat().st_size > 1000 for file in Path(directory).glob("[0-9]*.*dat")))
    return proc


@pytest.mark.parametrize("options", [(), ("--compact",)], ids=" ".join)
def test_whole(options):
    utrail("record", "-d", "data", *options, build(program("plain"), PG)).must()
    assert of_all("data") == {""}
    last = Path("data/info").read_bytes().splitlines()[-1]
    assert last == b"utrail_state:ended   lost=00000000000000000000 error=000"
    # A recorder that states no end: there is no message about it.
    info = Path("data/info").read_bytes()
    Path("data/info").write_bytes(info[:-57])
    assert of_all("data") == {""}
    # An unknown state is no sign of an incomplete recording, either.
    Path("data/info").write_bytes(info[:-57] + b"utrail_state:else what\n")
    assert of_all("data") == {""}


@pytest.mark.parametrize("options", [(), ("--compact",)], ids=" ".join)
@pytest.mark.parametrize("cut", [1, 4, 13])
def test_file_is_cut_later(options, cut):
    """A file that was cut, as in an interrupted copy: it ends inside a record, or inside a block of
    many."""
    Path("many.c").write_text("__attribute__((noinline)) void f(void) { __asm__ volatile(\"\"); }\nint main(void) { for (int i = 0; i < 100000; i++) f(); }\n")
    subprocess.run(["gcc", "-pg", "-O1", "many.c", "-o", "many"], check=True)
    utrail("record", "-d", "data", "--no-event", *options, "./many").must()
    (path,) = [path for path in Path("data").glob("[0-9]*") if path.stat().st_size]
    os.truncate(path, path.stat().st_size - cut)
    assert of_all("data") == {f"incomplete: '{path.name}' ends within a record; later ones are lost"}


@pytest.mark.parametrize("options", [(), ("--compact",)], ids=" ".join)
def test_recorder_is_killed(options):
    proc = recorder(build(program("endless"), PG), *options)
    try:
        # Nothing is missing while the program runs.
        assert of_all("data") == {""}
        proc.kill()
        proc.wait()
        (text,) = of_all("data")
        assert "lost" in text and "killed" in text
    finally:
        os.killpg(proc.pid, signal.SIGKILL)
    shutil.copytree("data", "copy")
    assert of_all("copy") == {text}
    # The next recording is complete.
    utrail("record", "-d", "data", build(program("plain"), PG)).must()
    assert of_all("data") == {""}


@pytest.mark.parametrize("options", [(), ("--compact",)], ids=" ".join)
def test_disk_is_full(small_disk, options):  # noqa: F811
    directory = small_disk / "data"
    (small_disk / "filler").write_bytes(bytes(900000))
    result = utrail("record", "--no-libcall", "--no-event", *options, "-d", directory, build(program("many_calls"), PG))
    lost = re.search(r"(\d+) records were lost", result.err)
    assert lost, result.err
    assert of_all(directory) == {f"incomplete: {lost[1]} records were lost (No space left on device)"}


def test_not_even_room_for_its_end(small_disk):  # noqa: F811
    """A full disk leaves no room for a new `info`: the last line of the old one is overwritten."""
    directory = small_disk / "data"
    filler = small_disk / "filler"
    proc = recorder(build(program("endless"), PG), directory=directory)
    try:
        # A filler takes all space before the recorder ends.
        with open(filler, "wb", buffering=0) as file:
            with pytest.raises(OSError):
                while True:
                    file.write(bytes(4096))
        proc.send_signal(signal.SIGINT)
        proc.wait()
    finally:
        try:
            os.killpg(proc.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    (text,) = of_all(directory)
    assert "lost" in text and "No space left on device" in text and "killed" not in text


def test_drops_are_told():
    """Calls that found no room in their ring are missing, too."""
    result = utrail("record", "--no-libcall", "--no-event", "--when-full=drop", "-b", "4k", build(program("many_calls"), PG))
    lost = re.search(r"(\d+) records were lost", result.err)
    text = {f"incomplete: {lost[1]} records were lost"} if lost else {""}
    assert of_all("uftrace.data") == text


@pytest.mark.needs_peer
def test_the_peer_reads_it():
    utrail("record", "-d", "data", build(program("plain"), PG)).must()
    assert "main" in peer("report", "-d", "data").must().out
    assert "exit status" in peer("info", "-d", "data").must().out
