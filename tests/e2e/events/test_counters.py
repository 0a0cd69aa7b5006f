"""Counters that -T names with read= are recorded, shown and added up.
tests/unit/libmcount/values/test_counters.c simulates hardware counters."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import UTRAIL, environment, peer, run, utrail, wait_until

SOURCE = """
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define FN __attribute__((noinline))
FN void touch(int pages)
{
	char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < pages; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, pages * 4096);
}
FN void nap(int times)
{
	while (times--)
		usleep(1000);
}
FN void leaf(void)
{
	__asm__ volatile("");
}
FN void both(void)
{
	nap(2);
	touch(20);
	leaf();
}
static void *thread(void *arg)
{
	both();
	return arg;
}
FN int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}
int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		for (int i = 0; i < 20; i++) {
			pthread_t t;
			pthread_create(&t, NULL, thread, NULL);
			pthread_join(t, NULL);
		}
		printf("%d\\n", open_files());
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "fork") == 0) {
		both();
		if (fork() == 0) {
			both();
			exit(0);
		}
		wait(NULL);
		return 0;
	}
	if (argc > 1) { /* other files get the descriptors that the probe had */
		leaf();
		for (int fd = 3; fd < 100; fd++)
			close(fd);
		FILE *f = fopen(argv[1], "r");
		leaf();
		char text[100];
		fputs(fgets(text, sizeof(text), f), stdout);
		return 0;
	}
	both();
	nap(1);
	leaf();
	return 0;
}
"""
NAMES = ["context-switches", "page-faults", "task-clock"]
READ = ",".join(f"read={name}" for name in NAMES)


@pytest.fixture(scope="module")
def prog(tmp_path_factory):
    directory = tmp_path_factory.mktemp("prog")
    (directory / "prog.c").write_text(SOURCE)
    run("gcc", "-pg", "-O1", "-pthread", "prog.c", "-o", "prog", cwd=directory).must()
    return directory / "prog"


@pytest.fixture(scope="module")
def recording(prog, tmp_path_factory):
    data = tmp_path_factory.mktemp("counters") / "data"
    result = utrail("record", "--no-event", "-d", data, "-T", f"both@{READ};nap@{READ};leaf@read=cs", prog).must()
    if "not read" in result.err:
        pytest.skip(f"the kernel does not count for us: {result.err.strip()}")
    assert result.err == ""
    return data


def lines_of(data, *options):
    return [line.strip() for line in utrail("replay", "-d", data, "-f", "none", *options).must().out.splitlines()]


def differences(data, func, name):
    """The values of the event diff:@name at the end of each call of @func."""
    lines = lines_of(data)
    found = []
    for i, line in enumerate(lines):
        if line == f"}} /* {func} */":
            before = [m for m in (re.fullmatch(r"/\* diff:(\S+) \(value=\+(\d+)\) \*/", text) for text in lines[i - 3:i]) if m]
            found += [int(m[2]) for m in before if m[1] == name]
    return found


def test_in_the_tree(recording):
    lines = lines_of(recording)
    at = lines.index("both() {")
    for i, name in enumerate(NAMES):
        assert re.fullmatch(rf"/\* read:{name} \(value=\d+\) \*/", lines[at + 1 + i])
    switches = differences(recording, "nap", "context-switches")
    assert len(switches) == 2 and switches[0] >= 2 and switches[1] >= 1
    assert differences(recording, "both", "context-switches")[0] >= switches[0]
    assert differences(recording, "both", "page-faults")[0] >= 20
    assert differences(recording, "both", "task-clock")[0] > 0
    assert len(differences(recording, "leaf", "context-switches")) == 2
    assert differences(recording, "leaf", "page-faults") == []


def test_report(recording):
    rows = {row["Function"]: row for row in csv.DictReader(io.StringIO(utrail("report", "-d", recording, "--format=csv").must().out))}
    for func in ("both", "nap", "leaf"):
        for name in NAMES:
            found = differences(recording, func, name)
            assert rows[func][name] == (str(sum(found)) if found else "")
            assert rows[func][f"{name} per call"] == (f"{sum(found) / len(found):.2f}" if found else "")
    assert rows["main"]["task-clock"] == ""
    by_name = {row["name"]: row for row in json.loads(utrail("report", "-d", recording, "--format=json").must().out)}
    assert by_name["nap"]["context-switches"] == int(rows["nap"]["context-switches"])
    assert by_name["nap"]["context-switches-per-call"] == float(rows["nap"]["context-switches per call"])
    assert "task-clock" not in by_name["leaf"] and "task-clock" not in by_name["main"]
    head, line, *rest = utrail("report", "-d", recording, "-s", "cs,call").must().out.splitlines()
    assert head == "  Total time   Self time       Calls  context-switches    per call  page-faults    per call  task-clock    per call  Function"
    assert line == "  ==========  ==========  ==========  ================  ==========  ===========  ==========  ==========  ==========  ===================="
    order = [sum(differences(recording, row.split()[-1], "context-switches")) for row in rest]
    assert order == sorted(order, reverse=True) and sum(order)
    assert all(len(row.rsplit("  ", 1)[0]) == len(line.rsplit("  ", 1)[0]) for row in rest)


def test_report_without_them(recording):
    plain = utrail("report", "-d", recording, "-f", "total,self,call").must().out
    assert "context-switches" not in plain and "per call" not in plain
    assert "context-switches" in utrail("report", "-d", recording, "-f", "counters").must().out
    result = utrail("report", "-d", recording, "-s", "instructions").must(2)
    assert "sort key 'instructions': the recording does not have that counter" in result.err
    assert ", or a counter" in utrail("report", "-d", recording, "-s", "instrctions").must(2).err


def test_exporters(recording):
    switches = differences(recording, "nap", "context-switches")
    rows = [json.loads(line) for line in utrail("dump", "-d", recording, "--format=jsonl").must().out.splitlines()]
    found = [row for row in rows if "diff:context-switches" in str(row)]
    assert len(found) == 5 and str(switches[0]) in str(found[0])
    chrome = utrail("dump", "-d", recording, "--format=chrome").must().out
    assert chrome.count('"diff:context-switches"') == 5 and '"value":' in chrome


def test_costs_of_call_trees(recording):
    """callgrind and pprof show a counter as a cost beside the time. A call's own cost is without
    the growth in the calls that it makes."""
    text = utrail("dump", "-d", recording, "--format=callgrind").must().out
    assert f"\nevents: ns {' '.join(NAMES)}\n" in text and "diff:" not in text
    own, calls, func, is_call = {}, {}, "", False
    for line in text.splitlines():
        if line.startswith(("fn=", "cfn=")):
            func = line.split("=")[1]
        elif line.startswith("0 "):
            numbers = [int(word) for word in line.split()[2:]]
            known = calls if is_call else own
            known[func] = [a + b for a, b in zip(numbers, known.get(func, [0] * len(NAMES)))]
        is_call = line.startswith("calls=")
    for i, name in enumerate(NAMES):
        whole = {func: sum(differences(recording, func, name)) for func in ("both", "nap")}
        inner = differences(recording, "nap", name)[0]
        assert calls["both"][i] == whole["both"] and calls["nap"][i] == whole["nap"]
        assert own["both"][i] == whole["both"] - inner and own["nap"][i] == whole["nap"]
        assert own["main"][i] == 0
        assert f" {sum(row[i] for row in own.values())}" in re.search(r"\ntotals:.*", text)[0]
    result = subprocess.run([UTRAIL, "dump", "-d", recording, "--format=pprof"], capture_output=True, check=True)
    assert all(name.encode() in result.stdout for name in NAMES) and b"diff:" not in result.stdout


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed (apt-get install golang-go)")
def test_pprof_counts(recording, workdir):
    result = subprocess.run([UTRAIL, "dump", "-d", recording, "--format=pprof"], capture_output=True, check=True)
    Path("profile.pb").write_bytes(result.stdout)
    for name in NAMES[:2]:
        out = run("go", "tool", "pprof", "-top", "-cum", "-nodefraction=0", f"-sample_index={name}", "profile.pb", env={"HOME": Path.cwd()}).must().out
        found = {words[5]: int(words[3]) for words in map(str.split, out.splitlines()) if len(words) == 6 and words[3].isdigit()}
        assert found.get("nap", 0) == sum(differences(recording, "nap", name))
        assert found.get("both", 0) == sum(differences(recording, "both", name))


@pytest.mark.needs_peer
def test_peer_reads_it(recording):
    """The peer shows the same calls and the events' names; it does not know their values."""
    theirs = [line.strip() for line in peer("replay", "-d", recording, "-f", "none", "--no-pager").must().out.splitlines()]
    ours = [re.sub(r"^(/\* (?:read|diff):\S+) \(.*", r"\1 */", line) for line in lines_of(recording)]
    # A value of more than 24 bits takes several records, and the peer shows an event for each.
    once = [line for i, line in enumerate(theirs) if not i or line != theirs[i - 1] or not line.startswith("/*")]
    assert [line for line in once if line] == [line for line in ours if line]
    assert "/* diff:task-clock */" in theirs
    peer("dump", "-d", recording, "--no-pager").must()
    peer("report", "-d", recording, "--no-pager").must()


