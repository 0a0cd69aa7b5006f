"""Constructors of libraries run before main(): their calls are recorded with every way of tracing,
or a message says that they are not."""

import re
import subprocess

import pytest

from tools import utrail

LIBRARY = """
volatile int n;
__attribute__((noinline)) void called(void) { n++; }
__attribute__((constructor)) static void begin(void) { called(); called(); }
__attribute__((noinline)) int use(void) { called(); return n; }
"""
CLASS = """
volatile int n;
extern "C" __attribute__((noinline)) void called(void) { n++; }
struct global { global() { called(); called(); } };
static global first;
extern "C" __attribute__((noinline)) int use(void) { called(); return n; }
"""
MAIN = """
#include <stdio.h>
int use(void);
int main(void) { printf("%d\\n", use()); return 0; }
"""
OPENS = """
#include <stdio.h>
#include <dlfcn.h>
int main(void)
{
	void *library = dlopen("./lib.so", RTLD_NOW);
	printf("%d\\n", ((int (*)(void))dlsym(library, "use"))());
	return 0;
}
"""
WAYS = {
    "pg": ("gcc", ["-pg"], []),
    "fentry": ("gcc", ["-pg", "-mfentry"], []),
    "cyg": ("gcc", ["-finstrument-functions"], []),
    "nops": ("gcc", ["-fpatchable-function-entry=5"], []),
    "unprepared": ("gcc", [], ["-P", ".", "-P", ".@lib.so"]),
    "xray": ("clang", ["-fxray-instrument", "-fxray-instruction-threshold=1"], []),
}


def make(way, text, library):
    compiler, options, rules = WAYS[way]
    suffix = "cc" if "extern" in library else "c"
    with open(f"lib.{suffix}", "w") as file:
        file.write(library)
    with open("main.c", "w") as file:
        file.write(text)
    # Some compilers put no sleds into libraries.
    of_library = {"gcc": "g++", "clang": "clang++"}[compiler] if suffix == "cc" else compiler
    shared = subprocess.run([of_library, "-O1", *options, "-fPIC", "-shared", f"lib.{suffix}", "-o", "lib.so"], capture_output=True, text=True)
    if shared.returncode != 0 and way == "xray":
        pytest.skip("this clang makes no shared libraries with XRay: " + shared.stderr.splitlines()[0])
    assert shared.returncode == 0, shared.stderr
    subprocess.run([compiler, "-O1", *options, "main.c", "-o", "main", *([] if "dlopen" in text else ["./lib.so"])], check=True)
    return rules


def calls():
    found = re.search(r"(\d+)  called$", utrail("report").must().out, re.M)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("library", [LIBRARY, CLASS], ids=["c", "c++"])
@pytest.mark.parametrize("way", WAYS)
def test_before_main(way, library):
    rules = make(way, MAIN, library)
    result = utrail("record", *rules, "./main").must()
    assert (result.out, result.err) == ("3\n", "")
    if way == "xray" and not calls():
        pytest.skip("this clang makes no sleds in libraries")
    assert calls() == 3


@pytest.mark.parametrize("library", [LIBRARY, CLASS], ids=["c", "c++"])
@pytest.mark.parametrize("way", WAYS)
def test_opened_later(way, library):
    """In a library that dlopen(3) loads, functions that need a patch get it after that call: a
    message says that its constructors were not recorded."""
    rules = make(way, OPENS, library)
    result = utrail("record", *rules, "./main").must()
    assert result.out == "3\n"
    if way == "xray" and not calls():
        pytest.skip("this clang makes no sleds in libraries")
    if calls() != 3:
        assert "the constructors of " in result.err and "lib.so' were not recorded" in result.err
    else:
        assert result.err == ""
