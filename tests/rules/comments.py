#!/usr/bin/env python3
"""Comments say their subject first, and lines end at 100 columns (doc/style.md).

usage: comments.py TOP
"""
import pathlib
import re
import sys

# Folders whose comments are checked, and files in them that are not yet.
ROOMS = ("arch", "cmds", "libmcount", "utils/base", "utils/export", "utils/format",
         "utils/object", "utils/script", "utils/spec", "utils/pipeline",
         "utils/builddb", "utils/tracecmd", "utils/view", "trace/events", "trace/include",
         "trace/posix", "trace/posixlog", "trace/seam", "trace/text")
NOT_YET = ()
# Folders of tests and examples. Their words are checked, and the lengths of their lines are not.
TESTS = ("tests/bench", "tests/e2e", "tests/fuzz", "tests/real", "tests/scenes", "tests/unit",
         "trace/examples", "trace/tests")

COLUMNS = 100
NO_SUBJECT = "What|Of|Whether|Who|Whom|Whose|Which|Where|How|That"
# Strings are matched first: they may contain "/*".
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.S)
BEGINNING = re.compile(rf"(?:^|\n\n|[.:;!?)]\s+)({NO_SUBJECT})\b")
# In documents, sentences that begin with "Where" or "That" are mostly conditions.
IN_DOCUMENTS = re.compile(r"(?:^|[.!?)]\s+)(What|Of|Whether|Who|Whom|Whose|Which|How)\b(?!\.)")
# Macros of manual pages that end a paragraph.
MANUAL_PART = re.compile(r"^\.(?:TP|PP|P|IP|SH|SS|RS|RE|nf|fi)\b.*$", re.M)
# A parameter may be called @behind.
BEHIND = re.compile(r"(?<!@)\bbehind\b", re.I)
# --as-nobody is an option of the hostile client.
PERSONS = re.compile(r"(?<!-)\b(nobody|somebody|anybody)\b", re.I)


def text_of(comment):
    lines = comment[2:-2].split("\n")
    return "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines).strip()


def check_words(name, text):
    for found in COMMENT.finditer(text):
        if not found.group().startswith("/*"):
            continue
        number = text.count("\n", 0, found.start()) + 1
        said = text_of(found.group())
        for beginning in BEGINNING.finditer(said):
            yield f"{name}:{number}: a sentence begins with '{beginning.group(1)}', not with its subject"
        if BEHIND.search(said):
            yield f"{name}:{number}: 'behind' says where, 'after' says when and in which order"
        for person in PERSONS.finditer(said):
            yield f"{name}:{number}: '{person.group(1)}': name the thread, process, program or user"


def check_columns(name, text):
    """Tables may be wider: clang-format is off there."""
    is_table = False
    for number, line in enumerate(text.split("\n"), 1):
        if "clang-format off" in line or "clang-format on" in line:
            is_table = "clang-format off" in line
        width = len(line.expandtabs(8))
        if width > COLUMNS and not is_table:
            yield f"{name}:{number}: {width} columns, {COLUMNS} at most"


def check_document(name, text):
    """Tables may be wider, and so may text that is shown as it is printed: in fences, or with four
    blanks in front."""
    is_fenced = is_shown = False
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
        is_shown = line.startswith("    ") and (is_shown or not before.strip())
        if len(line) > COLUMNS and not (is_fenced or is_shown or line.lstrip().startswith("|")):
            yield f"{name}:{number}: {len(line)} columns, {COLUMNS} at most"
        before = line


def said_in_python(text):
    """Comments and docstrings, not code in triple quotes: that begins with a line break or "\\"."""
    for found in re.finditer(r"(?:^[ \t]*#(?!!)[^\n]*\n)+", text, re.M):
        yield found.start(), re.sub(r"(?m)^[ \t]*# ?", "", found.group())
    for found in re.finditer(r'^[ \t]*"""(?![\n\\])(.*?)"""', text, re.M | re.S):
        yield found.start(), found.group(1)


def check_python(name, text):
    for start, said in said_in_python(text):
        found = IN_DOCUMENTS.search(" ".join(said.split()))
        if found:
            yield (f"{name}:{text.count(chr(10), 0, start) + 1}: a sentence begins with "
                   f"'{found.group(1)}', not with its subject")


def check_sentences(name, parts):
    for part in parts:
        # A heading may be a question, and a cell of a table may be a name.
        if part.lstrip().startswith(("#", "|", "    ", ">")):
            continue
        found = IN_DOCUMENTS.search(" ".join(part.split()))
        if found:
            yield f"{name}: a sentence begins with '{found.group(1)}': {' '.join(part.split())[:60]}"


def paragraphs(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.split(r"\n\s*\n|\n(?=[*|] |\d+\. )", text)


def documents(top):
    yield from top.glob("*.md")
    yield top / "NEWS"
    yield from (top / "doc").rglob("*.md")
    yield from (top / "trace").rglob("*.md")


def main():
    top = pathlib.Path(sys.argv[1])
    problems = []
    nr = 0
    for path in sorted(path for room in ROOMS for path in (top / room).rglob("*.[chS]")):
        name = path.relative_to(top).as_posix()
        if name.startswith(NOT_YET):
            continue
        nr += 1
        text = path.read_text()
        problems += check_words(name, text)
        if path.suffix in (".c", ".h"):
            problems += check_columns(name, text)
    for path in sorted(path for room in TESTS for path in (top / room).rglob("*.[chS]")):
        nr += 1
        problems += check_words(path.relative_to(top).as_posix(),
                                path.read_text(errors="replace"))
    for path in sorted((top / "utils/export/page").rglob("*.js")):
        nr += 1
        problems += check_words(path.relative_to(top).as_posix(), path.read_text())
    for path in sorted(path for room in ("misc", "tests", "trace", "utils")
                       for path in (top / room).rglob("*.py")):
        nr += 1
        problems += check_python(path.relative_to(top).as_posix(), path.read_text())
    for path in sorted(documents(top)):
        nr += 1
        name, text = path.relative_to(top).as_posix(), path.read_text()
        problems += check_document(name, text)
        # style.md shows bad sentences as examples.
        if name != "doc/style.md":
            problems += check_sentences(name, paragraphs(text))
    for path in sorted((top / "doc/man").glob("*.in")) + sorted((top / "trace/man").glob("*.in")):
        nr += 1
        problems += check_sentences(path.relative_to(top).as_posix(),
                                    MANUAL_PART.split(path.read_text()))
    print("\n".join(problems) or f"{nr} files are good")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
