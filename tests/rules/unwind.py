#!/usr/bin/env python3
"""At each instruction of the probe an unwinder finds the caller's frame: the distance of the CFA
from the stack pointer agrees with the instructions before. Compilers ensure that for their code;
the stubs are written by hand.

The check covers places where the CFA is given relative to the stack pointer: from one instruction
to the next, over jumps inside a function and out of it, and at a return.

usage: unwind.py LIBMCOUNT
"""
import bisect
import re
import subprocess
import sys

POPS = {"pop": -8, "popf": -8, "push": 8, "pushf": 8}


def run(*args):
    return subprocess.run(args, check=True, text=True, stdout=subprocess.PIPE).stdout


def read_frames(library):
    """The frames: (start, end, [(address, position of the CFA)])"""
    frames = []
    rows = None
    for line in run("readelf", "-W", "-wF", library).splitlines():
        head = re.search(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
        row = re.match(r"([0-9a-f]{16}) (\S+)", line)
        if head:
            rows = []
            frames.append((int(head[1], 16), int(head[2], 16), rows))
        elif "CIE" in line:
            rows = None
        elif row and rows is not None and "cie=" not in line and " CIE" not in line:
            rows.append((int(row[1], 16), row[2]))
    return sorted((f for f in frames if f[2]), key=lambda f: f[0])


def read_instructions(library):
    """The instructions by address: (name, operands)."""
    out = {}
    for line in run("objdump", "-d", "--no-show-raw-insn", library).splitlines():
        m = re.match(r"\s*([0-9a-f]+):\t(?:(?:notrack|bnd|lock|repz?|rex\.W) )*(\S+)\s*([^#<]*)", line)
        if m:
            out[int(m[1], 16)] = (m[2], m[3].strip())
    return out


class Frames:
    def __init__(self, frames):
        self.frames = frames
        self.starts = [f[0] for f in frames]

    def offset(self, address):
        """The distance of the CFA from the stack pointer; None when it is relative to another
        register."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.frames[at][1]:
            return None
        row = [where for start, where in self.frames[at][2] if start <= address]
        m = re.fullmatch(r"rsp\+(\d+)", row[-1]) if row else None
        return int(m[1]) if m else None


def moved(name, operands):
    """The number of bytes by which an instruction moves the stack pointer down, or None when it is
    unknown."""
    if name.rstrip("q") in POPS:
        return POPS[name.rstrip("q")]
    number = re.fullmatch(r"\$(-?0x[0-9a-f]+),%rsp", operands)
    distance = re.fullmatch(r"(-?0x[0-9a-f]+)\(%rsp\),%rsp", operands)
    if number and name in ("add", "sub"):
        value = int(number[1], 16)
        value -= (value >> 63) << 64
        return value if name == "sub" else -value
    if distance and name == "lea":
        return -int(distance[1], 16)
    return None if operands.endswith("%rsp") or name.startswith("leave") else 0


def target_of(name, operands):
    m = re.match(r"[0-9a-f]+\b", operands)
    return int(m[0], 16) if name.startswith("j") and m else None


def check(library):
    frames = Frames(read_frames(library))
    code = read_instructions(library)
    after = dict(zip(sorted(code), sorted(code)[1:]))
    nr = 0
    for start, end, rows in frames.frames:
        # Some stubs are entered by a jump, as if by a signal. The stack then has more than a return
        # address.
        outermost = frames.offset(start)
        address = start
        while address in code and address < end:
            name, operands = code[address]
            here = frames.offset(address)
            following = after.get(address, end)
            wanted = []
            if here is not None:
                nr += 1
                if name.startswith("ret") and here not in (8, outermost):
                    yield f"{address:#x}: returns with the CFA at rsp+{here}"
                is_filling = re.match("nop|data16|cs", name) or (name == "xchg" and operands == "%ax,%ax")
                if not is_filling and not re.match("jmp|ret|ud2|hlt|int3", name) and following < end and moved(name, operands) is not None:
                    wanted.append((following, here + moved(name, operands)))
                target = target_of(name, operands)
                if target is not None and (start <= target < end or outermost == 8):
                    wanted.append((target, here))
            for there, offset in wanted:
                if frames.offset(there) not in (None, offset):
                    yield f"{there:#x}: the CFA is at rsp+{offset} behind {address:#x} ({name} {operands}), not at rsp+{frames.offset(there)}"
            address = following
    if nr < 1000:
        yield f"only {nr} instructions were looked at: is there no .eh_frame?"


bad = list(check(sys.argv[1]))
for line in bad:
    print(f"{sys.argv[1]}: {line}")
sys.exit(bool(bad))
