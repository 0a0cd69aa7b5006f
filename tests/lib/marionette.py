"""Controls Firefox by its own remote protocol: messages are "LENGTH:JSON" on a local socket.

Selenium would need geckodriver, which Debian lacks.
"""

import base64
import json
import shutil
import socket
import subprocess

from tools import wait_until

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's key for references to elements

PREFERENCES = """
user_pref("marionette.port", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
"""


class Firefox:
    """A headless Firefox with a profile of its own; close() ends it."""

    def __init__(self, profile):
        (profile / "user.js").write_text(PREFERENCES)
        command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        said = profile / "MarionetteActivePort"
        port = wait_until(lambda: said.exists() and said.read_text().strip())
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=120)
        self.answers = self.socket.makefile("rb")
        self.number = 0
        self.read()
        self.call("NewSession")

    def read(self):
        length = b""
        while (byte := self.answers.read(1)) != b":":
            assert byte, "Firefox has hung up"
            length += byte
        return json.loads(self.answers.read(int(length)))

    def call(self, command, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, f"WebDriver:{command}", parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.read()
        assert not error, error
        return result

    def get(self, address):
        self.call("Navigate", url=address)

    def js(self, code, *arguments):
        return self.call("ExecuteScript", script=code, args=list(arguments), sandbox=None)["value"]

    def find(self, selector):
        return self.call("FindElement", using="css selector", value=selector)["value"][ELEMENT]

    def click(self, selector):
        self.call("ElementClick", id=self.find(selector))

    def type(self, selector, text):
        self.call("ElementSendKeys", id=self.find(selector), text=text)

    def text(self, selector):
        return self.call("GetElementText", id=self.find(selector))["value"]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("TakeScreenshot", full=False)["value"]))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=60)
