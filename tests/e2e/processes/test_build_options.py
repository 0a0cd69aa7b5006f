"""The options that take the next word: utrail build's tables against the installed compilers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "misc"))
import compiler_options  # noqa: E402


@pytest.mark.parametrize("name", compiler_options.COMPILERS)
def test_table(name):
    path = compiler_options.find(name)
    if not path:
        pytest.skip(f"{name} is not installed")
    says = compiler_options.options_of(path)
    assert len(says) > 30, f"{name} says little of its options"
    assert says - compiler_options.known(name) == set()
