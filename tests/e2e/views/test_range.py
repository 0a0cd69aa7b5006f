"""--time-range and --last seek in recordings that are long enough: the result is what the files
contain."""

import random
import re
import subprocess

import pytest

from data import ENTRY, EXIT, Recording
from tools import utrail

SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noipa))
static __thread unsigned seed;
static unsigned below(unsigned n) { seed = seed * 1103515245 + 12345; return (seed >> 8) % n; }
FN int leaf(int depth, const char *text) { return depth + text[0]; }
FN long other(long a, long b) { return a - b; }
FN int tree(int depth, const char *text)
{
    int sum = 0;
    for (unsigned n = below(4); n-- > 0;) {
        switch (below(4)) {
        case 0: sum += leaf(depth, text); break;
        case 1: sum += other(depth, n); break;
        default: if (depth < 12) sum += tree(depth + 1, text + below(5)); break;
        }
    }
    return sum;
}
FN void *work(void *arg)
{
    seed = (long)arg;
    for (int i = 0; i < 4500; i++)
        tree(0, "a text that makes payloads long: abcdefghijklmnopqrstuvwxyz and so on, to its end");
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, (void *)1L);
    work((void *)2L);
    pthread_join(thread, NULL);
    if (fork() == 0) {
        work((void *)3L);
        if (argc == 1) execl(argv[0], argv[0], "again", NULL);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
"""
FORMS = {"plain": [], "compact": ["--compact"], "args": ["-a"], "compact-args": ["--compact", "-a"]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Recordings of one program in four forms, and plain copies (plain-NAME) of compact ones."""
    top = tmp_path_factory.mktemp("range")
    (top / "mix.c").write_text(SOURCE)
    subprocess.run(["gcc", "-pg", "-g", "-O1", top / "mix.c", "-o", top / "mix", "-pthread"], check=True)
    for name, options in FORMS.items():
        utrail("record", "--no-libcall", "--no-event", *options, "-d", top / name, top / "mix").must()
        if "--compact" in options:
            utrail("convert", "-d", top / name, top / f"plain-{name}").must()
    return top


def calls(path):
    """The ENTRY and EXIT records of all files, sorted by time: (time, tid, number of the record in
    its file, kind, name). At one time the older task comes first; its tid may be the higher one."""
    rec = Recording(path, has_payloads=True)
    found = (
        (record.time, task.tid, at, record.kind, record.name)
        for task in rec.tasks.values()
        for at, record in enumerate(task.records)
        if record.kind <= EXIT
    )
    return sorted(found, key=lambda call: call[0])


def clock(ns):
    return f"{ns // 1000000000}.{ns % 1000000000:09}"


def shown(*options):
    """The calls in lines of replay, in the same form."""
    out = utrail("replay", "--no-merge", "--no-args", "-f", "time,tid", *options).must().out
    lines = re.findall(r"^ \[ *(\d+)\] +(\d+)\.(\d+) \| +(?:(\w+)\(\) \{|\} /\* (\w+) \*/)$", out, re.M)
    assert len(lines) == out.split("\n\n")[0].rstrip("\n").count("\n")
    return [
        (int(s + ns), int(tid), ENTRY if entered else EXIT, entered or left) for tid, s, ns, entered, left in lines
    ]


def parts(records):
    """Begins and ends of parts: anywhere, at a record's time, at the recording's edges."""
    rng = random.Random(7)
    first, last = records[0][0], records[-1][0]
    for length in (0, 1000, 100000, 5000000):
        for _ in range(2):
            start = rng.randrange(first, last)
            yield start, start + length
        start = rng.choice(records)[0]
        yield start, start + length
    yield last - 20000, last
    yield first, first + 1000


@pytest.mark.parametrize("form", FORMS)
def test_parts(recorded, form):
    data = recorded / form
    records = calls(recorded / f"plain-{form}" if "compact" in form else data)
    assert len(records) > 200000
    for start, stop in parts(records):
        expected = [(time, tid, kind, name) for time, tid, _, kind, name in records if start <= time <= stop]
        result = shown("-d", data, "-r", f"{clock(start)}~{clock(stop)}") if expected else []
        assert result == expected, f"{start} to {stop}"


@pytest.mark.parametrize("form", FORMS)
def test_last(recorded, form):
    data = recorded / form
    records = calls(recorded / f"plain-{form}" if "compact" in form else data)
    last = records[-1][0]
    expected = [(time, tid, kind, name) for time, tid, _, kind, name in records if time >= last - 30000]
    assert shown("-d", data, "--last", "30us") == expected
    assert shown("-d", data, "--last", "30us", f"--tid={expected[0][1]}") == [
        line for line in expected if line[1] == expected[0][1]
    ]
    counts = {}
    for _, _, kind, name in expected:
        counts[name] = counts.get(name, 0) + (kind == EXIT)
    report = utrail("report", "-d", data, "--last", "30us", "-f", "call").must().out
    assert {name: int(nr) for nr, name in re.findall(r"^ +(\d+)  (\w+)$", report, re.M)} == {
        name: nr for name, nr in counts.items() if nr
    }


def test_last_is_a_range(recorded):
    data = recorded / "plain"
    records = calls(data)
    since = clock(records[-1][0] - 50000)
    for view in (["graph"], ["report"], ["dump"], ["dump", "--format=chrome"], ["replay", "-f", "tid", "-F", "tree"]):
        texts = [utrail(*view, "-d", data, *part).must().out for part in (["--last", "50us"], ["-r", f"{since}~"])]
        assert texts[0] == texts[1]
        assert texts[0].strip()


def test_all_of_it(recorded):
    everything = utrail("report", "-d", recorded / "plain").must().out
    assert utrail("report", "-d", recorded / "plain", "--last", "1min").must().out == everything


def test_refused(recorded):
    result = utrail("replay", "--last", "1ms", "-r", "1ms~", "-d", recorded / "plain")
    assert result.status == 2
    assert "--last and --time-range cannot be used together" in result.err
