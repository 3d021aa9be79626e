# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A page in headless Chromium, driven over the DevTools protocol through a pair
# of pipes: the standard library is enough. The browser has no network: every
# name resolves to nothing, and what the page asks for is recorded.

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = [
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
    "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--disable-extensions", "--disable-sync", "--hide-scrollbars",
    "--force-color-profile=srgb", "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank",
]


def find_browser():
    """The path of a browser, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class PageError(Exception):
    """What the browser, or a script in it, refused."""


class Page:
    """One tab. Use as a context manager."""

    def __init__(self, width, height, dark=False, timeout=300):
        self.timeout = timeout
        self.requests, self.complaints, self.events = [], [], []
        self.next_id, self.session = 0, None
        self.profile = tempfile.TemporaryDirectory(prefix="cutback-page-")
        self.process = self._start()
        target = self.call("Target.createTarget", url="about:blank")
        attached = self.call("Target.attachToTarget", flatten=True,
                             targetId=target["targetId"])
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.set_dark(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
        except (OSError, PageError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def _start(self):
        browser = find_browser()
        if browser is None:
            raise PageError("no chromium; tools/dev/bootstrap --with-browser")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # Out of the way of the numbers 3 and 4, which the browser uses.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 20)
                for end in (to_browser, from_browser)]

        def connect():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        process = subprocess.Popen(
            [browser, "--user-data-dir=" + self.profile.name] + SWITCHES,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=connect, pass_fds=(3, 4))
        for end in [to_browser, from_browser] + high:
            os.close(end)
        self.buffer = b""
        return process

    def _receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.read_end], [], [], max(left, 0))
            if not ready:
                raise PageError("the browser does not answer")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise PageError("the browser went away")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        """Remembers what the page asked for and complained about."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description",
                                                    details["text"])
            self.complaints.append("exception: " + text)
        elif method == "Runtime.consoleAPICalled" and \
                params["type"] in ("error", "warning", "assert"):
            self.complaints.append("console: %s" % params["args"])
        elif method == "Log.entryAdded" and \
                params["entry"]["level"] in ("error", "warning"):
            self.complaints.append("log: " + params["entry"]["text"])
        self.events.append(method)

    def call(self, method, **params):
        """Calls a method of the protocol; returns its result."""
        self.next_id += 1
        number = self.next_id
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") != number:
                self._note(answer)
            elif "error" in answer:
                raise PageError("%s: %s" % (method, answer["error"]))
            else:
                return answer["result"]

    def open(self, path):
        """Loads a file and returns the seconds until it is drawn."""
        started = time.monotonic()
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            self._note(self._receive(started + self.timeout))
        self.run("new Promise(done => requestAnimationFrame(() =>"
                 " requestAnimationFrame(done)))")
        return time.monotonic() - started

    def run(self, script):
        """The value of an expression in the page, awaited."""
        answer = self.call("Runtime.evaluate", expression=script,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get(
                "description", details["text"]))
        return answer["result"].get("value")

    def resize(self, width, height):
        self.width = width
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)

    def set_dark(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def press(self, key, text=""):
        """A key, as a person presses it."""
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40,
                 "ArrowUp": 38, "Home": 36, "End": 35, "Enter": 13,
                 "Escape": 27, "Tab": 9}
        # The codes of marks are those of other keys: "(" would be an arrow.
        code = codes.get(key, ord(key.upper()) if len(key) == 1 and
                         key.isalnum() and key.isascii() else 0)
        about = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent",
                  type="keyDown" if text else "rawKeyDown", text=text, **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def mouse(self, kind, x, y, held=False):
        """Moves the mouse ("Moved"), or its left button ("Pressed",
        "Released"), in pixels of the window."""
        isButton = kind != "Moved"
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y,
                  button="left" if isButton or held else "none",
                  buttons=1 if kind == "Pressed" or held else 0,
                  clickCount=1 if isButton else 0)

    def reload(self):
        """Loads the page again, with its fragment."""
        self.events.clear()
        self.call("Page.reload")
        deadline = time.monotonic() + self.timeout
        while "Page.loadEventFired" not in self.events:
            self._note(self._receive(deadline))
        self.settle(0.3)

    def settle(self, seconds=0.15):
        """Waits until what the last key or click set off is drawn."""
        self.run("new Promise(done => setTimeout(done, %d))"
                 % int(seconds * 1000))

    def picture(self, path, whole=False, clip=None):
        """Writes a PNG of the window, of the whole page, or of a part."""
        part = {"clip": clip} if clip else {}
        answer = self.call("Page.captureScreenshot", format="png",
                           captureBeyondViewport=whole or bool(clip), **part)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
