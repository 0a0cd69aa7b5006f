#!/usr/bin/env python3
"""Names of the tree in comments and documents exist: each path from the top, and each section that
is named by its title.

A path begins with the name of a room (doc/internals/overview.md); "<name>" and "*" stand for
anything. A section's title is in quotes after the path of its page: doc/glossary.md, "Words".

usage: paths.py TOP
"""
import io
import pathlib
import re
import sys
import tokenize

# There is no folder "spec" in this tree. A path below it is of another repository, and is reported.
ROOMS = ("arch", "cmds", "doc", "libmcount", "misc", "tests", "trace", "utils", "spec")
# In the project in trace/, the paths of its own files are relative to trace/.
OF_TRACE = ("doc", "events", "examples", "include", "library", "man", "posix", "posixlog", "seam", "tests", "text")
C_LIKE = (".c", ".cc", ".h", ".S", ".proto", ".rs")
HASH = (".build", ".sh", ".bpf", ".txt")
SOURCES = (*C_LIKE, *HASH, ".py", ".md", ".in")



def path_of(rooms):
    return re.compile(rf"(?<![\w./@$}}>-])(?:{'|'.join(rooms)})/[\w./*<>+-]*[\w*>/]")


PATH, PATH_OF_TRACE = path_of(ROOMS), path_of(OF_TRACE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
# The titles of sections after a path, in the form: PATH, "A" or in the form: PATH, "A" and "B".
TITLES = re.compile(r',\s+"([^"]{1,80})"(?:\s+and\s+"([^"]{1,80})")?')
NUMBERED = re.compile(r",? sections? \d")
C_COMMENT = re.compile(r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(/\*.*?\*/|//[^\n]*)""", re.S)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def c_comments(text):
    """The text with blanks for all but comments, so that places stay. Stars at the beginning of a
    line are blanks, too."""
    parts = []
    at = 0
    for match in C_COMMENT.finditer(text):
        if not match[2]:
            continue
        parts += [blank(text[at : match.start()]), re.sub(r"^(\s*)(?:/?\*+/?|//)", r"\1  ", match[2], flags=re.M)]
        at = match.end()
    return "".join(parts) + blank(text[at:])


def python_comments(text):
    """The text with blanks for all but comments and strings that are statements, which describe the
    code."""
    lines = [" " * len(line) for line in text.splitlines()]

    def keep(token):
        for number, line in enumerate(token.string.split("\n")):
            at = token.start[1] if number == 0 else 0
            row = token.start[0] - 1 + number
            lines[row] = lines[row][:at] + line + lines[row][at + len(line) :]

    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins):
            keep(token)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return "\n".join(lines)


def hash_comments(text):
    return "\n".join(
        " " * match.end(1) + line[match.end(1) :] if (match := re.match(r"^(\s*(?:.*?\s)?)#", line)) else ""
        for line in text.splitlines()
    )


def words_of(path):
    text = path.read_text()
    if path.suffix in C_LIKE:
        return c_comments(text)
    if path.suffix == ".py":
        return python_comments(text)
    return hash_comments(text) if path.suffix in HASH else text


def titles_of(page):
    text = page.read_text()
    if page.suffix == ".md":
        return {m[1].replace("`", "") for m in re.finditer(r"^#+ (.*\S)", text, re.M)}
    return {m[1].strip('"').replace("\\", "") for m in re.finditer(r"^\.S[HS] (.*\S)", text, re.M)}


def exists(top, name):
    if not re.search(r"[*<]", name):
        return (top / name).exists()
    return any(top.glob(re.sub(r"<[^>]*>", "*", name)))


def check(top, path):
    text = words_of(path)
    problems = []
    is_of_trace = path.is_relative_to(top / "trace")
    from_top = top / "trace" if is_of_trace else top

    def report(at, what):
        problems.append(f"{path.relative_to(top)}:{text.count(chr(10), 0, at) + 1}: {what}")

    for match in (PATH_OF_TRACE if is_of_trace else PATH).finditer(text):
        name = match[0].rstrip(".")
        if not exists(from_top, name):
            report(match.start(), f"there is no {name}")
            continue
        if pathlib.Path(name).suffix not in (".md", ".in"):
            continue
        behind = text[match.end() :].lstrip("`")
        if NUMBERED.match(behind):
            report(match.start(), f"a section of {name} by its number, not by its title")
        titles = TITLES.match(behind)
        for title in filter(None, titles.groups() if titles else ()):
            title = re.sub(r"\s+", " ", title).rstrip(",")
            if title not in titles_of(from_top / name):
                report(match.start(), f'{name} has no section "{title}"')
    if path.suffix == ".md":
        for match in LINK.finditer(text):
            if not (path.parent / match[1]).exists():
                report(match.start(), f"there is no {match[1]}")
    return problems


def main():
    top = pathlib.Path(sys.argv[1])
    files = [p for p in top.iterdir() if p.suffix in SOURCES or p.name == "NEWS"]
    files += [p for room in ROOMS for p in sorted((top / room).rglob("*")) if p.suffix in SOURCES and p.is_file()]
    problems = [problem for path in files for problem in check(top, path)]
    print("\n".join(problems) or f"{len(files)} files are good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
