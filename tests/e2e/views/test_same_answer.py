"""Debian's uftrace and utrail give the same answer to more than 200 sets of options of the reading
commands, for six recordings made by one or the other. Each difference has an id in
doc/from-uftrace.md, and a function in tests/lib/listed.py that evens it out."""

import shlex
from collections import Counter
from difflib import unified_diff

import pytest

from listed import DIFFERENCES, Answer, alike, documented, lines_of
from option_sets import COMMANDS, option_sets
from same_answer import RECORDINGS, made, words
from tools import peer, utrail

pytestmark = pytest.mark.needs_peer

# The number of lines that a message shows of each difference.
SHOWN = 12


def answers(recording, command, options, meaning):
    """The answers of utrail and of the peer."""
    args = [command, "-d", made(recording), *shlex.split(options.format(**meaning))]
    return (Answer(result.status, result.out) for result in (utrail(*args), peer(*args)))


def difference(case, ours, theirs):
    lines = unified_diff(lines_of(theirs), lines_of(ours), "theirs", "ours", lineterm="", n=1)
    return "\n  ".join([f"{case}: status {ours.status}, theirs {theirs.status}", *list(lines)[2 : SHOWN + 2]])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("recording", RECORDINGS)
def test_same_answer(recording, command):
    meaning = words(recording)
    found = []
    for options in option_sets(command):
        case = f"{recording} {command} {options}"
        ours, theirs = alike(case, *answers(recording, command, options, meaning))
        if ours != theirs:
            found.append(difference(case, ours, theirs))
    assert not found, f"{len(found)} differences that doc/from-uftrace.md does not list:\n" + "\n".join(found)


@pytest.mark.parametrize("listed", DIFFERENCES, ids=lambda listed: f"{listed.id} {listed.example}")
def test_difference_is_there(listed):
    """The difference still exists. If not, it must go from the list and the document."""
    recording, command, *options = listed.example.split(" ", 2)
    both = list(answers(recording, command, "".join(options), words(recording)))
    ours, theirs = alike(listed.example, *both)
    assert ours == theirs, difference(listed.example, ours, theirs)
    ours, theirs = alike(listed.example, *both, without=listed)
    assert ours != theirs or not listed.is_sure


def test_differences_are_documented():
    ids = documented()
    assert set(ids) == {listed.id for listed in DIFFERENCES}
    assert max(Counter(ids).values()) == 1


def test_option_sets():
    """There are more than 200 sets, all of them different."""
    sets = [f"{command} {options}" for command in COMMANDS for options in option_sets(command)]
    assert len(set(sets)) == len(sets) > 200
