"""utrail build --as=etrace: the text that CAS reads, with the options that CAS' wrapper has."""

import os
import re
import stat
from collections import Counter
from pathlib import Path

import pytest

from tools import run, utrail

# A program that opens files repeatedly. With -i the output has only the first of several equal
# opens in a row.
OPENS = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void again(const char *path, int flags, int times)
{
	for (int i = 0; i < times; i++)
		close(open(path, flags, 0600));
}

int main(void)
{
	int fds[20];

	prctl(PR_SET_NAME, "a-name");
	again("same", O_RDONLY, 50);
	again("same", O_RDWR, 1);
	again("same", O_RDONLY, 2);
	again("other", O_RDONLY, 1);
	again("same", O_RDONLY, 1);
	for (int i = 0; i < 20; i++)
		fds[i] = open("held", O_RDONLY);
	/* A copy of a descriptor whose open is left out: its close counts. */
	dup2(0, fds[7]);
	if (fork() == 0) {
		close(fds[3]);
		_exit(0);
	}
	wait(NULL);
	for (int i = 19; i >= 0; i--)
		close(fds[i]);
	close(999);
	return 0;
}
"""


@pytest.fixture
def opens(workdir):
    Path("opens.c").write_text(OPENS)
    run("gcc", "-O1", "opens.c", "-o", "opens").must()
    for name in "same", "other", "held":
        Path(name).touch()
    return "./opens"


def build(*words, **kw):
    return utrail("build", "--as=etrace", *words, **kw)


def tags(path=".nfsdb"):
    """The number of events of each kind. A line that continues an event is not counted."""
    return Counter(re.findall(r"^0: \d+,\d+,\d+,\d+!(\w+)\|", Path(path).read_text(errors="surrogateescape"), re.M))


def opened(path=".nfsdb"):
    text = Path(path).read_text(errors="surrogateescape")
    return Counter(name for name in re.findall(r"!FN\|.*/(\w+)$", text, re.M) if name in ("same", "other", "held"))


def test_nothing_is_left_out_without_a_switch(opens):
    said = build("--", opens).must()
    assert said.out == said.err == ""
    assert opened() == {"same": 54, "other": 1, "held": 20}
    # The program closes each file that it has opened, and the copy from dup2(). The child closes
    # one, too.
    assert tags()["Close"] >= 54 + 1 + 20 + 1
    assert not tags()["Comm"] and not tags()["Mount"] and not tags()["Env"] and not tags()["UPID"]
    assert stat.S_IMODE(os.stat("uftrace.data").st_mode) == 0o700
    assert Path(".nfsdb").read_text().startswith(f"INITCWD={os.getcwd()}\n0: ")


@pytest.mark.parametrize("word", ["-i", "--ignore-repeated-opens"])
def test_repeated_opens(opens, word):
    build("--", opens).must()
    closes = tags()["Close"]
    build(word, "--", opens).must()
    assert opened() == {"same": 4, "other": 1, "held": 1}
    # Each group of 50, 2 and 20 opens keeps one close. The close of fds[7], which has become a copy
    # of another file, is kept, too. The child's close is left out, as is the open of fds[3].
    assert closes - tags()["Close"] == 49 + 1 + 19 - 1 + 1
    again = utrail("events", "import", "-d", "again", ".nfsdb")
    assert again.status == 0 and " 0 lines were wrong" in again.out


def test_names_of_tasks(opens):
    build("-t", opens).must()
    assert tags()["Comm"] and "!CN|a-name\n" in Path(".nfsdb").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_mounts(workdir):
    os.mkdir("at")
    command = ("unshare", "-m", "sh", "-c", f"mount -t tmpfs none {os.getcwd()}/at && umount {os.getcwd()}/at")
    if run(*command).status:
        pytest.skip("nothing can be mounted here, not in a namespace of its own either")
    build("--", *command).must()
    assert not tags()["Mount"] and not tags()["Umount"]
    build("-m", "--", *command).must()
    assert tags()["Mount"] and tags()["Umount"] and f"!MT|{os.getcwd()}/at\n" in Path(".nfsdb").read_text()


def test_environment(workdir):
    os.environ["SECRET_OF_A_TEST"] = "only for me"
    try:
        build("--", "true").must()
        assert "only for me" not in Path(".nfsdb").read_text()
        assert stat.S_IMODE(os.stat(".nfsdb").st_mode) == 0o644 & ~os.umask(os.umask(0))
        build("-e", "--", "true").must()
    finally:
        del os.environ["SECRET_OF_A_TEST"]
    assert "!Env[0]SECRET_OF_A_TEST=only for me\n" in Path(".nfsdb").read_text()
    assert stat.S_IMODE(os.stat(".nfsdb").st_mode) == 0o600


def test_where_it_goes(opens):
    os.mkdir("there")
    said = build("-w", "there", "--", "sh", "-c", "pwd; exit 3")
    assert said.status == 3 and said.out == f"{os.getcwd()}\n"
    assert os.listdir("there") == [".nfsdb"] and not Path(".nfsdb").exists()
    # The existing recording gives the same text, under other names of files.
    assert build("-o", "-").must().out == Path("there/.nfsdb").read_text()
    build("-o", "text").must()
    assert Path("text").read_bytes() == Path("there/.nfsdb").read_bytes()
    os.symlink("target", "link")
    Path("target").touch()
    build("--work-dir=there", "-ti").must()
    build("-o", "link").must()
    assert os.path.islink("link") and Path("target").read_bytes() == Path("text").read_bytes()
    assert build("-o", "/dev/full").status == 1
    assert not list(Path(".").glob("*.tmp"))


def test_what_cannot_be_is_said_before(workdir):
    for words, why in [
        (["-w", "nowhere", "touch", "ran"], "cannot write 'nowhere/.nfsdb': No such file or directory"),
        (["-w", "a", "-o", "b", "touch", "ran"], "options '--work-dir' and '--output' exclude each other"),
    ]:
        said = build(*words)
        assert said.status in (1, 2, 255) and why in said.err and not Path("ran").exists(), said.err
    for word, name in ("-i", "ignore-repeated-opens"), ("-t", "thread-names"), ("-m", "mounts"), ("-e", "environment"):
        said = utrail("build", word, "touch", "ran")
        assert said.status == 2 and f"option '--{name}' needs '--as=etrace'" in said.err and not Path("ran").exists()


def test_a_recording_without_files(workdir):
    utrail("build", "-o", "db.json", "--", "true")
    said = build().must()
    assert "'uftrace.data' has no records of files: the text is about processes only" in said.err
    assert tags()["New_proc"] == 1 and not tags()["Open"]


def test_damaged(opens):
    build("--", opens).must()
    whole = Path(".nfsdb").read_bytes()
    data = Path("uftrace.data/proc.dat").read_bytes()
    at = len(data) * 2 // 3 // 8 * 8
    Path("uftrace.data/proc.dat").write_bytes(data[:at] + b"\xff" * 256 + data[at + 256 :])
    said = build("-o", "part")
    assert said.status == 1 and "the part before that is shown" in said.err
    part = Path("part").read_bytes()
    assert len(whole) // 2 < len(os.path.commonprefix([part, whole])) <= len(part) < len(whole)