def test_forms(prog, recording):
    """Compact and converted recordings, and calls held back by a threshold, have the counters,
    too."""
    result = utrail("record", "--no-event", "--compact", "-d", "data", "-t", "500us", "-T", f"both@{READ};nap@{READ}", prog).must()
    assert result.err == ""
    text = lines_of("data")
    assert sum("read:context-switches" in line for line in text) == sum("diff:context-switches" in line for line in text) == 3
    utrail("convert", "-d", "data", "plain").must()
    assert lines_of("plain") == text
    assert utrail("report", "-d", "data").must().out == utrail("report", "-d", "plain", "--num-thread=1").must().out


def test_threads_and_forks(prog, recording):
    """Each thread and each forked process has counters of its own, and closes their descriptors."""
    bare = int(run(prog, "threads").must().out)
    result = utrail("record", "--no-event", "-d", "data", "-T", f"both@{READ}", prog, "threads").must()
    # Descriptors from the recorder may still be open.
    assert int(result.out) <= bare + 4
    assert len(differences("data", "both", "context-switches")) == 20
    assert all(value >= 2 for value in differences("data", "both", "context-switches"))
    utrail("record", "--no-event", "-d", "forked", "-T", f"both@{READ}", prog, "fork").must()
    found = differences("forked", "both", "context-switches")
    assert len(found) == 2 and all(value >= 2 for value in found)


