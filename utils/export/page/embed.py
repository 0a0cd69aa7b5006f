#!/usr/bin/python3
"""Makes C of the page: embed.py page.html out.c; it is cut in two where the data goes."""

import sys

with open(sys.argv[1], encoding="utf-8") as page:
    parts = page.read().split("<!-- DATA -->\n")
assert len(parts) == 2, "the page has one place for data"
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("/* Made from page.html. */\n#include \"utils/export/page/page.h\"\n")
    for name, part in zip(("page_head", "page_tail"), parts):
        data = part.encode()
        rows = [", ".join(str(b) for b in data[i : i + 24]) for i in range(0, len(data), 24)]
        out.write(f"\nconst char {name}[] = {{\n\t" + ",\n\t".join(rows) + ", 0\n};\n")
        out.write(f"const size_t {name}_len = sizeof({name}) - 1;\n")
