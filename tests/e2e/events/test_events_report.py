"""report --events and --between: the number of events, and the time from one event to another."""

import csv
import io
import json
from pathlib import Path

import pytest

from tools import utrail


def line(us, text):
    return f"2026-11-23 09:30:{us // 1000000:02}.{us % 1000000:06} {text}\n"


@pytest.fixture
def shop(workdir):
    """Overlapping requests of two processes, with replies after 1 to 100 us. One request has no
    reply, one reply no request, and one reply no number."""
    lines = []
    for nr in range(100):
        lines.append((nr * 1000, f"SHOP-REQUEST PID={10 + nr % 2} UID={nr // 2}"))
        lines.append((nr * 1000 + nr + 1, f"SHOP-REPLY PID={10 + nr % 2} UID={nr // 2} STATUS={nr % 3}"))
    lines += [(200000, "SHOP-REQUEST PID=10 UID=1000"), (200001, "SHOP-REQUEST PID=10 UID=1000"), (200002, "SHOP-REPLY PID=10 UID=2000"),
              (200003, "SHOP-REPLY PID=10")]
    Path("shop.log").write_text("".join(line(us, text) for us, text in sorted(lines)))
    utrail("events", "import", "shop.log").must()


def rows_of(*words):
    out = utrail("report", "--format=csv", *words).must().out
    assert out.startswith("#")
    return list(csv.DictReader(io.StringIO(out[1:])))


def test_events(shop):
    table = utrail("report", "--events").must().out.splitlines()
    assert table[0].split() == ["Count", "Per", "second", "Min", "p50", "p90", "p99", "Max", "Event"]
    assert [row.split()[-1] for row in table[2:]] == ["trace:SHOP-REPLY", "trace:SHOP-REQUEST"]
    rows = rows_of("--events")
    assert [(row["Event"], row["Count"], row["Per second"]) for row in rows] == [
        ("trace:SHOP-REPLY", "102", "509.992"), ("trace:SHOP-REQUEST", "102", "509.992")]
    assert [rows[1][name] for name in ("Min", "Max")] == ["1000", "101000000"]
    assert all(abs(int(rows[1][name]) - 1000000) <= 10000 for name in ("p50", "p90"))
    found = json.loads(utrail("report", "--events", "--format=json", "-f", "count,p99.9", "-s", "name").must().out)
    assert [list(row) for row in found] == [["event", "count", "p99.9"]] * 2 and found[0]["event"] == "trace:SHOP-REPLY"
    assert "<" in utrail("report", "--events", "--format=html").must().out


def test_selection(shop):
    assert [row["Count"] for row in rows_of("--events", "--tid", "11")] == ["50", "50"]
    assert [(row["Event"], row["Count"]) for row in rows_of("--events", "-E", "trace:SHOP-REPLY")] == [("trace:SHOP-REPLY", "102"), ("trace:SHOP-REQUEST", "0")]
    assert "nothing is left to show" in utrail("report", "--events", "--tid", "77").must().err


def test_between(shop):
    (row,) = rows_of("--between", "SHOP-REQUEST,trace:SHOP-REPLY,UID,PID")
    assert [row[name] for name in ("From", "To", "Count", "No end", "No begin", "Without fields", "Min", "Max")] == [
        "SHOP-REQUEST", "trace:SHOP-REPLY", "100", "2", "1", "1", "1000", "100000"]
    for name, us in (("p50", 50), ("p90", 90), ("p99", 99)):
        assert abs(int(row[name]) - us * 1000) <= us * 10
    assert rows_of("--between", "SHOP-REQUEST,SHOP-REPLY,UID,pid")[0]["Count"] == "100"
    found = json.loads(utrail("report", "--between", "SHOP-REQUEST,SHOP-REPLY,UID,PID", "--format=json").must().out)
    assert (found["count"], found["no_end"], found["no_begin"], found["without_fields"]) == (100, 2, 1, 1)
    assert sum(power["count"] for power in found["histogram"]) == 100
    assert all(power["up_to"] == 2 * power["from"] for power in found["histogram"])
    result = utrail("report", "--between", "SHOP-REQUEST,SHOP-REPLY,UID,PID").must()
    assert result.err == "WARN: 1 event is left out: it does not have all of the fields\n"
    text = result.out.splitlines()
    assert text[2].split()[0] == "100" and text[2].endswith("SHOP-REQUEST and SHOP-REPLY")
    assert sum(int(row.split()[4]) for row in text[6:]) == 100


def test_between_the_same(shop):
    """The times from an event to the next one of the same kind are taken for each process, unlike
    those in the table of events."""
    (row,) = rows_of("--between", "SHOP-REQUEST,SHOP-REQUEST,pid")
    assert (row["Count"], row["Min"]) == ("100", "1000") and abs(int(row["p50"]) - 2000000) <= 20000


@pytest.mark.parametrize("words, status, expected", [
    ("--between A", 2, "option '--between': expected two events, ID1,ID2[,FIELD...]: 'A'"),
    ("--between A,,B", 2, "option '--between': expected ID1,ID2[,FIELD...]: 'A,,B'"),
    ("--between A,B," + ",".join("x" * 17), 2, "option '--between': more than 16 fields"),
    ("--between A,SHOP-REPLY", 1, "the recording has no event 'A': see 'utrail events list'"),
    ("--between SHOP-REQUEST,B", 1, "the recording has no event 'B'"),
    ("--between SHOP-REQUEST,SHOP-REPLY,STATUS", 1, "event 'SHOP-REQUEST' has no field 'STATUS': it has PID, UID, pid, tid"),
    ("--between A,B -s count", 2, "--between has neither fields to choose nor rows to sort"),
    ("--events --between A,B", 2, "--events, --between, --diff and --task exclude each other"),
    ("--events --task", 2, "exclude each other"),
    ("--events -s total", 2, "unknown sort key 'total': expected some of count, rate, min, p50, p90, p99, p99.9, max, name"),
    ("--events -f total", 2, "unknown field 'total'"),
])
def test_refused(shop, words, status, expected):
    result = utrail("report", *words.split())
    assert result.status == status and expected in result.err
