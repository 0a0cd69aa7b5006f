"""The page of `dump --format=html` in Firefox: reading, views and sums."""

import json
from pathlib import Path

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
    # A blank page first: with another fragment alone, the same page would not be read again.
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
    # The page's policy and workers work in Firefox, too: the page is complete and has drawn
    # something.
    assert not firefox.js("return document.getElementById('loading').offsetParent")
    open_page(firefox, "#view=functions")
    assert counted(firefox) == expected
    firefox.click("#functions-table tbody button")
    assert firefox.text("#function caption").startswith("Callers of ")
    firefox.js("history.back()")
    wait_until(lambda: firefox.js("return document.getElementById('function').hidden"))


def test_difference(firefox):
    """Two recordings on a page: the numbers are report --diff's, and a click leads to both
    timelines."""
    for name, order in (("data", "0"), ("other", "1")):
        utrail("record", "-d", name, build(program("threads"), Variant("gcc", "pg", f"O{order}")))
    page = utrail("dump", "-d", "data", "--diff", "other", "--format=html", preempted=True).must().out
    Path("difference.html").write_text(page)
    firefox.get("about:blank")
    firefox.get(Path("difference.html").resolve().as_uri() + "#view=functions")
    report = json.loads(utrail("report", "-d", "data", "--diff", "other", "--format=json", preempted=True).must().out)
    rows = wait_until(lambda: firefox.js(ROWS))
    shown = {row[0]: tuple(0 if cell == "–" else int(cell.replace(",", "")) for cell in row[9:]) for row in rows}
    assert shown == {row["name"]: tuple(row["call"].values()) for row in report}
    # The test chooses a function of both recordings. An event, such as a pre-emption, may be in
    # only one of them.
    firefox.js("[...document.querySelectorAll('#functions-table tbody button')].find(b => b.textContent == 'main').click()")
    assert firefox.text("[aria-selected=true]") == "Timeline"
    assert firefox.text("#details").startswith("Base:") and "New:" in firefox.text("#details")


def test_range(firefox):
    utrail("record", "-d", "data", build(program("threads"), Variant("gcc", "pg", "O2")))
    for text in ("0ns~100us", "50us~", "~70us"):
        open_page(firefox, f"#view=functions&range={text}")
        report = utrail("report", "-d", "data", "-r", text, "--format=json", preempted=True).must().out
        assert counted(firefox) == {row["name"]: row["call"] for row in json.loads(report or "[]")}, text
