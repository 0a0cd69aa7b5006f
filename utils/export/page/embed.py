#!/usr/bin/python3
"""Makes C source from the page: embed.py page.html out.c.

The comments CONNECT and DATA in page.html divide the page into three parts. Between the first two
parts, utrail can add a directive that permits connections. Between the last two parts, utrail adds
the recording's data.

{name} in page.html stands for the file of this name in the same directory. A script and the modules
that it imports become one script, so all names at the top level of these files must differ.
"""

import base64
import hashlib
import re
import sys
from pathlib import Path

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.M)
NAME = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.M)
# JSDoc comments are left out of the page: only development tools read them.
COMMENT = re.compile(r"^\t*/\*\*(?:[^*]|\*(?!/))*\*/\n", re.M)


def bundle(path, seen, names):
    """Returns the texts of a module's imports and then the module's text. No text is repeated."""
    if path in seen:
        return ""
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    out = "".join(bundle((path.parent / name).resolve(), seen, names) for _, name in IMPORT.findall(text))
    text = EXPORT.sub("", IMPORT.sub("", text))
    assert not re.search(r"^(?:import|export)\b", text, re.M), f"{path}: another kind of import or export"
    for name in NAME.findall(text):
        assert name not in names, f"{path}: '{name}' is at the top of {names[name]}, too"
        names[name] = path
    return f"{out}// {path.parent.name}/{path.name}\n{COMMENT.sub('', text)}"


def script(path):
    text = '"use strict";\n(() => {\n' + bundle(path.resolve(), set(), {}) + "})();\n"
    assert "</script" not in text and "<!--" not in text, f"{path}: HTML would end in it"
    return text


def source(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(path):
    here, html = path.parent, path.read_text(encoding="utf-8")
    style, main = (here / "style.css").read_text(encoding="utf-8"), script(here / "main.js")
    html = html.replace("{style hash}", source(style)).replace("{script hash}", source(main))
    html = html.replace("{style.css}", style).replace("{data/worker.js}", script(here / "data/worker.js"))
    return html.replace("{main.js}", main)


def main():
    parts = re.split(r"<!-- (?:CONNECT|DATA) -->\n", page(Path(sys.argv[1])))
    assert len(parts) == 3, "the page has one place for its policy and one for data"
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write('/* Made from page.html. */\n#include "utils/export/page/page.h"\n')
        for name, part in zip(("page_head", "page_data", "page_tail"), parts):
            data = part.encode()
            rows = [", ".join(str(b) for b in data[i : i + 24]) for i in range(0, len(data), 24)]
            out.write(f"\nconst char {name}[] = {{\n\t" + ",\n\t".join(rows) + ", 0\n};\n")
            out.write(f"const size_t {name}_len = sizeof({name}) - 1;\n")


if __name__ == "__main__":
    main()
