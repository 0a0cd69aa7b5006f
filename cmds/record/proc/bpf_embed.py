#!/usr/bin/python3
"""Makes C of the eBPF program: bpf_embed.py program.o out.h."""

import sys

with open(sys.argv[1], "rb") as program:
    data = program.read()
rows = [", ".join(str(byte) for byte in data[i : i + 24]) for i in range(0, len(data), 24)]
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("/* Made from follow.bpf.c. */\n#include <stdint.h>\n\n")
    out.write("static const uint8_t follow_bpf_bytes[] __attribute__((aligned(8))) = {\n\t" + ",\n\t".join(rows) + "\n};\n")
