"""With this file here tests in the folders below find built.py."""
