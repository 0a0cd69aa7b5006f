"""The page of `dump --format=html` in Firefox: what it reads, shows and adds up there."""

import json

import pytest

from marionette import FIREFOX, Firefox
from programs import Variant, build, program
from test_export import calls, dump
from tools import utrail, wait_until

pytestmark = pytest.mark.skipif(not FIREFOX, reason="no Firefox (apt-get install firefox-esr)")


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    browser = Firefox(tmp_path_factory.mktemp("firefox"))
    yield browser
    browser.close()


ROWS = """return [...document.querySelectorAll("#functions-table tbody tr")].map(
    (row) => [...row.children].map((cell) => cell.innerText.trim()))"""


def open_page(firefox, fragment=""):
    # Another fragment of the same page would not read it again.
    firefox.get("about:blank")
    firefox.get(dump("html", "data").resolve().as_uri() + fragment)
    wait_until(lambda: firefox.js("return 'ready' in document.documentElement.dataset"))


def counted(firefox):
    return {row[0]: int(row[3].replace(",", "")) for row in wait_until(lambda: firefox.js(ROWS))}


def test_click_and_type(firefox):
    utrail("record", "-d", "data", build(program("threads"), Variant("gcc", "pg", "O2")))
    expected = calls("data")
    open_page(firefox)
    assert firefox.text("[aria-selected=true]") == "Timeline"
    firefox.type("input[type=search]", "LEAF")
    assert wait_until(lambda: firefox.text("[role=status]")) == f"{expected['leaf']} calls"
    firefox.type("input[type=search]", "\ue007")
    assert firefox.text("#details").startswith("leaf")
    # What there is of the policy and of workers, is here, too: the page is complete, and drew something.
    assert not firefox.js("return document.getElementById('loading').offsetParent")
    open_page(firefox, "#view=functions")
    assert counted(firefox) == expected
    firefox.click("#functions-table tbody button")
    assert firefox.text("#function caption").startswith("Callers of ")
    firefox.js("history.back()")
    wait_until(lambda: firefox.js("return document.getElementById('function').hidden"))


def test_range(firefox):
    utrail("record", "-d", "data", build(program("threads"), Variant("gcc", "pg", "O2")))
    for text in ("0ns~100us", "50us~", "~70us"):
        open_page(firefox, f"#view=functions&range={text}")
        report = utrail("report", "-d", "data", "-r", text, "--format=json", preempted=True).must().out
        assert counted(firefox) == {row["name"]: row["call"] for row in json.loads(report or "[]")}, text
