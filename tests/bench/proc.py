#!/usr/bin/python3
"""What --proc adds to a build, against strace and bear in the same run: `make -j2` of C files that include what many programs do, by gcc.

usage: proc.py [RUNS [FILES]]
"""

import shutil
import statistics
import sys

from benchlib import UTRAIL, Cost, clean, scratch
from proc_ways import lacking

SOURCE = """
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
"""
# Something to compile, or all of it would be starting processes.
FUNCTION = """
int f%d(const char *s, int n)
{
	char b[256];
	int sum = 0;
	for (int i = 0; i < n && s[i]; i++) {
		switch (s[i] %% 7) {
		case 0: sum += snprintf(b, sizeof(b), "%%d %%s", i, s); break;
		case 1: sum ^= (int)strlen(s + i); break;
		case 2: sum -= strcmp(s, s + i); break;
		default: sum = sum * 31 + s[i];
		}
	}
	return sum;
}
"""


def make_project(files):
    for i in range(files):
        with open(f"f{i}.c", "w") as f:
            f.write(SOURCE + "".join(FUNCTION % (40 * i + k) for k in range(40)))
    with open("main.c", "w") as f:
        f.write("int main(void)\n{\n\treturn 0;\n}\n")
    with open("Makefile", "w") as f:
        objects = " ".join(f"f{i}.o" for i in range(files)) + " main.o"
        f.write(f"CC = gcc\nCFLAGS = -O2\nall: {objects}\n\t$(CC) -o all {objects}\n")


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    make = ["make", "-s", "-j2"]
    record = [UTRAIL, "record", "--no-libcall", "-d", "data"]
    ways = {
        "alone": make,
        "record --proc=ptrace --no-proc-files": [*record, "--proc=ptrace", "--no-proc-files", *make],
        "record --proc=ptrace": [*record, "--proc=ptrace", *make],
        "record --proc=bpf --no-proc-files": [*record, "--proc=bpf", "--no-proc-files", *make],
        "record --proc=bpf": [*record, "--proc=bpf", *make],
        # Files as well, and no probe in the programs; reading what was recorded is part of it.
        "build --as=deps --proc=ptrace": [UTRAIL, "build", "--as=deps", "--proc=ptrace", "-d", "data", *make],
        "build --as=deps --proc=bpf": [UTRAIL, "build", "--as=deps", "--proc=bpf", "-d", "data", *make],
        "strace -f": ["strace", "-f", "-o", "strace.txt", *make],
        "strace -f --seccomp-bpf, files": ["strace", "-f", "--seccomp-bpf", "-e", "trace=%file,%desc,%process", "-o", "strace.txt", *make],
        "bear": ["bear", "--", *make],
    }
    if why := lacking("bpf"):
        print(why)
        ways = {name: command for name, command in ways.items() if "bpf" not in name or "strace" in name}
    taken = {name: [] for name, command in ways.items() if name == "alone" or shutil.which(str(command[0]))}
    with scratch():
        make_project(files)
        Cost(make)
        for _ in range(runs):
            for name in taken:
                clean("data")
                Cost([*make, "clean", "-f", "/dev/null", "--eval=clean:; rm -f *.o all"])
                taken[name].append(Cost(ways[name]))
    alone = taken.pop("alone")

    def ratio(costs, what):
        """@costs as many times as those alone, one behind the other: a machine that is busy for a while is so for both."""
        return statistics.median(getattr(cost, what) / getattr(other, what) for cost, other in zip(costs, alone))

    def best(costs):
        return min(cost.elapsed for cost in costs)

    print(f"\nmake -j2 of {files} files, {runs} times: alone {best(alone):.2f} s at best; times as long, median; at best; processor time, median")
    for name, costs in taken.items():
        print(f"{name:38} {ratio(costs, 'elapsed'):6.2f} {best(costs) / best(alone):6.2f} {ratio(costs, 'cpu'):6.2f}")


if __name__ == "__main__":
    main()
