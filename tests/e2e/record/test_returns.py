"""Return addresses that stay unchanged: for calls by code that is in no module, and for run times
of languages, which find their frames by the return addresses."""

import re
import shutil
import subprocess
import sys
import time
import urllib.request

import pytest

import trees
from tools import run, utrail

# Code in memory calls work() and looks for its own return address on the stack; a run time that
# does not find it gives up.
MADE = """
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define FUNC __attribute__((noipa))
static uint8_t *code;
static int nr_found;
FUNC void look(void)
{
	uint64_t *frame = __builtin_frame_address(0);

	/* look(), work(), and the code that calls them. */
	for (int i = 0; i < 3; i++) {
		if (frame[1] - (uint64_t)code < 4096) {
			nr_found++;
			return;
		}
		frame = (uint64_t *)frame[0];
	}
	fprintf(stderr, "no frame of the code\\n");
	abort();
}
FUNC int leaf(int x) { return 3 * x + 123456; }
FUNC void work(void) { look(); leaf(1); }
FUNC void other(void) { leaf(2); }
/* push %rbp; mov %rsp, %rbp; sub $room, %rsp; movq $0, -24(%rbp); mov $fn, %rax; call *%rax; leave; ret */
FUNC int put(int at, uint8_t room, void (*fn)(void))
{
	uint8_t text[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, room, 0x48, 0xc7, 0x45, 0xe8, 0, 0, 0, 0,
			   0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0xc9, 0xc3 };

	memcpy(text + 18, &fn, sizeof(fn));
	memcpy(code + at, text, sizeof(text));
	return at;
}
int main(void)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int one = put(0, 16, work);
	int two = put(64, 16, other);
	int low = put(128, 112, other);

	for (int i = 0; i < 3; i++) {
		((void (*)(void))(code + one))();
		((void (*)(void))(code + two))();
		((void (*)(void))(code + low))();
	}
	leaf(3);
	printf("%d\\n", nr_found);
	return 0;
}
"""
MADE_CALLS = "work{look{}leaf{}}other{leaf{}}other{leaf{}}"
FRAMES = ["-fno-omit-frame-pointer", "-fcf-protection=none"]


def compile_to(name, text, *options):
    with open(f"{name}.c", "w") as file:
        file.write(text)
    subprocess.run(["gcc", "-O1", f"{name}.c", "-o", name, *options], check=True)


def tree():
    """The tree without arguments. (When a hidden event is inside a call, the call's end has a line
    of its own, without arguments.)"""
    text = utrail("replay", "--no-libcall", "--no-event", "-f", "tid").must().out
    (calls, *_) = trees.of_replay(re.sub(r"\(\d+\)", "()", text))[0].values()
    return calls


@pytest.mark.parametrize("built", [["-pg"], ["-pg", "-mfentry"], []], ids=["pg", "fentry", "patched"])
@pytest.mark.parametrize("options", [[], ["-F", "main"], ["-A", "leaf@arg1"], ["-t", "1ns"]], ids=lambda o: o[0] if o else "plain")
def test_code_in_memory(built, options):
    compile_to("made", MADE, *FRAMES, *built)
    plain = run("./made").must()
    patch = [] if built else ["-P", "."]
    traced = utrail("record", "--no-libcall", *patch, *options, "./made")
    assert (traced.status, traced.out) == (0, plain.out), traced.err
    calls = trees.expand(f"main{{{'put{}' * 3}{MADE_CALLS * 3}leaf{{}}}}")
    # A clock with large steps may count calls of a nanosecond as longer ones: -t keeps them.
    assert "-t" in options or tree() == calls


def test_overruled_for_code_in_memory():
    """--replace-returns=jit replaces return addresses although code in memory looks at them: this
    program gives up then."""
    compile_to("made", MADE, *FRAMES)
    assert utrail("record", "-P", ".", "--replace-returns=jit", "./made").status != 0


# This program walks its stack up to a return address into main(). The recorder does not recognise
# such a program.
TABLE = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define FUNC __attribute__((noipa))
extern const char main_begin[], main_end[];
FUNC void look(void)
{
	uint64_t *frame = __builtin_frame_address(0);

	for (frame = (uint64_t *)frame[0]; frame[1] - (uint64_t)main_begin >= (uint64_t)(main_end - main_begin); frame = (uint64_t *)frame[0]) {
		if (frame[1] - (uint64_t)main_begin > 1 << 20)
			abort();
	}
	puts("found");
}
FUNC void inner(void) { look(); __asm__ volatile("" ::: "memory"); }
FUNC void outer(void) { inner(); __asm__ volatile("" ::: "memory"); }
__asm__(".text\\nmain_begin:\\n.globl main\\nmain:\\npush %rbp\\nmov %rsp, %rbp\\ncall outer\\ncall outer\\nxor %eax, %eax\\npop %rbp\\nret\\nmain_end:\\n"
	".type main, @function\\n.size main, . - main\\n");