def test_a_descriptor_that_was_taken(prog, workdir, recording):
    """The program closes all descriptors, and a file gets the number of a counter's descriptor. The
    counter is not read from this file."""
    (workdir / "text").write_text("whole\n")
    result = utrail("record", "--no-event", "-d", "data", "-T", f"leaf@{READ}", prog, "text").must()
    assert result.out == "whole\n"
    assert len(differences("data", "leaf", "context-switches")) == 1


def test_what_the_machine_lacks(prog):
    """A counter that the machine lacks costs one line of warning and is left out; the others are
    read."""
    result = utrail("record", "--no-event", "-d", "data", "-T", "leaf@read=task-clock,read=rffffffffffffffff", prog).must()
    if "task-clock" in result.err:
        pytest.skip("the kernel does not count for us")
    assert result.err.count("'read=rffffffffffffffff': not read") == 1
    text = utrail("replay", "-d", "data").must().out
    assert text.count("diff:task-clock") == 2 and "diff:rffff" not in text


def test_wrong_words(prog):
    result = utrail("record", "-T", "leaf@read=contextswitches", prog).must(2)
    assert "there is no event 'contextswitches'; did you mean context-switches?" in result.err
    nine = ",".join(f"read=r{i}" for i in range(9))
    assert "at most 8 counters are read by name in one recording" in utrail("record", "-T", f"leaf@{nine}", prog).must(2).err


SLOW = """
#include <unistd.h>
void __attribute__((noinline)) leaf(void)
{
	usleep(1000);
}
int main(void)
{
	for (int i = 0; i < 60000; i++)
		leaf();
	return 0;
}
"""


