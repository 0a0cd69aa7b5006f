"""record --compact: all commands show the same for both forms, damage costs one block, and convert
goes there and back."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from programs import Variant, build, program
from tools import UTRAIL, utrail, wait_until

HEAD_BYTES = 48
SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noinline))
FN int leaf(int x) { __asm__ volatile(""); return x + 1; }
FN int twice(int x) { return leaf(x) + leaf(x + 1); }
FN int deep(int n) { int x = n ? deep(n - 1) + 1 : leaf(0); __asm__ volatile(""); return x; }
FN int all(int n) { int x = 0; for (int i = 0; i < n; i++) x += i % 7 ? twice(i) : deep(i % 30); return x; }
static void *thread(void *arg) { return (void *)(long)all(*(int *)arg); }
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, &n);
    if (fork() == 0) return all(n) == 0;
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    wait(NULL);
    return all(n) == 0;
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A compact recording with threads and a forked child, and the same recording in the standard
    form."""
    top = tmp_path_factory.mktemp("compact")
    (top / "many.c").write_text(SOURCE)
    subprocess.run(["gcc", "-pg", "-g", "-O1", top / "many.c", "-o", top / "many", "-pthread"], check=True)
    utrail("record", "--compact", "-a", "-A", "leaf@arg1", "-d", top / "args", top / "many", "100").must()
    utrail("record", "--compact", "--no-args", "-d", top / "compact", top / "many", "20000").must()
    for name in ("args", "compact"):
        utrail("convert", "-d", top / name, top / f"plain-{name}").must()
    return top


def files(path, suffix):
    found = sorted(path.glob(f"[0-9]*{suffix}"))
    assert found
    return found


def test_size(recorded):
    plain = sum(f.stat().st_size for f in files(recorded / "plain-compact", ".dat"))
    compact = sum(f.stat().st_size for f in files(recorded / "compact", ".cdat"))
    assert not list((recorded / "compact").glob("[0-9]*.dat"))
    # A call and its end take two bytes each; a call that takes much longer than others takes a few
    # more.
    assert compact * 32 / plain <= 4.2, "bytes per call"


VIEWS = [
    ["replay"],
    ["replay", "-f", "time,tid", "-D", "3"],
    ["replay", "-r", "10us~3ms"],
    ["replay", "-F", "twice", "-t", "1us"],
    ["report"],
    ["report", "--num-thread=1"],
    ["report", "-N", "leaf"],
    ["report", "--task"],
    ["graph", "all"],
    ["dump"],
    ["dump", "--format=chrome"],
    ["dump", "--format=flame-graph"],
]


@pytest.mark.parametrize("name", ["compact", "args"])
@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_same_text(recorded, name, view):
    texts = []
    for path in (recorded / name, recorded / f"plain-{name}"):
        result = utrail(*view, "-d", path).must()
        texts.append((result.out, result.err))
    assert texts[0] == texts[1]
    assert texts[0][0].strip()


@pytest.mark.parametrize("name", ["compact", "args"])
def test_there_and_back(recorded, name, tmp_path):
    plain = recorded / f"plain-{name}"
    utrail("convert", "--compact", "-d", plain, tmp_path / "packed").must()
    utrail("convert", "-d", tmp_path / "packed", tmp_path / "back").must()
    assert not list((tmp_path / "packed").glob("[0-9]*.dat"))
    assert not subprocess.run(["diff", "-r", plain, tmp_path / "back"], check=False).returncode


def test_the_peer(recorded):
    """The peer reports that it cannot read the compact form. It can read the recording that convert
    makes."""
    if not shutil.which("uftrace"):
        pytest.skip("needs uftrace")
    refused = subprocess.run(["uftrace", "replay", "-d", recorded / "compact"], capture_output=True, text=True, check=False)
    assert "cannot open record data" in refused.stderr + refused.stdout
    ours = utrail("report", "-f", "call", "-d", recorded / "plain-compact", "-s", "func").must().out
    theirs = subprocess.run(["uftrace", "report", "--no-pager", "-f", "call", "-s", "func", "-d", recorded / "plain-compact"],
                            capture_output=True, text=True, check=True).stdout
    assert sorted(line.split()[:2] for line in ours.splitlines() if " leaf" in line) == sorted(
        line.split()[:2] for line in theirs.splitlines() if " leaf" in line)


def blocks(data):
    """The offset and the length of each block."""
    found = []
    at = 0
    while at < len(data):
        assert data[at : at + 4] == b"UTCB"
        length = HEAD_BYTES + int.from_bytes(data[at + 24 : at + 28], "little")
        found.append((at, length))
        at += length
    return found


