"""Damaged recordings: every command that reads one gives an answer or one clear error line, in
short time.

Copies of the seeds in tests/data/corpus/datadir are damaged in the ways of disks, crashes and
people, with a fixed seed. All copies go through all commands inside one process
(tests/fuzz/fuzz_datadir.c), many of them through the real program. misc/test.sh runs this in the
sanitizer build, too.
"""

import os
import random
import re
import resource
import struct
from collections import Counter
from itertools import islice

import archive
import pytest
from programs import MATRIX
from tools import BUILD, TOP, UTRAIL, has_sanitizer, run, utrail

# The numbers of damaged copies that the first and the second test are made for. Each test divides
# its copies into parts, and reads two of the parts. The stage matrix reads all parts.
COPIES = 1200
RUN_COPIES = 240
PARTS = 8
TAKEN = range(PARTS) if MATRIX == "full" else range(0, PARTS, 4)
MEMORY_BYTES = 2 << 30
# The commands of the fuzz target: every view, and every option that leads through other code.
COMMANDS = [
    line.split()
    for line in re.findall(r'^\t"(\w.*)",$', (TOP / "tests/fuzz/fuzz_datadir.c").read_text(), flags=re.M)
]
assert len(COMMANDS) > 40


def seeds():
    home = TOP / "tests/data/corpus/datadir"
    return {p.name: archive.parse(p.read_bytes()) for p in sorted(home.iterdir())
            if re.match(r"ours|uftrace|big|class|version|extern|lost|user", p.name)}


# The kinds of damage. Each takes a random source and the files of a copy, which it changes, and
# returns a text about the change.


def pick(rng, files):
    # Files with similar names form a group, and all groups are chosen equally often. Otherwise most
    # of the damage would be in symbol files, since these are many.
    groups = sorted({re.sub(r"\d+|.*(?=\.sym)", "", n) for n in files})
    group = rng.choice(groups)
    return rng.choice([n for n in files if re.sub(r"\d+|.*(?=\.sym)", "", n) == group])