"""


def test_kept_by_option():
    compile_to("table", TABLE, *FRAMES)
    plain = run("./table").must()
    assert utrail("record", "-P", ".", "./table").status != 0
    traced = utrail("record", "-P", ".", "--keep-returns=.", "--no-libcall", "./table")
    assert (traced.status, traced.out) == (0, plain.out), traced.err
    assert tree() == trees.expand("main{outer{inner{look{}}}outer{inner{look{}}}}")
    told = utrail("record", "-v", "-P", ".", "--keep-returns=tab", "./table")
    assert told.status == 0 and "return addresses into it stay, and ends of calls are estimated: --keep-returns says so" in told.err
    assert "# estimated ends      : calls from table (--keep-returns says so)\n" in utrail("info").must().out
    utrail("record", "-P", ".", "--no-libcall", "./table")
    assert "estimated ends" not in utrail("info").must().out


MOVED = """
#include <stdio.h>
long adds(void);
__asm__(".text\\n.globl takes\\n.type takes, @function\\ntakes:\\npop %rcx\\npop %rax\\npop %rdx\\nadd %rdx, %rax\\npush %rcx\\nret\\n.size takes, . - takes\\n"
	".globl lowers\\n.type lowers, @function\\nlowers:\\nmov $7, %eax\\nnop\\npush (%rsp)\\nret $8\\n.size lowers, . - lowers\\n"
	".globl adds\\n.type adds, @function\\nadds:\\npush $5\\npush $6\\ncall takes\\npush %rax\\ncall lowers\\npop %rdx\\nadd %rdx, %rax\\nret\\n.size adds, . - adds\\n");
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 100; i++)
		sum += adds();
	printf("%ld\\n", sum);
	return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["-F", "main"], ["-e"]], ids=lambda o: o[0] if o else "plain")
def test_moved_return_address(options):
    """A function removes its arguments from the stack, and so moves its return address."""
    compile_to("moved", MOVED)
    plain = run("./moved").must()
    traced = utrail("record", "-P", ".", "--no-libcall", *options, "./moved")
    assert (traced.status, traced.out) == (0, plain.out), traced.err
    if options != ["-e"]:
        assert tree() == trees.expand("main{" + 100 * "adds{takes{}lowers{}}" + "}")


SERVER = """
const http = require('http');
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
const server = http.createServer((q, r) => {
	const all = [];
	for (let i = 0; i < 200; i++) all.push({ k: 'v' + i, v: i * 1.5 });
	try { throw new Error('x') } catch (e) { all.push(String(e.stack).length > 0) }
	r.end(JSON.stringify(all.sort((x, y) => y.v - x.v)) + fib(15));
});
server.listen(0, () => console.log(server.address().port));
process.on('SIGTERM', () => process.exit(7));
"""


def has_node():
    return shutil.which("node") or pytest.skip("node is not installed")


@pytest.mark.parametrize("patch", [".", "^Builtins_CallFunction_ReceiverIsAny$", "^v8::internal::Runtime_"])
def test_node(patch):
    has_node()
    script = "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } try { null.x } catch (e) { console.log(f(20), typeof e.stack) }"
    traced = utrail("record", "-P", patch, "node", "-e", script)
    assert (traced.status, traced.out) == (0, run("node", "-e", script).must().out), traced.err


def test_node_tells():
    has_node()
    traced = utrail("record", "-v", "-P", "^main$", "node", "-e", "1").must()
    assert "builtin code of V8" in traced.err


CLIENT = """
import sys, urllib.request
while True:
    urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/", timeout=60).read()
"""


def load(port, seconds):
    """The answers to requests, at least to one."""
    bodies, end = set(), time.monotonic() + seconds
    while not bodies or time.monotonic() < end:
        bodies.add(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).read())
    return bodies


def test_node_server():
    """Attach to a node server under load, and leave it again."""
    has_node()
    with open("server.js", "w") as file:
        file.write(SERVER)
    with subprocess.Popen(["node", "server.js"], stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip()
            bodies = load(port, 0.5)
            with subprocess.Popen([sys.executable, "-c", CLIENT, port], stderr=subprocess.DEVNULL) as client:
                try:
                    utrail("record", "-p", server.pid, "-P", ".", "--for", "1s").must()
                finally:
                    client.kill()
            assert load(port, 0.5) == bodies and len(bodies) == 1
        finally:
            server.terminate()
            server.stdout.close()
    assert server.returncode == 7


JAVA = """
public class Hello {
	static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
	public static void main(String[] args) throws Exception {
		System.out.println(f(22));
		for (int i = 0; i < 20; i++) {
			try { Object o = null; o.toString(); } catch (NullPointerException e) { }
		}
		System.gc();
		Thread t = new Thread(() -> System.out.println(f(15)));
		t.start();
		t.join();
		System.out.println(new Exception("x").getStackTrace()[0]);
		System.exit(3);
	}
}
"""


def test_java():
    if not shutil.which("java"):
        pytest.skip("java is not installed")
    with open("Hello.java", "w") as file:
        file.write(JAVA)
    plain = run("java", "Hello.java")
    traced = utrail("record", "-P", ".", "-P", ".@libjvm", "java", "Hello.java")
    assert (traced.status, traced.out) == (plain.status, plain.out) == (3, plain.out), traced.err
    assert "Threads::create_vm" in utrail("report").must().out
