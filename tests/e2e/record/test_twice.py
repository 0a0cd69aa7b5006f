"""A call that several hooks see has one entry, and calls of the probe itself are not recorded."""

import subprocess
from pathlib import Path

import pytest

from data import Recording
from tools import UTRAIL, environment, utrail, wait_until

SOURCE = """
#include <stdlib.h>
#include <unistd.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	int numbers[3] = { 3, 1, 2 };

	for (int i = 0; i < 5; i++)
		isatty(0);
	qsort(numbers, 3, sizeof(*numbers), compare);
	return 0;
}
"""


def counts():
    lines = utrail("report", "-f", "call").must().out.splitlines()
    return [(name, int(nr)) for nr, name in (line.split(maxsplit=1) for line in lines[2:])]


@pytest.mark.parametrize("options", [[], ["-e"], ["-a"], ["--no-libcall"], ["-F", "main"], ["-F", "isatty"], ["-N", "tcgetattr"], ["-D", "9"]],
                         ids=lambda o: "".join(o) or "plain")
@pytest.mark.parametrize("bind", ["lazy", "now"])
def test_library_call_and_function(bind, options):
    with open("calls.c", "w") as file:
        file.write(SOURCE)
    subprocess.run(["gcc", "-O1", f"-Wl,-z,{bind}", "calls.c", "-o", "calls"], check=True)
    utrail("record", "-P", ".", "-P", ".@libc.so.6", *options, "./calls").must()
    assert [nr for name, nr in counts() if name == "isatty"] == [5]
    if "isatty" not in options:
        assert [nr for name, nr in counts() if name == "qsort"] == [1]


ATTACHED = """
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
	char line[8];
	struct sigaction action = { .sa_handler = SIG_IGN };

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < 3; i++) {
		isatty(0);
		sigaction(SIGUSR2, &action, NULL);
		memcpy(line, &action, sizeof(line) - (i & 1));
	}
	return 0;
}
"""


@pytest.mark.parametrize("bind", ["lazy", "now"])
def test_calls_that_are_bound_after_we_have_come(bind):
    """When a recorder attaches, a library function may not be bound yet, and the dynamic linker
    cannot be asked while all threads are stopped. Calls of the function are recorded once."""
    with open("attached.c", "w") as file:
        file.write(ATTACHED)
    subprocess.run(["gcc", "-O1", "-fno-builtin", f"-Wl,-z,{bind}", "attached.c", "-o", "attached"], check=True)
    with subprocess.Popen("./attached", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        command = [UTRAIL, "record", "-p", str(program.pid), "-P", ".", "-P", ".@libc.so.6"]
        with subprocess.Popen(command, env=environment()) as recorder:
            status = Path(f"/proc/{program.pid}/status")
            wait_until(lambda: utrail("control", str(program.pid), "status").status == 0 and "TracerPid:\t0\n" in status.read_text())
            program.stdin.write("go\n")
            program.stdin.close()
    assert (program.returncode, recorder.returncode) == (0, 0)
    calls = {name: nr for name, nr in counts() if name in ("isatty", "sigaction")}
    assert calls == {"isatty": 3, "sigaction": 3}


LOADS = """
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	for (int i = 0; i < 3; i++) {
		void *lib = dlopen("./libplug.so", RTLD_NOW | RTLD_GLOBAL);
		int (*plug)(int) = (int (*)(int))dlsym(lib, "plug");

		printf("%d\\n", plug(i));
		dlclose(lib);
	}
	return 0;
}
"""


def test_library_that_comes_and_goes():
    """A library is loaded three times at the same place, and calls a patched library: each call is
    recorded once."""
    for name, text in ("loads.c", LOADS), ("plug.c", "#include <stdlib.h>\nint plug(int x) { return x + atoi(\"0\"); }\n"):
        with open(name, "w") as file:
            file.write(text)
    subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "plug.c", "-o", "libplug.so"], check=True)
    subprocess.run(["gcc", "-O1", "loads.c", "-o", "loads"], check=True)
    traced = utrail("record", "--nest-libcall", "-P", ".", "-P", "^atoi$@libc.so.6", "./loads").must()
    assert traced.out == "0\n1\n2\n"
    assert sum(nr for name, nr in counts() if name == "atoi") == 3


@pytest.mark.parametrize("options", [[], ["-a"], ["-e"]], ids=lambda o: "".join(o) or "plain")
def test_nothing_is_lost_inside(options):
    """bash changes its signal mask often, and the probe then reads the mask."""
    script = "for i in 1 2 3 4 5; do x=$(echo $i); y=${x/1/2}; done; echo $y"
    traced = utrail("record", "-P", ".", "-P", ".@libc.so.6", *options, "bash", "-c", script).must()
    assert traced.out == "5\n" and "lost" not in traced.err, traced.err


SPAWNS = """
#include <spawn.h>
#include <sys/wait.h>
extern char **environ;
int main(void)
{
	char *args[] = { "true", 0 };
	int child;

	for (int i = 0; i < 2; i++) {
		if (posix_spawn(&child, "/bin/true", 0, 0, args, environ) == 0)
			waitpid(child, 0, 0);
	}
	return 0;
}
"""


def test_children_on_stacks_of_their_own():
    """The probe interposes posix_spawn(3), and each call of it has one entry. The calls of each
    child before its exec belong to the child."""
    with open("spawns.c", "w") as file:
        file.write(SPAWNS)
    subprocess.run(["gcc", "-O1", "spawns.c", "-o", "spawns"], check=True)
    utrail("record", "-P", ".", "-P", ".@libc.so.6", "./spawns").must()
    assert [nr for name, nr in counts() if name == "posix_spawn"] == [2]
    tasks = Recording("uftrace.data").tasks.values()
    (parent,) = [t for t in tasks if any(r.name == "posix_spawn" for r in t.records)]
    prepares = [t for t in tasks if any(r.name == "__spawni_child" for r in t.records)]
    assert len(prepares) == 2 and parent not in prepares
