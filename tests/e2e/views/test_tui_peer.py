"""utrail tui and Debian's uftrace tui: the same keys give the same lines, and the cursor is on the
same line."""

import random

import pytest

from programs import Variant, build, program
from screens import Screen, has_tmux
from tools import PEER, UTRAIL, peer

pytestmark = [pytest.mark.needs_peer, pytest.mark.skipif(not has_tmux(), reason="tmux is not installed")]

PG = Variant("gcc", "pg", "O2")
MOVES = ["Down", "Up", "j", "k", "NPage", "PPage", "Home", "End"]
FOLDS = ["Down", "Down", "Up", "NPage", "Enter", "c", "e", "C", "E", "Home"]
WAYS = ["Down", "Down", "NPage", "Up", "Enter", "E", "n", "p", "u", "l", "l"]
VIEWS = ["Down", "Down", "NPage", "Up", "g", "G", "R", "r", "s"]
STEPS = 24


def both(tmp_path, columns, rows):
    for name in ("peer", "ours"):
        (tmp_path / name).mkdir(exist_ok=True)
    return (Screen(tmp_path / "peer", f"{PEER} tui", columns, rows), Screen(tmp_path / "ours", f"{UTRAIL} tui", columns, rows))


def must_be_same(theirs, ours, keys):
    theirs.settle()
    ours.settle()
    left, right = theirs.state(), ours.state()
    rows = "\n".join(f"{' ' if a == b else '!'} {a:60} | {b}" for a, b in zip(left[0][:-1], right[0][:-1]))
    assert left[0][:-1] == right[0][:-1] and left[1] == right[1], f"after {keys}, cursor {left[1]} and {right[1]}:\n{rows}"


@pytest.mark.parametrize("keys,name,columns,rows", [
    (MOVES, "recursion", 80, 24), (FOLDS, "recursion", 80, 12), (WAYS, "recursion", 80, 24), (VIEWS, "recursion", 80, 24),
    (MOVES, "plain", 200, 10), (WAYS, "cplusplus", 200, 50), (VIEWS, "cplusplus", 120, 30), (FOLDS, "sleeps", 80, 24),
], ids=lambda value: value[-1] + str(len(value)) if isinstance(value, list) else str(value))
def test_same_keys(workdir, keys, name, columns, rows):
    # The status is the program's, so it is not checked.
    peer("record", build(program(name), PG))
    chance = random.Random(f"{keys}{name}")
    theirs, ours = both(workdir, columns, rows)
    with theirs, ours:
        theirs.wait_for("uftrace ")
        ours.wait_for("utrail ")
        sent = []
        must_be_same(theirs, ours, sent)
        for _ in range(STEPS):
            key = chance.choice(keys)
            sent.append(key)
            theirs.send(key)
            ours.send(key)
            must_be_same(theirs, ours, sent)
