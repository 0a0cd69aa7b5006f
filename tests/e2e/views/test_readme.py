"""Users who type the commands of the README's session get the output that is shown there."""

import re

import pytest

from tools import TOP, run, utrail

SESSIONS = [("shop.c", ["gcc", "-pg"], ["record", "shop"], ["replay"]),
            ("shop.cc", ["g++", "-g", "-O1", "-pg"], ["record", "-a", "shop"],
             ["replay", "-f", "duration", "-N", "std::|operator|memcpy|strlen|__cxa"])]


def shown_in_readme(command):
    """The lines after `$ utrail COMMAND`, up to the next command or the end of the example."""
    text = (TOP / "README.md").read_text()
    block = text[text.index(f"    $ utrail {command}\n"):].splitlines()[1:]
    end = next(i for i, line in enumerate(block) if not line.startswith("    ") or line.startswith("    $ "))
    return block[:end]


def calls(lines):
    """Each shown call, without addresses and the kernel's events."""
    found = []
    for line in lines:
        call = line.rpartition("|")[2].strip()
        if re.match(r"[\w:]+\(", call):
            found.append(re.sub(r"0x[0-9a-f]+", "0x", call.rstrip("{; ")))
    return found


@pytest.mark.parametrize("source, compiler, record, replay", SESSIONS, ids=["calls", "arguments"])
def test_session(workdir, source, compiler, record, replay):
    run(*compiler, TOP / "doc/samples" / source, "-o", "shop").must()
    utrail(*record).must()
    typed = " ".join(f"'{word}'" if "|" in word else word for word in replay)
    expected = calls(shown_in_readme(typed))
    assert expected
    got = calls(utrail(*replay).must().out.splitlines())
    # Results are not compared: a call with an event of the kernel has its result on a line of its
    # own.
    assert [call.split(" = ")[0] for call in got] == [call.split(" = ")[0] for call in expected]
