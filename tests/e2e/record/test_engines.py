"""Run times that throw with an unwinder of their own, or that copy parts of the stack, give the
same results as untraced."""

import shutil
import subprocess
import sys

import pytest

from tools import run, utrail

# Greenlets switch inside different C functions, so one place of the stack has the return addresses
# of many calls.
GREENLETS = """
import functools, json, random, re
from greenlet import getcurrent, greenlet

main = getcurrent()


def switch(i):
    main.switch(i)
    return i


def by_sort():
    for i in range(60):
        sorted([3, 1, 2], key=lambda x: switch(x))


def by_json():
    for i in range(60):
        json.dumps({"a": {1, 2}}, default=lambda o: switch(7) and 5)


def by_re():
    for i in range(60):
        re.sub("x", lambda m: str(switch(8)), "axbxcx")


def by_reduce():
    for i in range(60):
        functools.reduce(lambda p, q: switch(p + q), [1, 2, 3, 4])


def by_max():
    for i in range(60):
        max([1, 5, 3], key=switch)


random.seed(3)
total = 0
live = [greenlet(f) for f in (by_sort, by_json, by_re, by_reduce, by_max)]
while live:
    g = random.choice(live)
    total += g.switch() or 0
    if g.dead:
        live.remove(g)
print(total)
"""

LUA = """
local co, sum = {}, 0
for i = 1, 20 do
	co[i] = coroutine.create(function(a)
		while true do
			local ok, err = pcall(error, { i })
			a = a + err[1] + coroutine.yield(a)
		end
	end)
end
for r = 1, 300 do
	for i = 1, 20 do
		local ok, v = coroutine.resume(co[i], r)
		sum = sum + v
	end
end
print(sum, pcall(string.rep), select(2, pcall(error, "x", 0)))
"""


def record_engine(text, name, command, options):
    with open(name, "w") as file:
        file.write(text)
    plain = run(*command, name, limit=60).must()
    traced = utrail("record", "-v", "-P", ".", *options, *command, name)
    assert (traced.status, traced.out) == (plain.status, plain.out), traced.err
    assert "main" in utrail("report", "-f", "call").must().out
    return traced.err


OPTIONS = pytest.mark.parametrize("options", [[], ["-P", ".@libc.so.6"], ["-a"], ["-D", "60"]], ids=lambda o: "".join(o) or "plain")


@OPTIONS
def test_stacks_that_are_copied(options):
    python = sys.executable
    if subprocess.run([python, "-c", "import greenlet"], capture_output=True).returncode:
        pytest.skip("python3-greenlet is not installed")
    said = record_engine(GREENLETS, "prog.py", [python], options)
    assert "it copies pieces of the stack, so no return address of the process is replaced" in said


@OPTIONS
def test_errors_by_an_own_unwinder(options):
    if not shutil.which("luajit"):
        pytest.skip("luajit is not installed")
    said = record_engine(LUA, "prog.lua", ["luajit"], options)
    assert "it has an unwinder of its own" in said


RUBY = """
require 'continuation'
def deep(n, &block) n == 0 ? block.call : deep(n - 1, &block) end
x = 0
k = deep(9) { callcc { |c| c } }
x += 1
k.call(k) if x < 5
puts x
"""


@OPTIONS
def test_continuations(options):
    if not shutil.which("ruby"):
        pytest.skip("ruby is not installed")
    said = record_engine(RUBY, "prog.rb", ["ruby", "-W0"], ["-P", ".@libruby", *options])
    assert "it copies pieces of the stack" in said


ERRNO = """
#include <errno.h>
#include <stdio.h>
__attribute__((noipa)) void inner(int n) { volatile char far[5000]; far[0] = n; if (n) inner(n - 1); far[1] = n; }
__attribute__((noipa)) int fails(void) { inner(3); errno = ENOENT; inner(2); return -1; }
int main(void)
{
	for (int i = 0; i < 100; i++) {
		if (fails() < 0 && errno != ENOENT)
			return printf("%d\\n", errno);
	}
	return 0;
}
"""


@pytest.mark.parametrize("options", [["--keep-returns=prog"], ["-e"], []], ids=lambda o: "".join(o) or "plain")
def test_errno_stays(options):
    """When the probe estimates the end of a call, it examines other pages of the stack by a system
    call. The program's errno must not change."""
    with open("prog.c", "w") as file:
        file.write(ERRNO)
    subprocess.run(["gcc", "-O1", "prog.c", "-o", "prog"], check=True)
    utrail("record", "-P", ".", *options, "./prog").must()
