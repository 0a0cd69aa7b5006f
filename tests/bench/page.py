#!/usr/bin/python3
"""The page of `dump --format=html` in Chromium: its size, the time until it is shown, and the times
of a key, a view and a frame.

usage: page.py [CALLS ...]
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchlib import UTRAIL, scratch, skip

TOP = Path(__file__).resolve().parents[2]
CALLS = [1_000_000, 10_000_000]

# Notes long tasks of the page while it is read, from its first moment on.
WATCH = """
window.longest = 0;
new PerformanceObserver((list) => { for (const e of list.getEntries()) longest = Math.max(longest, e.duration); })
    .observe({ type: "longtask" });
const waiting = setInterval(() => {
    if (!document.documentElement || !("ready" in document.documentElement.dataset)) return;
    window.readyAt = performance.now();
    clearInterval(waiting);
}, 5);
"""

MEASURE = """
const done = arguments[0], { app, recording, views } = utrail, times = {};
const take = (name, act) => {
    const begin = performance.now();
    act();
    views.draw();
    times[name] = Math.max(times[name] || 0, performance.now() - begin);
};
const paint = performance.getEntriesByName("first-contentful-paint")[0];
times["first paint"] = paint ? paint.startTime : 0;
times["all read"] = readyAt;
times["longest task while reading"] = longest;
(async () => {
    for (const text of ["l", "le", "lev", "leve", "level", "level3"]) {
        take("a key of a search", () => app.change({ search: text }));
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    take("the next match", () => app.go(1));
    app.change({ search: "", zoom: null });
    take("functions", () => app.change({ view: "functions" }));
    take("functions of a range", () => app.change({ range: { from: recording.first + 1, to: recording.last - 1 } }));
    take("flame graph of a range", () => app.change({ view: "flame" }));
    take("one function", () => app.change({ view: "functions", func: "leaf", range: null }));
    app.change({ view: "timeline" });
    for (let i = 0; i < 30; i++) take("a frame while zooming", () => app.zoomBy(0.8));
    app.change({ zoom: null });
    done(times);
})();
"""


def open_browser(profile):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options

    service = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE, text=True, cwd="/")
    port = next(m[1] for m in (re.search(r"started successfully on port (\d+)", line) for line in service.stdout) if m)
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    browser = webdriver.Remote(f"http://127.0.0.1:{port}", options=options)
    browser.command_executor._commands["devtools"] = ("POST", "/session/$sessionId/goog/cdp/execute")
    browser.execute("devtools", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": WATCH}})
    return service, browser


def need_browser():
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        skip("there is no Chromium (apt-get install chromium chromium-driver python3-selenium)")


def main():
    need_browser()
    sizes = [int(arg) for arg in sys.argv[1:]] or CALLS
    with scratch(), tempfile.TemporaryDirectory() as profile:
        subprocess.run(["gcc", "-O2", "-pg", "-pthread", "-o", "tree", TOP / "tests/bench/src/tree.c"], check=True)
        service, browser = open_browser(profile)
        try:
            for nr in sizes:
                measure(browser, nr)
        finally:
            browser.quit()
            service.terminate()


def measure(browser, nr):
    subprocess.run([UTRAIL, "record", "--no-libcall", "-d", "data", "./tree", "4", str(nr)], check=True)
    with open("page.html", "wb") as page:
        begin = time.monotonic()
        subprocess.run([UTRAIL, "dump", "-d", "data", "--format=html"], stdout=page, check=True)
        took = time.monotonic() - begin
    print(f"\na page of {nr} calls: {Path('page.html').stat().st_size / 1e6:.1f} MB, written in {took * 1000:.0f} ms")
    browser.get(Path("page.html").resolve().as_uri())
    while not browser.execute_script("return window.readyAt"):
        time.sleep(0.05)
    for name, ms in browser.execute_async_script(MEASURE).items():
        print(f"{name:34} {ms:8.1f} ms", flush=True)
    browser.get("about:blank")


if __name__ == "__main__":
    main()
