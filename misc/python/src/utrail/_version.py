"""The version of the project; tests/e2e/views/test_module.py compares it with the program's."""

VERSION = "0.1.0"
