"""Because of this file pytest adds its folder to sys.path, so that tests can import built.py."""
