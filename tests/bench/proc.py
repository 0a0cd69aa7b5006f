#!/usr/bin/python3
"""The time that --proc adds to a build, compared with strace and bear in the same run: `make -j2`
of C files with common includes, by gcc.

usage: proc.py [--only=WORD]... [RUNS [FILES|lua]]

WORD is in the printed names of the ways that are measured. FILES: the number of files; lua: Lua's
own sources (Debian's), which give the compiler more work.
"""

import argparse
import shutil
import statistics

from benchlib import UTRAIL, WORK, Cost, clean, scratch, unpack_source
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
# Each file has functions to compile: otherwise starting processes would be the whole work.
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
        f.write(f"CC = gcc\nCFLAGS = -O2\nall: {objects}\n\t$(CC) -o all {objects}\nclean:\n\trm -f *.o all\n")


def make_lua():
    place = WORK / "lua-build"
    if not place.is_dir():
        unpack_source("lua5.4", place)
    shutil.copytree(place / "src", "src")
    with open("Makefile", "w") as f:
        f.write("all clean:\n\t@$(MAKE) -s -C src MYCFLAGS=-DLUA_USE_POSIX $@\n")


def ways_of(make):
    record = [UTRAIL, "record", "--no-libcall", "-d", "data"]
    ways = {
        "record --proc=ptrace --no-proc-files": [*record, "--proc=ptrace", "--no-proc-files", *make],
        "record --proc=ptrace": [*record, "--proc=ptrace", *make],
        "record --proc=bpf --no-proc-files": [*record, "--proc=bpf", "--no-proc-files", *make],
        "record --proc=bpf": [*record, "--proc=bpf", *make],
        # --as=deps records files as well, and puts no probe into the programs; reading the
        # recording is part of the time.
        "build --as=deps --proc=ptrace": [UTRAIL, "build", "--as=deps", "--proc=ptrace", "-d", "data", *make],
        "build --as=deps --proc=bpf": [UTRAIL, "build", "--as=deps", "--proc=bpf", "-d", "data", *make],
        "strace -f": ["strace", "-f", "-o", "strace.txt", *make],
        "strace -f --seccomp-bpf, files": ["strace", "-f", "--seccomp-bpf", "-e", "trace=%file,%desc,%process", "-o", "strace.txt", *make],
        "bear": ["bear", "--", *make],
    }
    if why := lacking("bpf"):
        print(why)
        ways = {name: command for name, command in ways.items() if "bpf" not in name or "strace" in name}
    return {name: command for name, command in ways.items() if shutil.which(str(command[0]))}


def measure(make, ways, runs):
    """Run the build alone and in each way, in turns. Returns the costs."""
    alone, taken = [], {name: [] for name in ways}
    for _ in range(runs):
        for name, command in [(None, make), *ways.items()]:
            clean("data")
            Cost([*make, "clean"])
            (taken[name] if name else alone).append(Cost(command))
    return alone, taken


def ratio(costs, alone, what):
    """The median of @costs over @alone, in pairs of neighbouring runs: a busy moment of the machine
    hits both."""
    return statistics.median(getattr(cost, what) / getattr(other, what) for cost, other in zip(costs, alone))


def best(costs):
    return min(cost.elapsed for cost in costs)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("runs", nargs="?", type=int, default=7)
    parser.add_argument("what", nargs="?", default="16")
    args = parser.parse_args()
    make = ["make", "-s", "-j2"]
    ways = {name: command for name, command in ways_of(make).items() if not args.only or any(word in name for word in args.only)}
    with scratch():
        if args.what == "lua":
            make_lua()
        else:
            make_project(int(args.what))
        Cost(make)
        alone, taken = measure(make, ways, args.runs)
    what = "Lua" if args.what == "lua" else f"{args.what} files"
    print(f"\nmake -j2 of {what}, {args.runs} times: alone {best(alone):.2f} s at best; times as long, median; at best; processor time, median")
    for name, costs in taken.items():
        print(f"{name:38} {ratio(costs, alone, 'elapsed'):6.2f} {best(costs) / best(alone):6.2f} {ratio(costs, alone, 'cpu'):6.2f}")


if __name__ == "__main__":
    main()
