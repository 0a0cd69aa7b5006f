#!/usr/bin/python3
"""The cost of `record -P .` at the start of a program of 200,000 functions, compared with the peer
in the same run: CPU time and memory of all processes.

usage: large.py [RUNS [FUNCTIONS]]
"""

import os
import subprocess
import sys
from pathlib import Path

from benchlib import PEER, UTRAIL, Cost, clean, heading, need_peer, row, scratch

FUNCTIONS = 200_000

MAIN = r"""
#include <stdio.h>
#include <string.h>

int f0(int x);
int f1(int x);

/* Prints the peak of the memory of this process itself. */
int main(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];

	while (f0(f1(3)) != -1 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			puts(line);
	}
	return 0;
}
"""

# Machine code that compilers make for a line of arithmetic, and for a loop.
PLAIN = "\timull ${a}, %edi, %eax\n\taddl ${b}, %eax\n\tret\n"
LOOP = "\tmovl %edi, %eax\n\ttestl %edi, %edi\n\tjle 2f\n\tmovl ${b}, %ecx\n1:\txorl %ecx, %eax\n\taddl ${a}, %ecx\n\tcmpl ${b}+1000, %ecx\n\tjl 1b\n2:\tret\n"


def function(i):
    body = (LOOP if i % 4 == 0 else PLAIN).replace("{a}", str(i % 97 + 3)).replace("{b}", str(i))
    return (
        f"\t.globl f{i}\n\t.type f{i}, @function\n\t.p2align 4\nf{i}:\n\t.cfi_startproc\n{body}"
        f"\t.cfi_endproc\n\t.size f{i}, .-f{i}\n"
    )


def build(functions):
    # The file is written function by function, for a small process: a child's peak counts at least
    # the memory of the process that has forked it.
    with open("functions.s", "w") as file:
        file.write("\t.text\n")
        file.writelines(map(function, range(functions)))
        file.write('\t.section .note.GNU-stack,"",@progbits\n')
    Path("main.c").write_text(MAIN)
    subprocess.run(["gcc", "-O1", "-o", "large", "main.c", "functions.s"], check=True)
    return Path("large").resolve()


class Start:
    """The least CPU time and the largest memory of some starts."""

    def __init__(self, command):
        self.command = command
        self.ms = float("inf")
        self.largest_mb = self.program_mb = 0

    def run(self):
        clean("data")
        cost = Cost(self.command, stdout=subprocess.PIPE)
        own_kb = int(next(line for line in cost.out.splitlines() if line.startswith("VmHWM:")).split()[1])
        self.ms = min(self.ms, cost.cpu * 1000)
        self.largest_mb = max(self.largest_mb, cost.memory_kb / 1024)
        self.program_mb = max(self.program_mb, own_kb / 1024)


def compare(what, ours, peer):
    row(f"{what}: CPU time of all", ours.ms, peer.ms, "ms", 1.00)
    row(f"{what}: memory, largest process", ours.largest_mb, peer.largest_mb, "MB", 1.00)
    row(f"{what}: memory of the program", ours.program_mb, peer.program_mb, "MB", 1.00)


def main():
    need_peer()
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    functions = int(sys.argv[2]) if len(sys.argv) > 2 else FUNCTIONS
    with scratch() as place:
        os.environ["XDG_CACHE_HOME"] = str(place)
        exe = build(functions)
        record = ["record", "-P", ".", "-d", "data"]
        starts = {
            "bare": Start([exe]),
            "first": Start([UTRAIL, *record, "--no-cache", exe]),
            "second": Start([UTRAIL, *record, exe]),
            "peer": Start([PEER, *record, exe]),
        }
        starts["second"].run()
        starts["second"] = Start(starts["second"].command)
        for _ in range(runs):
            for start in starts.values():
                start.run()
        heading(f"{functions} functions, best of {runs}")
        compare("first start", starts["first"], starts["peer"])
        compare("second start", starts["second"], starts["peer"])
        print(f"{'the program alone':34} {starts['bare'].ms:10.3f} {'':10} ms")


if __name__ == "__main__":
    main()
