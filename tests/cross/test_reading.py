"""Builds for other machines (misc/cross) run under qemu-user: they show the same text of the same
recordings as this machine's build.

misc/test.sh cross makes the builds; UTRAIL_CROSS names the machines.
"""

import os
import re
import struct
import subprocess

import archive
import pytest
from programs import SOURCES, Variant, build, program
from tools import BUILD, TOP, environment, run, utrail

# The machine's name in its cross file, and qemu's name of it.
QEMU = {"aarch64": "aarch64", "riscv64": "riscv64", "arm": "arm", "i386": "i386"}
MACHINES = os.environ.get("UTRAIL_CROSS", " ".join(QEMU)).split()
CROSS = TOP / "build-cross"
PG = Variant("gcc", "pg", "O2")
SEEDS = TOP / "tests/data/corpus/datadir"
# Every view, and every option that leads through other code. --format=sqlite is not here: each
# version of sqlite3 writes its number into the file.
COMMANDS = [
    line
    for line in re.findall(r'^\t"(\w.*)",$', (TOP / "tests/fuzz/fuzz_datadir.c").read_text(), flags=re.M)
    if "sqlite" not in line
]
assert len(COMMANDS) > 40


def emulator(machine):
    return [f"qemu-{QEMU[machine]}"]


@pytest.fixture(scope="module", params=MACHINES)
def machine(request):
    assert (CROSS / request.param / "utrail").exists(), "misc/test.sh cross makes the builds"
    return request.param


def cross_utrail(machine, *args):
    return run(*emulator(machine), CROSS / machine / "utrail", *args)


def version_of(*program):
    return run(*program, "--version").must().out.strip().removeprefix("utrail ").encode()


def show(*program, dirs, commands):
    """The output of tests/cross/show.c by directory and command line. In the text, VERSION stands
    for the versions of the build that records, and of the build that has @program."""
    done = subprocess.run([*program, *dirs], input="".join(c + "\n" for c in commands).encode(), env=environment(),
                          capture_output=True, timeout=300)
    assert done.returncode == 0, (program, dirs, done.returncode, done.stderr[-2000:])
    text = done.stdout
    for version in (version_of(BUILD / "utrail"), version_of(*program[:-1], program[-1].parents[2] / "utrail")):
        text = text.replace(version, b"VERSION")
    parts = re.split(rb"^== (.*)\n", text, flags=re.M)
    return {name.decode(): text for name, text in zip(parts[1::2], parts[2::2])}


def assert_same(machine, dirs, commands=COMMANDS):
    here = show(BUILD / "tests/cross/show", dirs=dirs, commands=commands)
    there = show(*emulator(machine), CROSS / machine / "tests/cross/show", dirs=dirs, commands=commands)
    assert list(here) == list(there) == [f"{d} {c}" for c in commands for d in dirs]
    for name, text in here.items():
        assert there[name] == text, f"{machine}: {name}"
    return here


def recordings(home):
    """Data directories that are recorded here, by name."""
    def record(name, exe, *options):
        utrail("record", "-d", home / name, *options, exe).must()
        return home / name

    def compiled(source, *flags):
        path = SOURCES / "args" / source
        exe = home / path.stem
        compiler = "g++" if path.suffix == ".cc" else "gcc"
        subprocess.run([compiler, "-g", "-pg", "-O1", *flags, "-o", exe, path, "-pthread"], check=True)
        return exe

    return {
        "arguments": record("arguments.d", compiled("values.c"), "-a", "--srcline"),
        "containers": record("containers.d", compiled("containers.cc", "-std=c++20"), "-a"),
        "numbers": record("numbers.d", build(program("floats"), Variant("gcc", "pg", "O2")), "-a"),
        "threads": record("threads.d", build(program("threads"), PG), "--num-thread=2"),
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return recordings(tmp_path_factory.mktemp("recorded"))


@pytest.mark.parametrize("name", ["arguments", "containers", "numbers", "threads"])
def test_recordings(machine, recorded, name):
    here = assert_same(machine, [recorded[name]])
    assert all(b"-- status 0" in here[f"{recorded[name]} {c}"] for c in ("replay", "report", "graph", "dump", "info"))


def test_seeds(machine, tmp_path):
    """Data directories of all kinds: of the other byte order, of 32-bit programs, and damaged
    ones."""
    few = ["replay -f all", "report -f all", "graph --task", "info", "dump -v", "dump --format=perfetto"]
    dirs = []
    for seed in sorted(SEEDS.iterdir()):
        content = seed.read_bytes()
        if all(kind == b"file" for kind, _ in archive.HEAD.findall(content)):
            archive.unpack(archive.parse(content), tmp_path / seed.name)
            dirs.append(tmp_path / seed.name)
    assert len(dirs) > 20
    assert_same(machine, dirs, few)


LOOP = """
__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
int main(void) { for (int i = 0; i < CALLS; i++) leaf(); return 0; }
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A recording of three million records."""
    home = tmp_path_factory.mktemp("many")
    (home / "loop.c").write_text(LOOP)
    subprocess.run(["gcc", "-pg", "-O1", "-DCALLS=1500000", "-o", home / "loop", home / "loop.c"], check=True)
    utrail("record", "--no-event", "-d", home / "data", home / "loop").must()
    (records,) = home.glob("data/[0-9]*.dat")
    assert records.stat().st_size >= 3000000 * 16
    return home / "data"


def test_millions_of_records(machine, many):
    here = assert_same(machine, [many], ["report -f all", "report --num-thread 2", "replay -D 1", "graph", "dump --format=folded"])
    assert b"1500000" in here[f"{many} report -f all"]


FAR = (5 << 30) + 16


def test_behind_four_gigabytes(machine, recorded, tmp_path):
    """A damaged record beyond four gigabytes, after a hole: all machines name the same offset."""
    data = tmp_path / "data"
    files = archive.parse((SEEDS / "ours-plain").read_bytes())
    name = next(n for n in files if re.fullmatch(r"\d+\.dat", n) and files[n])
    archive.unpack(files, data)
    with open(data / name, "r+b") as f:
        end = len(files[name])
        f.seek(FAR)
        f.write(struct.pack("<QQ", 1, 1))
    here = assert_same(machine, [data], ["replay", "report", "dump"])
    assert f"is damaged at offset {end}".encode() in here[f"{data} report"]


def test_what_there_is_no_probe_for(machine):
    assert "no-probe" in cross_utrail(machine, "--version").must().out.split()
    for command in ("record", "live"):
        result = cross_utrail(machine, command, "/bin/true")
        assert result.status != 0
        assert re.fullmatch(r"utrail: cannot record: there is no probe for \w+ yet; recordings of other machines can be read here\n",
                            result.err), result.err


def test_the_program_itself(machine, recorded):
    """The program as users run it, with options from the command line and output to a pipe; the
    other tests run all commands in one process."""
    for words in (["replay", "-f", "none"], ["report", "--format=csv"], ["dump", "--format=sqlite"]):
        # preempted=True: the text of both has the events that other tests leave out.
        here = utrail(*words, "-d", recorded["threads"], preempted=True)
        there = cross_utrail(machine, *words, "-d", recorded["threads"])
        assert (there.status, there.err) == (here.status, here.err)
        assert there.out == here.out or "sqlite" in words[-1]