def test_chosen_at_the_start(workdir, recording):
    (workdir / "slow.c").write_text(SLOW)
    run("gcc", "-pg", "slow.c", "-o", "slow").must()
    command = [UTRAIL, "record", "--no-event", "--agent", "-d", "data", "-T", "leaf@read=cs", "./slow"]
    recorder = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment())
    try:
        wait_until(lambda: utrail("control", "data", "status").status == 0)
        wrong = utrail("control", "data", "trigger", "leaf@read=task-clock")
        assert wrong.status != 0
        assert "'read=task-clock': counters by name are chosen when the recording begins" in wrong.err
        utrail("control", "data", "trigger", "main@read=context-switches").must()
        # Wait until the program has called a leaf: a busy machine may take a while.
        wait_until(lambda: "diff:context-switches" in utrail("replay", "-d", "data").out)
    finally:
        recorder.terminate()
        recorder.wait()
    assert "diff:context-switches" in utrail("replay", "-d", "data").must().out


def test_compared(prog, recording, tmp_path):
    """report --diff has two columns for each counter of either recording. If one recording lacks the
    counter, they show N/A. If a function has no counts in both recordings, they are blank."""
    utrail("record", "-d", tmp_path / "faults", "-T", "both@read=page-faults", prog).must()
    lines = {line.split()[-1]: line for line in utrail("report", "-d", recording, "--diff", recording).must().out.splitlines()}
    heads = [line for line in lines.values() if "Function" in line]
    assert re.search(r"   Calls +context-switches +per call +page-faults +per call +task-clock +per call +Function$", heads[0])
    assert re.search(r" \+0 +\+0 +\+0\.00 +\+0 +\+0\.00 +\+0 +\+0\.00 +both$", lines["both"])
    assert re.search(r" \+0 {80,}main$", lines["main"])
    shown = json.loads(utrail("report", "-d", recording, "--diff", tmp_path / "faults", "-f", "counters", "--format=json").must().out)
    both = next(row for row in shown if row["name"] == "both")
    assert both["page-faults"]["diff"] == both["page-faults"]["pair"] - both["page-faults"]["base"]
    assert both["page-faults-per-call"]["base"] == both["page-faults"]["base"]
    assert both["context-switches"]["pair"] is None and both["context-switches"]["diff"] is None
    full = utrail("report", "-d", recording, "--diff", tmp_path / "faults", "-f", "counters", "--diff-policy=full").must().out
    assert re.search(r" \d+ +N/A .* both$", full, re.M)
    rows = list(csv.reader(io.StringIO(utrail("report", "-d", recording, "--diff", tmp_path / "faults", "-f", "counters", "--format=csv").must().out)))
    assert rows[0][:4] == ["#context-switches (base)", "context-switches (pair)", "context-switches (diff)", "context-switches per call (base)"]
    assert next(row for row in rows if row[-1] == "both")[1:3] == ["", ""]


def test_compared_and_sorted(prog, tmp_path):
    """Rows are sorted by a counter's change, or by one recording's value. With several recordings
    to compare with, their average counts."""
    for name, words in (("one", []), ("two", ["fork"])):
        utrail("record", "-d", tmp_path / name, "-T", "touch@read=page-faults;both@read=page-faults", prog, *words).must()
    one, two = tmp_path / "one", tmp_path / "two"

    def rows(*args):
        return json.loads(utrail("report", "-d", one, *args, "--format=json").must().out)

    found = rows("--diff", two, "-s", "page-faults")
    changes = [abs(row["page-faults"]["diff"] or 0) for row in found]
    assert changes == sorted(changes, reverse=True) and {row["name"] for row in found[:2]} == {"both", "touch"}
    base = [row["page-faults"]["base"] or 0 for row in rows("--diff", two, "-s", "page-faults", "--sort-column=0")]
    assert base == sorted(base, reverse=True)
    both = {row["name"]: row["page-faults"] for row in rows("--diff", one, "--diff", two, "-f", "counters")}
    single = {row["name"]: row["page-faults"] for row in found}
    assert abs(both["touch"]["pair"] - (single["touch"]["base"] + single["touch"]["pair"]) / 2) <= 1
    wrong = utrail("report", "-d", one, "--diff", two, "-s", "task-clock").must(2)
    assert "sort key 'task-clock': none of the recordings has that counter" in wrong.err
