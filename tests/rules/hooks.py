#!/usr/bin/env python3
"""The commit hook accepts messages in the form of CONTRIBUTING.md, and no others.

usage: hooks.py TOP
"""
import pathlib
import subprocess
import sys
import tempfile

GOOD = (
    "A subject\n\nA body.\n",
    "x" * 72 + "\n\nA body\nof two lines.\n",
    "ä" * 72 + "\n\nCharacters count, not bytes.\n",
    "A subject\n\nA body.\n# A comment of git's\n# ------------------------ >8 ------------------------\ndiff\n",
    "fixup! A subject\n",
    "Merge branch 'next'\n",
)
BAD = {
    "": "first line is empty",
    "\nA body\n": "first line is empty",
    "x" * 73 + "\n\nA body.\n": "73 characters",
    "A subject.\n\nA body.\n": "full stop",
    "A subject\nmore of it\n": "second line",
    "A subject\n": "no body",
    "A subject\n\n# only a comment\n": "no body",
}


def judge(hook, message):
    with tempfile.NamedTemporaryFile("w", suffix="-message") as file:
        file.write(message)
        file.flush()
        done = subprocess.run([hook, file.name], capture_output=True, text=True)
    return done.returncode, done.stderr


def main():
    hook = pathlib.Path(sys.argv[1]) / "misc" / "hooks" / "commit-msg"
    wrong = [f"refused: {message!r}: {judge(hook, message)[1]}" for message in GOOD if judge(hook, message)[0] != 0]
    for message, why in BAD.items():
        status, text = judge(hook, message)
        if status != 1 or why not in text:
            wrong.append(f"{message!r}: status {status}, expected 1 and '{why}': {text}")
    print("\n".join(wrong) or f"{len(GOOD) + len(BAD)} messages")
    return bool(wrong)


sys.exit(main())
