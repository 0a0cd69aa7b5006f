"""Runs a test file of CPython, and writes each test's outcome to a file.

usage: python_suite.py MODULE OUT
"""

import sys
import unittest


class Outcomes(unittest.TextTestResult):
    """@found: lines of name and outcome. A test without a line has passed."""

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.found = {}

    def note(self, test, outcome):
        self.found[test.id()] = outcome

    def startTest(self, test):
        super().startTest(test)
        self.note(test, "ok")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.note(test, "failed")


def main(module, out):
    tests = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(resultclass=Outcomes).run(tests)
    with open(out, "w") as file:
        file.writelines(f"{name} {outcome}\n" for name, outcome in sorted(result.found.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
