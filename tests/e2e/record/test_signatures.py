"""Arguments and results of generated signatures are shown with the program's values: the classes of
the psABI, 3.2.3."""

import os
import re

import pytest

from signatures import Signatures, split_args
from tools import run, utrail

# UTRAIL_SIGNATURES=2000 makes the long test.
NR = int(os.environ.get("UTRAIL_SIGNATURES", "100"))
AT_ONCE = 100


def has_avx():
    with open("/proc/cpuinfo") as f:
        return " avx " in f.read()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("seed", range((NR + AT_ONCE - 1) // AT_ONCE))
def test_signatures(seed, compiler, workdir):
    if not has_avx():
        pytest.skip("the processor has no AVX: vectors of 32 bytes would be passed in memory")
    # Clang 14 differs from the psABI: it passes a struct of a __float128 in memory, and an __int128
    # unaligned on the stack.
    made = Signatures(seed, AT_ONCE, () if compiler == "gcc" else ("_Float128", "__int128"))
    if compiler == "clang":
        # Without optnone, clang passes any value for arguments that it knows to be constant.
        made.source = made.source.replace("noipa", "noinline, optnone")
    (workdir / "prog.c").write_text(made.source)
    run(compiler, "-g", "-O1", "-mavx", "-pg", "-mfentry", "prog.c", "-o", "prog").must()
    utrail("record", "-a", "--no-libcall", "--no-event", "./prog").must()
    text = utrail("replay", "-f", "none").must().out
    wrong = []
    for name, args, result in made.expected:
        line = re.search(rf"^ +{name}\((.*?)\)(?: = (.*))?;$", text, re.M)
        assert line, name
        shown = split_args(line[1])
        if len(shown) != len(args) or any(e not in (None, s) for e, s in zip(args, shown)) or result not in (None, line[2]):
            wrong.append(f"{line[0]}\n   expected {args} = {result}")
    assert not wrong, f"{len(wrong)} of {len(made.expected)}:\n" + "\n".join(wrong)