def whole_bytes(path):
    """The bytes of whole blocks in a file that is being written: its last block may be incomplete."""
    data = path.read_bytes()
    at = 0
    while len(data) >= at + HEAD_BYTES:
        end = at + HEAD_BYTES + int.from_bytes(data[at + 24 : at + 28], "little")
        if end > len(data):
            break
        at = end
    return at


def largest(path):
    return max(files(path, ".cdat"), key=lambda f: f.stat().st_size)


def calls(path):
    out = utrail("report", "-f", "call", "-d", path)
    return sum(int(line.split()[0]) for line in out.out.splitlines()[2:])


@pytest.mark.parametrize("place", ["head", "body"])
def test_one_damaged_block(recorded, tmp_path, place):
    """The loss of the damaged block is reported, and all other blocks are shown. This holds for the
    converted recording, too."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded / "compact", copy)
    file = largest(copy)
    data = bytearray(file.read_bytes())
    found = blocks(data)
    assert len(found) >= 3
    at, length = found[len(found) // 2]
    data[at + (5 if place == "head" else HEAD_BYTES + length // 3)] ^= 0x40
    file.write_bytes(data)
    before = calls(recorded / "compact")
    result = utrail("replay", "--tid", file.stem, "-d", copy)
    assert f"'{file}' is damaged at offset {at}: the records of one block are lost" in result.err
    assert "LOST" in result.out
    assert before * 0.8 < calls(copy) < before
    converted = utrail("convert", "-d", copy, tmp_path / "plain")
    assert converted.status == 1 and "the records of one block are lost" in converted.err
    assert calls(tmp_path / "plain") == calls(copy)


def test_cut_file(recorded, tmp_path):
    """A file that a full disk or a crash has cut off is read up to the last whole block."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded / "compact", copy)
    file = largest(copy)
    data = file.read_bytes()
    at, length = blocks(data)[-1]
    for cut in (at + 10, at + HEAD_BYTES, at + length - 1):
        file.write_bytes(data[:cut])
        replay = utrail("replay", "-d", copy)
        assert "Traceback" not in replay.err and replay.out
        file.write_bytes(data[:at])
        assert replay.out == utrail("replay", "-d", copy).out


def test_killed_recorder(recorded, tmp_path):
    """Records that were committed some tenths of a second before the recorder is killed are
    kept."""
    exe = build(program("endless"), Variant("gcc", "pg", "O2"))
    with subprocess.Popen([UTRAIL, "record", "--compact", "-d", tmp_path / "killed", exe],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(lambda: sum(map(whole_bytes, (tmp_path / "killed").glob("[0-9]*.cdat"))) > 10000)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert files(tmp_path / "killed", ".cdat")
    assert calls(tmp_path / "killed") > 1000


def test_flight_and_limit(recorded, tmp_path):
    many = recorded / "many"
    utrail("record", "--compact", "--flight=256k", "-d", tmp_path / "flight", many, "20000").must()
    assert files(tmp_path / "flight", ".cdat")
    assert calls(tmp_path / "flight") > 1000
    result = utrail("record", "--compact", "--max-size=1m", "-d", tmp_path / "limited", many, "200000").must()
    assert "reached its --max-size" in result.err
    assert sum(f.stat().st_size for f in files(tmp_path / "limited", ".cdat")) <= 1 << 20
    assert calls(tmp_path / "limited") * 32 > 3 << 20, "the limit is one of what is written"


WORDS = [
    ([], 2, "convert needs the name of the directory to make"),
    (["a", "b"], 2, "convert makes one directory, not also 'b'"),
    (["-d", "none", "out"], 1, "cannot open 'none'"),
    (["-d", "empty", "out"], 1, "cannot read 'empty/info'"),
    (["-d", "compact", "compact"], 2, "cannot convert 'compact' into itself"),
    (["-d", "compact", "mine"], 1, "cannot make 'mine'"),
]


@pytest.mark.parametrize("words, status, text", WORDS, ids=[text for _, _, text in WORDS])
def test_errors(recorded, tmp_path, monkeypatch, words, status, text):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("mine").mkdir()
    Path("mine/file").write_text("precious")
    os.symlink(recorded / "compact", "compact")
    result = utrail("convert", *words)
    assert result.status == status
    assert text in result.err
    assert Path("mine/file").read_text() == "precious"


def test_info_beyond_the_limit(recorded, tmp_path):
    """No part of an info file is left out silently."""
    shutil.copytree(recorded / "args", tmp_path / "data")
    os.truncate(tmp_path / "data/info", (64 << 20) + 1)
    result = utrail("convert", "-d", tmp_path / "data", tmp_path / "out").must(1)
    assert "/info': File too large" in result.err