def truncate(rng, files):
    name = pick(rng, files)
    size = len(files[name])
    at = rng.choice([0, 1, size // 2, size - 1, size - 8, rng.randrange(size + 1)])
    files[name] = files[name][: max(at, 0)]
    return f"{name} cut at {at}"


def flip(rng, files):
    name = pick(rng, files)
    data = bytearray(files[name])
    count = rng.choice([1, 1, 2, 8, 64])
    for _ in range(count if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    files[name] = bytes(data)
    return f"{name} with {count} bits flipped"


def remove(rng, files):
    name = pick(rng, files)
    del files[name]
    return f"{name} removed"


def swap(rng, files):
    one, other = pick(rng, files), pick(rng, files)
    files[one], files[other] = files[other], files[one]
    return f"{one} and {other} swapped"


def huge_number(rng, files):
    name = pick(rng, files)
    numbers = list(re.finditer(rb"[0-9a-f]{1,20}", files[name]))
    if not numbers:
        return f"{name} left alone"
    match = rng.choice(numbers)
    value = rng.choice([b"99999999999999999999", b"18446744073709551615", b"ffffffffffffffff", b"2147483648",
                        b"4294967295", b"-1", b"0", b"9" * 400])
    files[name] = files[name][: match.start()] + value + files[name][match.end() :]
    return f"{name} with {value[:24].decode()} at {match.start()}"


def huge_word(rng, files):
    name = rng.choice([n for n in files if n.endswith(".dat") or n == "info"])
    data = bytearray(files[name])
    if len(data) < 8:
        return f"{name} left alone"
    at = rng.randrange(len(data) // 8) * 8
    value = rng.choice([2**64 - 1, 2**63, 2**63 - 1, 2**32, 0, 5 << 3, 5 << 3 | 1, 5 << 3 | 2, 5 << 3 | 3, 5 << 3 | 7])
    struct.pack_into("<Q", data, at, value)
    files[name] = bytes(data)
    return f"{name} with {value:#x} at {at}"


def odd_file(rng, files):
    name = pick(rng, files)
    kind = rng.choice(["dir", "fifo", "link", "link"])
    files[name] = (kind, b"" if kind != "link" else rng.choice([name.encode(), b"nowhere", b"info", b"task.txt"]))
    return f"{name} as {kind}"


def append(rng, files):
    name = pick(rng, files)
    what = rng.choice([bytes(16), bytes(100000), b"\xff" * 4096, b"a" * 100000, b"\n" * 5000, files[pick(rng, files)]])
    files[name] += what
    return f"{name} with {len(what)} bytes behind it"


def repeat(rng, files):
    name = pick(rng, files)
    times = min(200, 1 + 400000 // (len(files[name]) + 1))
    files[name] *= times
    return f"{name} {times} times"


def insert(rng, files):
    name = pick(rng, files)
    at = rng.randrange(len(files[name]) + 1)
    what = rng.randbytes(rng.choice([1, 3, 8, 16, 100]))
    files[name] = files[name][:at] + what + files[name][at:]
    return f"{name} with {len(what)} bytes at {at}"


def drop_block(rng, files):
    name = pick(rng, files)
    at = rng.randrange(len(files[name]) + 1)
    size = rng.choice([1, 8, 16, 64])
    files[name] = files[name][:at] + files[name][at + size :]
    return f"{name} without {size} bytes at {at}"


def odd_name(rng, files):
    name = rng.choice(["99999999999.dat", "0.dat", "-1.dat", "2147483647.dat", "perf-cpu99999.dat", "perf-cpu65535.dat",
                       "sid-.map", ".sym", "events.txt", "extern.dat", "default.opts", "1.dat"])
    files[name] = files[pick(rng, files)]
    return f"{name} added"


DAMAGES = [truncate, truncate, flip, flip, remove, swap, huge_number, huge_number, huge_word, odd_file, append, repeat,
           insert, drop_block, odd_name]


def damaged_copies(count):
    """Yield (changes, files) of each damaged copy. All runs get the same copies."""
    rng = random.Random(6)
    bases = seeds()
    assert len(bases) >= 10, "the corpus has got lost"
    for i in range(count):
        base = rng.choice(sorted(bases))
        files = dict(bases[base])
        done = [base]
        for k in range(rng.choice([1, 1, 1, 2, 3])):
            # The first damage of a copy goes through all kinds in turn, so that each kind is there
            # often.
            damage = DAMAGES[i % len(DAMAGES)] if k == 0 else rng.choice(DAMAGES)
            whole = {n: c for n, c in files.items() if isinstance(c, bytes)}
            odd = {n: c for n, c in files.items() if not isinstance(c, bytes)}
            done.append(damage(rng, whole))
            files = {**odd, **whole}
        yield ", ".join(done), files


def limit_memory():
    # Sanitizers reserve the whole address space, and have limits of their own.
    if not has_sanitizer():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def sanitizer_options():
    words = os.environ.get("ASAN_OPTIONS", "")
    return {"ASAN_OPTIONS": f"{words}:hard_rss_limit_mb={MEMORY_BYTES >> 20}:allocator_may_return_null=1"}


@pytest.mark.parametrize("part", TAKEN)
def test_all_commands_in_one_process(workdir, part, note):
    """Each error is one line of text, and each status of an error has such a line."""
    what = {}
    (workdir / "copies").mkdir()
    for i, (text, files) in enumerate(islice(damaged_copies(COPIES), part, None, PARTS)):
        path = workdir / "copies" / f"{i:04}"
        path.write_bytes(archive.pack(files))
        what[str(path)] = text
    result = run(BUILD / "tests/fuzz/replay_datadir", workdir / "copies", env=sanitizer_options(),
                 preexec=limit_memory, limit=600)
    last = [line for line in result.err.splitlines() if line in what][-1:]
    assert result.status == 0, f"{last}: {what.get(last[0]) if last else ''}\n{result.err[-4000:]}"
    assert result.err.endswith(f"\n{len(what)} inputs\n")
    note(f"{len(what)} damaged copies through all commands in one process{', with sanitizers' * has_sanitizer()}, part {part}")


@pytest.mark.parametrize("part", TAKEN)
def test_the_program_itself(workdir, part, note):
    rng = random.Random(part)
    answers = Counter()
    copies = list(damaged_copies(RUN_COPIES))[part::PARTS]
    for i, (text, files) in enumerate(copies):
        path = workdir / f"{i:04}"
        archive.unpack(files, path)
        for command in rng.sample(COMMANDS, 2):
            # "@" stands for the recording to compare with. Each recording is compared with itself.
            options = [str(path) if word == "@" else word for word in command[1:]]
            result = utrail(command[0], "-d", path, *options, limit=30, preexec=limit_memory,
                            env=sanitizer_options())
            about = f"{text}: {' '.join(command)}: status {result.status}\n{result.err[-3000:]}"
            assert result.status in (0, 1, 255), about
            lines = result.err.rstrip("\n").split("\n") if result.err else []
            if "-v" in options:
                assert all(re.match(r"[a-zA-Z]+: |\033\[33mWARN\033\[0m: ", line) for line in lines), about
            else:
                assert all(re.match(r"utrail: |WARN: |\033\[33mWARN\033\[0m: ", line) for line in lines), about
                errors = [line for line in lines if line.startswith("utrail: ")]
                assert len(errors) == (result.status != 0), about
            answers["an error" if errors else "an answer"] += 1
    note(f"{len(copies)} damaged copies by the program itself, part {part}: {dict(answers)}")


@pytest.mark.parametrize("how", range(4))
@pytest.mark.parametrize("method", [["-pg"], ["-finstrument-functions"]])
def test_a_program_that_damages_its_own_recording(workdir, method, how):
    """The recorder survives a program that overwrites the shared memory, and ends with the
    program's status."""
    run("gcc", *method, "-O1", TOP / "tests/e2e/src/odd/scribble.c", "-o", "scribble").must()
    result = utrail("record", "-d", "out", "./scribble", str(how), limit=30, env=sanitizer_options())
    # SIGFPE, SIGSEGV: the probe is a part of the program, and may crash on the damaged memory.
    assert result.status in (0, 136, 139), result.err
    assert "Sanitizer" not in result.err and "runtime error" not in result.err
    for command in (["replay"], ["report"], ["dump"], ["info"]):
        read = utrail(*command, "-d", "out", limit=30, env=sanitizer_options())
        assert read.status in (0, 1, 255), read.err


def test_a_terabyte_of_nothing(workdir):
    """Bytes after the last record, which are a hole in the file, are neither read nor shown."""
    files = seeds()["ours-plain"]
    name = next(n for n in files if re.fullmatch(r"\d+\.dat", n) and files[n])
    archive.unpack(files, workdir / "whole")
    archive.unpack(files, workdir / "sparse")
    try:
        os.truncate(workdir / "sparse" / name, 1 << 40)
    except OSError as reason:
        pytest.skip(f"no sparse files of that size here: {reason}")
    for command in ("report", "replay", "dump"):
        whole = utrail(command, "-d", "whole").must().out
        assert utrail(command, "-d", "sparse", limit=20).must().out == whole.replace("whole", "sparse")
