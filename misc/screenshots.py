#!/usr/bin/python3
"""Controls the browser for screenshots.sh.

usage: screenshots.py FOLDER PAGE.html... RECORDING

`utrail show` serves the RECORDING.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options

# Selects the longest call of level2() in the second task.
SELECT = """const { app, recording } = window.utrail, task = recording.tasks[1];
    let longest = -1;
    for (let i = 0; i < task.n; i++)
        if (recording.names[task.func(i)] === "level2" && !(task.dur[i] <= task.dur[longest])) longest = i;
    app.select([task, longest]);"""

# For each picture: its page, the fragment of its address, the width, True for dark colours, and the
# script that runs before the picture is taken.
PICTURES = {
    "timeline": ("tree", "view=timeline", 1280, False, ""),
    "selected": ("tree", "view=timeline&zoom=5ms~15ms&search=level2", 1280, False, SELECT),
    "flame": ("tree", "view=flame", 1280, False, ""),
    "function": ("tree", "view=functions&function=level3", 1280, False, ""),
    "range": ("tree", "view=timeline&range=12ms~16ms&search=level2", 1280, False, ""),
    "range-functions": ("tree", "view=functions&range=12ms~16ms", 1280, False, ""),
    "dark": ("tree", "view=timeline&search=leaf", 1280, True, ""),
    "dark-function": ("tree", "view=functions&function=level3", 1280, True, ""),
    "narrow": ("tree", "view=timeline", 400, False, ""),
    "narrow-functions": ("tree", "view=functions", 360, False, ""),
    "threads": ("many", "view=timeline&sort=calls", 1280, False, ""),
    "build": ("build", "view=processes", 1280, False, ""),
    "difference": ("difference", "view=flame&waits=no", 1280, False, ""),
    "difference-base": ("difference", "view=flame&waits=no&of=base", 1280, False, ""),
    "difference-functions": ("difference", "view=functions", 1280, False, ""),
    "difference-timelines": ("difference", "view=timeline&range=0ns~3ms&zoom=0ns~5ms&search=write_log", 1280, False, ""),
    "difference-dark": ("difference", "view=flame&waits=no", 1280, True, ""),
    "difference-narrow": ("difference", "view=functions", 400, False, ""),
    "source": ("source", "view=functions&function=parse", 1280, False, "document.getElementById('source').scrollIntoView()"),
    "events": ("source", "view=timeline&zoom=0ns~1ms", 1280, False, "const { app, recording, views } = window.utrail;"
               "app.selectEvent({ task: recording.tasks[0], at: 9 }); document.getElementById('kinds-button').click()"),
    "show": ("show", "view=timeline&zoom=8ms~14ms&search=level2", 1280, False, ""),
    "print": ("tree", "view=functions", 1280, True, "dispatchEvent(new Event('beforeprint'))"),
}


def main():
    folder, *pages, recording = sys.argv[1:]
    pages = {Path(page).stem: Path(page).resolve().as_uri() for page in pages}
    server = subprocess.Popen([os.environ["UTRAIL"], "show", "--no-browser", recording], stdout=subprocess.PIPE, text=True)
    pages["show"] = re.search(r"http://\S+", server.stdout.readline())[0]
    service = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE, text=True, cwd="/")
    port = next(m[1] for m in (re.search(r"started successfully on port (\d+)", line) for line in service.stdout) if m)
    options = Options()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as profile:
        for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        browser = webdriver.Remote(f"http://127.0.0.1:{port}", options=options)
        browser.command_executor._commands["devtools"] = ("POST", "/session/$sessionId/goog/cdp/execute")
        try:
            for name, picture in PICTURES.items():
                take(browser, Path(folder) / f"{name}.png", pages, *picture)
        finally:
            browser.quit()
            service.terminate()
            server.send_signal(signal.SIGINT)


def take(browser, path, pages, page, fragment, width, is_dark, before):
    def devtools(command, **parameters):
        browser.execute("devtools", {"cmd": command, "params": parameters})

    scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    devtools("Emulation.setEmulatedMedia", media="print" if "beforeprint" in before else "", features=[scheme])
    devtools("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
    browser.get("about:blank")
    browser.get(f"{pages[page]}#{fragment}")
    while not browser.execute_script("return 'ready' in document.documentElement.dataset"):
        time.sleep(0.05)
    browser.execute_script(before)
    time.sleep(0.3)
    browser.save_screenshot(str(path))
    print(path)


main()
