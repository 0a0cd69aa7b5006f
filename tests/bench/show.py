#!/usr/bin/python3
"""utrail show of a hundred million calls in Chromium: the times until the first picture, the end of
reading and any zoom; the memory of the tab and of the server.

With the word args each call has an argument and a result, which no-args does not show.

usage: show.py [CALLS [args|no-args]]
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchlib import UTRAIL, scratch
from page import TOP, need_browser, open_browser

# The longest time from a step of the zoom until the page shows the calls that the server sends.
ZOOM = """
const done = arguments[0], { app, recording, views } = utrail, { supplier } = recording, times = [];
const settled = () => new Promise((resolve) => {
    const look = () => {
        if (!supplier.isAsking && supplier.has === supplier.asked) resolve();
        else setTimeout(look, 1);
    };
    requestAnimationFrame(() => requestAnimationFrame(look));
});
(async () => {
    for (let round = 0; round < 5; round++) {
        app.change({ zoom: null });
        await settled();
        const { first, length } = recording;
        const at = first + length * (round + 0.5) / 5;
        for (let i = 0; i < 20; i++) {
            const begin = performance.now();
            app.zoomBy(0.4, at);
            await settled();
            times.push(performance.now() - begin);
        }
    }
    times.sort((a, b) => a - b);
    done([times[times.length >> 1], times[times.length - 1]]);
})();
"""

# The longest time until the page has the text of a call, for a hundred calls all over the
# recording; and the number of those that have a text.
TEXTS = """
const done = arguments[0], { recording } = utrail, times = [];
const [task] = recording.tasks, { supplier } = recording;
let told = 0;
(async () => {
    for (let k = 0; k < 100 && task.text; k++) {
        const number = task.text[Math.floor(task.n * (k + 0.5) / 100)], begin = performance.now();
        if (!number) continue;
        while (recording.text(number) === " …") await new Promise((resolve) => setTimeout(resolve));
        if (recording.text(number)) told++;
        times.push(performance.now() - begin);
        supplier.texts.clear();
    }
    times.sort((a, b) => a - b);
    done([times[times.length >> 1] || 0, times[times.length - 1] || 0, told]);
})();
"""

# The time from the beginning of the page to the first picture that has a call.
FIRST = """
window.firstPicture = 0;
const drawing = setInterval(() => {
    if (!window.utrail || !utrail.recording.tasks.some((task) => task.n)) return;
    requestAnimationFrame(() => { window.firstPicture = performance.now(); });
    clearInterval(drawing);
}, 2);
"""


def line(what, number, unit, target=None):
    verdict = "" if target is None else f"target {target} {'ok' if number <= target else 'MISSED'}"
    print(f"{what:44} {number:10.1f} {unit} {verdict}", flush=True)


def memory_of(browser):
    """The memory of the page's objects and arrays, and that of the largest renderer process, in
    MB."""
    browser.execute("devtools", {"cmd": "HeapProfiler.collectGarbage", "params": {}})
    found = browser.execute("devtools", {"cmd": "Performance.getMetrics", "params": {}})["value"]["metrics"]
    rss = [int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000 for status in renderers()]
    return next(m["value"] for m in found if m["name"] == "JSHeapUsedSize") / 1e6, max(rss, default=0)


def renderers():
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" in (path / "cmdline").read_bytes():
                yield (path / "status").read_text()
        except OSError:
            continue


def main():
    need_browser()
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    program, values = ("told", ["-a"]) if word else ("tree", [])
    with scratch(), tempfile.TemporaryDirectory() as profile:
        subprocess.run(["gcc", "-O2", "-pg", "-g", "-pthread", "-o", program, TOP / f"tests/bench/src/{program}.c"], check=True)
        subprocess.run([UTRAIL, "record", "--compact", "--no-libcall", *values, "-d", "data", f"./{program}", "4", str(calls)], check=True)
        service, browser = open_browser(profile)
        browser.execute("devtools", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": FIRST}})
        browser.execute("devtools", {"cmd": "Performance.enable", "params": {}})
        server = subprocess.Popen([UTRAIL, "show", "--no-browser", *(["--no-args"] if word == "no-args" else []), "data"], stdout=subprocess.PIPE, text=True)
        try:
            measure(browser, server)
        finally:
            browser.quit()
            service.terminate()
            server.send_signal(signal.SIGINT)
            server.wait()


def measure(browser, server):
    browser.get(server.stdout.readline().strip())
    while not browser.execute_script("return window.readyAt && window.firstPicture"):
        time.sleep(0.05)
    print(f"{browser.execute_script('return utrail.recording.calls')} calls")
    line("first picture", browser.execute_script("return window.firstPicture"), "ms", 1000)
    line("all read", browser.execute_script("return window.readyAt"), "ms")
    browser.set_script_timeout(300)
    middle, longest = browser.execute_async_script(ZOOM)
    line("a zoom, median", middle, "ms")
    line("a zoom, the longest of a hundred", longest, "ms", 300)
    middle, longest, told = browser.execute_async_script(TEXTS)
    line("what a call says, median", middle, "ms")
    line("what a call says, the longest of a hundred", longest, "ms", 100)
    line("calls that say something, of a hundred", told, "")
    heap, rss = memory_of(browser)
    line("the page's heap", heap, "MB")
    line("the tab", rss, "MB", 500)
    status = Path(f"/proc/{server.pid}/status").read_text()
    line("the server", int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000, "MB")
    ticks = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
    line("the server's CPU", (int(ticks[11]) + int(ticks[12])) * 10, "ms")


main()
