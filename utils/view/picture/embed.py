#!/usr/bin/python3
"""Makes C source from picture.js, the script of picture files: embed.py picture.js out.c."""

import re
import sys
from pathlib import Path

text = re.sub(r"^/\*.*?\*/\n", "", Path(sys.argv[1]).read_text(encoding="utf-8"), flags=re.S)
assert "]]>" not in text, "it stands in CDATA"
rows = [f'\t"{line.strip()}\\n"' for line in text.replace("\\", "\\\\").replace('"', '\\"').splitlines()]
out = '/* Made from picture.js. */\n#include "utils/view/picture/script.h"\n\nconst char picture_script[] =\n'
Path(sys.argv[2]).write_text(out + "\n".join(rows) + ";\n", encoding="utf-8")
