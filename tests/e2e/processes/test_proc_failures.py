"""record --proc: system calls that fail are recorded with the errors that the program saw, and the
etrace text has forms for them."""

import re
from pathlib import Path

import pytest
from proc_ways import WAYS, lacking, only_bpf, proc, way  # noqa: F401  (a fixture)
from test_proc import compile_here, events, record
from tools import utrail

# Each call in SAY() causes an error that is recorded. The other calls succeed, or fail in a way
# that is not recorded.
PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SAY(kind, call) do { if ((call) == -1) printf("%s %s\n", kind, strerrorname_np(errno)); else printf("no\n"); } while (0)

int main(void)
{
	struct clone_args args = { .flags = CLONE_SIGHAND };
	int dir;

	mkdir("dir", 0700);
	mkdir("dir/sub", 0700);
	dir = open("dir", O_RDONLY);
	close(open("file", O_CREAT | O_WRONLY, 0600));
	symlink("nowhere", "dangling");
	SAY("rename", rename("nothing", "x"));
	SAY("rename", rename("file", "dir"));
	SAY("rename", rename("dangling", "dir"));
	SAY("rename", rename("file", "nodir/x"));
	SAY("rename", renameat(AT_FDCWD, "file", dir, "sub"));
	SAY("rename", renameat(99, "file", dir, "sub"));
	SAY("rename", syscall(SYS_renameat2, AT_FDCWD, "file", dir, "sub", RENAME_NOREPLACE));
	SAY("rename", syscall(SYS_renameat2, AT_FDCWD, "none", dir, "sub", 0));
	syscall(SYS_renameat2, AT_FDCWD, "file", dir, "new", 0);
	rename("dir/new", "file");
	SAY("link", link("file", "dir"));
	SAY("link", link("none\nof these", "x"));
	SAY("link", linkat(AT_FDCWD, "file", dir, "sub", 0));
	SAY("link", linkat(AT_FDCWD, "dangling", dir, "sub", AT_SYMLINK_FOLLOW));
	SAY("link", linkat(AT_FDCWD, "dangling", dir, "sub", 0));
	linkat(AT_FDCWD, "file", dir, "hard", 0);
	SAY("rename", rename((char *)8, "x"));
	symlink("a", "dir");
	open("none", O_RDONLY);
	unlink("none");
	SAY("mount", mount("src", "nodir", "tmpfs", 5, ""));
	SAY("mount", mount("src", "dir", "no-such-type", 6, ""));
	SAY("umount", umount2("nodir", 2));
	SAY("umount", umount2("dir", MNT_DETACH));
	SAY("clone", syscall(SYS_clone, CLONE_THREAD | SIGCHLD, 0, 0, 0, 0));
	SAY("clone", syscall(SYS_clone3, &args, sizeof(args)));
	fflush(stdout);
	if (fork() == 0)
		_exit(4);
	return 0;
}
"""

# The expected events, with names relative to the working directory.
TOLD = [
    ("rename", "to=x"),
    ("rename", "from=file to=dir"),
    ("rename", "from=dangling to=dir"),
    ("rename", "from=file to=nodir/x"),
    ("rename", "from=file to=dir/sub"),
    ("rename", "to=dir/sub"),
    ("rename", "flags=0x1 from=file to=dir/sub"),
    ("rename", "to=dir/sub"),
    ("link", "from=file to=dir"),
    ("link", "to=x"),
    ("link", "from=file to=dir/sub"),
    ("link", "flags=0x400 to=dir/sub"),
    ("link", "from=dangling to=dir/sub"),
    ("rename", "to=x"),
    ("mount", "flags=0x5 source=src path=nodir type=tmpfs"),
    ("mount", "flags=0x6 source=src path=dir type=no-such-type"),
    ("umount", "flags=0x2"),
    ("umount", "flags=0x2 path=dir"),
    ("clone", "flags=0x10011"),
    ("clone", "flags=0x800"),
]
MOUNTS = """Mount|sourcenamesize=3,targetnamesize=6,typenamesize=5,flags=5
MS|src
MT|nodir
MX|tmpfs
MountFailed|
Mount|sourcenamesize=3,targetnamesize=4,typenamesize=12,flags=6
MS|src
MT|dir
MX|no-such-type
MountFailed|
UmountFailed|
Umount|targetnamesize=4,flags=2
MT|dir
UmountFailed|
"""
TEXT = """RenameFailed|
RenameFrom|fnamesize=5
RF|file
RenameFailed|
RenameFrom|fnamesize=9
RF|dangling
RenameFailed|
RenameFrom|fnamesize=5
RF|file
RenameFailed|
RenameFrom|fnamesize=5
RF|file
RenameFailed|
RenameFailed|
Rename2From|fnamesize=5,flags=1
RF|file
RenameFailed|
RenameFailed|
Rename2From|fnamesize=5,flags=0
RF|file
RenameTo|fnamesize=8
RT|dir/new
RenameFrom|fnamesize=8
RF|dir/new
RenameTo|fnamesize=5
RT|file
LinkFrom|fnamesize=5
LF|file
LinkFailed|
LinkFailed|
LinkatFrom|fnamesize=5,flags=0
LF|file
LinkFailed|
LinkFailed|
LinkatFrom|fnamesize=9,flags=0
LF|dangling
LinkFailed|
LinkatFrom|fnamesize=5,flags=0
LF|file
LinkTo|fnamesize=9
LT|dir/hard
RenameFailed|
""" + MOUNTS + """SysClone|flags=65553
SysCloneFailed|
SysClone|flags=2048
SysCloneFailed|
"""


def in_place(text):
    """Returns @text with the names as paths in the working directory, and with the sizes of these
    paths. The sizes in @text have room for a slash already."""
    here = str(Path.cwd())
    text = re.sub(r"(?m)^(RF|RT|LF|LT|MT)\|", rf"\1|{here}/", text)
    return re.sub(r"((?:^|,|\|)(?:fname|targetname)size=)(\d+)", lambda size: f"{size[1]}{int(size[2]) + len(here)}", text)


def failures(directory="uftrace.data"):
    found = []
    for event in events(directory):
        match = re.fullmatch(r"proc:(\w+)-failed", event["event"])
        if match:
            args = dict(event["args"])
            error = args.pop("error")
            words = " ".join(f"{key}={value}" for key, value in args.items())
            found.append((match[1], words.replace(f"{Path.cwd()}/", ""), error))
    return found


def lines_of(text):
    """The lines about renames, links, mounts and failed forks, without their heads."""
    data = [line.split("!", 1)[1] for line in text.splitlines() if "!" in line]
    words = "RenameF", "Rename2F", "RenameT", "LinkF", "LinkatF", "LinkT", "Mount", "Umount", "SysCloneFailed", "RF|", "RT|", "LF|", "LT|", "MS|", "MT|", "MX|"
    kept = [line for i, line in enumerate(data)
            if line.startswith(words) or (line.startswith("SysClone|") and data[i + 1] == "SysCloneFailed|")]
    return "".join(f"{line}\n" for line in kept)


@pytest.fixture
def recorded(workdir):
    exe = compile_here(workdir, PROGRAM, "-static", "-w")
    said = record("--force", "--no-event", exe).must().out.splitlines()
    return [tuple(line.split()) for line in said]


def test_failures_are_as_the_program_saw_them(recorded):
    assert failures() == [(*told, error) for told, (kind, error) in zip(TOLD, recorded)]
    assert [kind for kind, _ in recorded] == [kind for kind, _ in TOLD]
    replayed = utrail("replay", "--no-pager").must().out
    assert "proc:rename-failed" in replayed and f"to={Path.cwd()}/dir error=EISDIR" in replayed
    for form in "chrome", "html":
        assert "rename-failed" in utrail("dump", f"--format={form}").must().out
    assert "proc:link-failed" in utrail("report", "--events").must().out


def test_failures_as_text(recorded, way):  # noqa: F811
    text = utrail("events", "export", "--as=etrace").must().out
    assert lines_of(text) == in_place(TEXT)
    Path("text").write_text(text)
    assert "0 lines were wrong" in utrail("events", "import", "-d", "again", "text").must().out
    assert utrail("events", "export", "--as=etrace", "-d", "again").must().out == text
    # For a failed call, the etrace text has only the name `from`. It lacks the other name and the
    # error.
    again = [(event["event"], event["args"].get("from")) for event in events("again") if event["event"].endswith("-failed")]
    assert again == [(event["event"], event["args"].get("from")) for event in events() if event["event"].endswith("-failed")]


@pytest.mark.parametrize("options, mounts", [([], ""), (["-m"], MOUNTS)])
def test_build_has_mounts_on_demand(workdir, options, mounts):
    exe = compile_here(workdir, PROGRAM, "-static", "-w")
    utrail("build", proc(), "--as=etrace", *options, exe).must()
    text = in_place(TEXT.replace(MOUNTS, mounts))
    assert lines_of(Path(".nfsdb").read_text()) == text


@only_bpf
def test_both_ways_tell_the_same_failures(workdir):
    exe = compile_here(workdir, PROGRAM, "-static", "-w")
    found = {}
    for one in WAYS:
        if why := lacking(one):
            pytest.skip(why)
        for name in "file", "dangling", "dir/hard", "dir/sub", "dir":
            path = Path(name)
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
        utrail("record", f"--proc={one}", "--force", "--no-libcall", "--no-event", "-d", one, exe).must()
        found[one] = failures(one)
    assert found["bpf"] == found["ptrace"] and len(found["bpf"]) == len(TOLD)
