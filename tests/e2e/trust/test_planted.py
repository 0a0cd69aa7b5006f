"""A stranger has put a thing in the place of each file that utrail writes, in a sticky directory
where all users may write."""

import json
import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest
from tools import NOBODY, UTRAIL, run, wait_until, why_not_as_nobody

STRANGER = 65533
SECRET = "private\n"
PROGRAM = "int called(void) { return 0; }\nint main(void) { return called(); }\n"

# Commands that write a file, and the name of that file in the sticky directory. DIR stands for that
# directory, OWN for one of the victim.
COMPILE = ["gcc", "-c", "OWN/prog.c", "-o", "OWN/prog.o"]
FILES = {
    "build": (["build", "-d", "OWN/data", "-o", "DIR/out", *COMPILE], "out"),
    "build-default": (["build", "-d", "OWN/data", *COMPILE], "compile_commands.json"),
    "build-tmp": (["build", "-d", "OWN/data", "-o", "DIR/out", *COMPILE], "out.tmp"),
    "build-json": (["build", "-d", "OWN/data", "--as=json", "-o", "DIR/out", "true"], "out"),
    "build-deps": (["build", "-d", "OWN/data", "--as=deps", "-o", "DIR/out", "true"], "out"),
    "etrace": (["build", "-d", "OWN/data", "--as=etrace", "-w", "DIR", "true"], ".nfsdb"),
    "etrace-tmp": (["build", "-d", "OWN/data", "--as=etrace", "-w", "DIR", "true"], ".nfsdb.tmp"),
    "etrace-dir": (["build", "-d", "OWN/data", "--as=etrace", "-w", "DIR/sub", "true"], "sub"),
    "logfile": (["--logfile", "DIR/log", "record", "-d", "OWN/data", "PROGRAM"], "log"),
    "record": (["record", "-d", "DIR/data", "PROGRAM"], "data"),
    "record-old": (["record", "-d", "DIR/data", "PROGRAM"], "data.old"),
    "record-inside": (["record", "-d", "DIR/sub/data", "PROGRAM"], "sub"),
    "convert": (["convert", "-d", "OWN/whole", "DIR/data"], "data"),
}
THINGS = ["link", "dangling", "link-to-dir", "hard-link", "fifo", "directory", "socket", "device", "file", "link-in-link"]

USERS = {"root": (), "another": NOBODY}


@pytest.fixture
def places(tmp_path, request):
    """The sticky directory, a directory of the victim, and a private one inside of that."""
    user = request.getfixturevalue("user")
    if why_not_as_nobody():
        pytest.skip(why_not_as_nobody())
    uid = 0 if user == "root" else 65534
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if not parent.stat().st_mode & stat.S_IXOTH and {Path("/tmp"), Path("/dev/shm")} & set(parent.parents):
            parent.chmod(0o755)
    public = tmp_path / "public"
    own = tmp_path / "own"
    private = own / "private"
    for path in (public, own, private):
        path.mkdir()
    (private / "file").write_text(SECRET)
    os.chmod(private / "file", 0o600)
    for path in (own, private, private / "file"):
        os.chown(path, uid, uid)
    os.chmod(private, 0o700)
    os.chmod(public, 0o1777)
    (own / "prog.c").write_text(PROGRAM)
    run("gcc", "-pg", own / "prog.c", "-o", own / "prog").must()
    return public, own, private


def plant(thing, path, private):
    """Make @thing at @path, and give it to the stranger, unless it is a hard link."""
    if thing == "link":
        os.symlink(private / "file", path)
    elif thing == "dangling":
        os.symlink(private / "new", path)
    elif thing == "link-to-dir":
        os.symlink(private, path)
    elif thing == "link-in-link":
        os.symlink(str(path) + ".next", path)
        os.symlink(private / "file", str(path) + ".next")
        os.lchown(str(path) + ".next", STRANGER, STRANGER)
    elif thing == "hard-link":
        os.link(private / "file", path)
        return
    elif thing == "fifo":
        os.mkfifo(path, 0o666)
    elif thing == "directory":
        path.mkdir()
    elif thing == "socket":
        with socket.socket(socket.AF_UNIX) as s:
            # The name is relative: names of sockets must be short.
            here = os.getcwd()
            os.chdir(path.parent)
            s.bind(path.name)
            os.chdir(here)
    elif thing == "device":
        os.mknod(path, 0o666 | stat.S_IFBLK, os.makedev(7, 200))
    elif thing == "file":
        path.write_text("bait\n")
        os.chmod(path, 0o666)
    os.lchown(path, STRANGER, STRANGER)


def tree(path):
    return {str(p.relative_to(path)): (p.lstat().st_ino, p.lstat().st_mode, p.lstat().st_uid) for p in path.rglob("*")}


def words(args, public, own):
    return [a.replace("OWN", str(own)).replace("DIR", str(public)).replace("PROGRAM", str(own / "prog")) for a in args]


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("command", FILES)
def test_planted(places, command, user, thing):
    """The private file and its directory stay unchanged, and the command ends."""
    public, own, private = places
    args, name = FILES[command]
    as_user = USERS[user]
    os.chdir(public)
    if command == "convert":
        run(*as_user, UTRAIL, *words(["record", "--compact", "-d", "OWN/whole", "PROGRAM"], public, own)).must()
    plant(thing, public / name, private)
    before = tree(private)
    result = run(*as_user, UTRAIL, *words(args, public, own), limit=60)
    assert (private / "file").read_text() == SECRET
    assert tree(private) == before, result.err
    assert result.status < 128
    # A refusal names the file.
    if result.status and thing != "hard-link":
        assert name.removesuffix(".tmp").removesuffix(".old") in result.err, result.err
    if result.status == 0 and (public / name).exists() and thing in ("link", "dangling", "file", "fifo", "device"):
        # A file that was written is the victim's own; a stranger's was never opened.
        assert (public / name).lstat().st_uid != STRANGER or name.endswith((".tmp", ".old"))


def test_own_link_and_mode_are_kept(tmp_path):
    """A user's own link is followed, and its target keeps its mode."""
    os.chdir(tmp_path)
    Path("real").mkdir()
    Path("real/cc.json").write_text("[]\n")
    os.chmod("real/cc.json", 0o640)
    os.symlink("real/cc.json", "compile_commands.json")
    run(UTRAIL, "build", "--all", "gcc", "-c", "-x", "c", "/dev/null", "-o", "/dev/null").must()
    assert os.path.islink("compile_commands.json")
    assert "null" in Path("real/cc.json").read_text()
    assert stat.S_IMODE(os.stat("real/cc.json").st_mode) == 0o640
    assert sorted(os.listdir("real")) == ["cc.json"]


def test_own_dangling_link_is_followed(tmp_path):
    os.chdir(tmp_path)
    os.symlink("new.json", "out")
    run(UTRAIL, "build", "--as=json", "-o", "out", "true").must()
    assert json.loads(Path("new.json").read_text())
    assert os.path.islink("out")


def test_owner_is_kept(tmp_path):
    """A user's file still belongs to this user after root has written to it."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make files of another user")
    os.chdir(tmp_path)
    Path("out").write_text("")
    os.chown("out", 65534, 65534)
    run(UTRAIL, "build", "--as=json", "-o", "out", "true").must()
    assert (os.stat("out").st_uid, os.stat("out").st_gid) == (65534, 65534)


def test_fifo_of_ones_own(tmp_path):
    """A FIFO of the user is written to when it has a reader. Without one the command fails with a
    message."""
    os.chdir(tmp_path)
    os.mkfifo("pipe")
    result = run(UTRAIL, "build", "--as=json", "-o", "pipe", "true", limit=60).must(1)
    assert "cannot write 'pipe': no process reads from this FIFO" in result.err
    result = run(UTRAIL, "--logfile", "pipe", "info", limit=60).must(1)
    assert "cannot write 'pipe': no process reads from this FIFO" in result.err
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        # Try again until cat has opened the FIFO.
        wait_until(lambda: run(UTRAIL, "build", "--as=json", "-o", "pipe", "true").status == 0)
        assert json.loads(reader.communicate()[0])
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_standard_output_by_name(tmp_path):
    """/dev/stdout leads to the real output: a pipe, or a file whose content is kept."""
    os.chdir(tmp_path)
    run("sh", "-c", f"echo first > all; {UTRAIL} build --as=json -o /dev/stdout true >> all").must()
    first, rest = Path("all").read_text().split("\n", 1)
    assert first == "first" and json.loads(rest)
    assert json.loads(run("sh", "-c", f"{UTRAIL} build --as=json -o /dev/stdout true | cat").must().out)
