# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, used as a person uses a page: by labels, names, buttons, links and keys.

Debian's chromium, chromium-driver and python3-selenium.
"""
import base64
import os

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from heraldtest.child import Failed, wait_until

WIDE, PHONE = 1280, 390
LOOKS = [(WIDE, False), (WIDE, True), (PHONE, False), (PHONE, True)]

# Every finding as a text: what a person with a screen reader, a keyboard or weak eyes would miss.
with open(os.path.join(os.path.dirname(__file__), "findings.js"), encoding="utf-8") as script:
    FINDINGS = script.read()

# axe-core 4.12, which the steps prepare, and one text for each rule that it finds broken.
AXE = os.path.join(os.environ.get("PEERS", ""), "axe", "axe.min.js")
AXE_FINDINGS = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then(
  (found) => done(found.violations.map((rule) => `axe ${rule.id}: ${rule.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`)),
  (error) => done([`axe does not run: ${error.message}`]));
"""


def named(width, dark):
    """A look as a part of a file's name."""
    return f"{'phone' if width < 600 else 'wide'}-{'dark' if dark else 'light'}"


def quiet(report, browser, name, but=()):
    """Checks that the browser has no complaint since the last check, except those that contain one of the texts."""
    report.equal(f"{name}: complaints of the browser", browser.heard(but), [])


def is_gone(element):
    """True once another page has replaced the one of the element."""
    try:
        element.is_enabled()
        return False
    except WebDriverException:
        return True


class Browser:
    """One window of Chromium with its own cookies."""

    def __init__(self, folder, base="", trusts_any_certificate=False):
        """`folder`: for profile and pictures; `base`: the address of the site, before every path."""
        os.makedirs(folder, exist_ok=True)
        self.folder, self.base = folder, base
        self.complaints = []
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                       "--disable-background-networking", "--disable-component-update", "--lang=en",
                       f"--user-data-dir={os.path.join(folder, 'profile')}"):
            options.add_argument(option)
        if trusts_any_certificate:
            options.add_argument("--ignore-certificate-errors")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        except WebDriverException as trouble:
            raise Failed(f"Chromium does not start: {trouble.msg}") from trouble
        self.driver.set_page_load_timeout(60)
        self.look()

    def close(self):
        self.driver.quit()

    def look(self, width=WIDE, dark=False):
        """The width of the window, and light or dark colours."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, path):
        """A path of the site, or a whole address."""
        self.driver.get(path if "://" in path else self.base + path)
        self.listen()

    # What the browser says.

    def listen(self):
        """Keeps the complaints of the browser's log: refused scripts and styles, failed requests, errors of scripts."""
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.complaints.append(f"{self.path}: {entry['message']}")

    def heard(self, but=()):
        """The complaints since the last call, without those that contain one of the texts."""
        self.listen()
        heard, self.complaints = self.complaints, []
        return [text for text in heard if not any(part in text for part in but)]

    def findings(self):
        """What is wrong with the open page, by our own script and by axe-core."""
        if not self.driver.execute_script("return typeof axe === 'object'"):
            with open(AXE, encoding="utf-8") as script:
                self.driver.execute_script(script.read())
        return self.driver.execute_script(FINDINGS) + self.driver.execute_async_script(AXE_FINDINGS)

    # What the page has.

    @property
    def path(self):
        return self.driver.execute_script("return location.pathname + location.search")

    @property
    def title(self):
        return self.text("h1")

    @property
    def main(self):
        return self.text("main")

    def text(self, selector):
        """What a person reads in an element."""
        return self.driver.execute_script("return document.querySelector(arguments[0]).innerText", selector)

    def part(self, identifier):
        return self.driver.execute_script("return document.getElementById(arguments[0]).innerText", identifier)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def has(self, selector):
        try:
            return bool(self.find(selector))
        except NoSuchElementException:
            return False

    def picture_is_shown(self, selector):
        return self.driver.execute_script(
            "const i = document.querySelector(arguments[0]); return !!i && i.complete && i.naturalWidth > 0", selector)

    def wait_for(self, condition, what, seconds=30):
        wait_until(condition, seconds, what)

    # Fields of forms, by their label or their name.

    def field(self, label):
        """The input that a label names."""
        for element in self.driver.find_elements(By.TAG_NAME, "label"):
            if element.text.strip() == label:
                return self.driver.find_element(By.ID, element.get_attribute("for"))
        raise Failed(f"no field is labelled {label!r} on {self.path}")

    def value(self, label):
        return self.field(label).get_attribute("value")

    def fill(self, label, text):
        field = self.field(label)
        field.clear()
        field.send_keys(text)

    def choose(self, label, option):
        for element in self.field(label).find_elements(By.TAG_NAME, "option"):
            if element.text.strip() == option:
                element.click()
                return
        raise Failed(f"{label} has no option {option!r}")

    def write(self, name, text):
        """Writes into the field with a name, in place of its text."""
        field = self.find(f"main [name='{name}']")
        if field.tag_name == "select":
            Select(field).select_by_value(text)
        else:
            field.clear()
            field.send_keys(text)

    def problem(self, name):
        """The text beside a refused field."""
        field = self.find(f"main [name='{name}'][aria-invalid=true]")
        return self.find(f"[id='{field.get_attribute('id')}-problem']").text

    # Keys and clicks.

    @property
    def active(self):
        """The element that has the focus."""
        return self.driver.switch_to.active_element

    @property
    def focused(self):
        """Its text or its name."""
        return self.driver.execute_script(
            "const e = document.activeElement; return (e.textContent || e.name || e.id).trim() || e.id || e.tagName")

    def focus_is_visible(self):
        return self.driver.execute_script(
            "const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && s.outlineWidth !== '0px'")

    def key(self, *keys):
        """Keys to the element that has the focus."""
        for key in keys:
            webdriver.ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def tab_to(self, text):
        """The Tab key until an element with a text, or with a name, has the focus."""
        for _ in range(60):
            self.key("TAB")
            if text in (self.active.text, self.active.get_attribute("name")):
                return
        raise Failed(f"Tab does not reach {text!r} on {self.path}")

    def enter(self):
        """The Enter key, which sends a form or follows a link; returns when the next page is there."""
        self.leave(lambda: self.key("ENTER"))

    def press(self, text):
        """A button or a link by its text; returns when the next page is there."""
        def click():
            # One step of the browser, because a page that renews itself replaces its elements.
            element = self.driver.execute_script("""return [...document.querySelectorAll('button, a')]
                .find(e => e.innerText?.trim() === arguments[0]) || null""", text)
            if element is None:
                raise Failed(f"there is no button or link {text!r} on {self.path}")
            try:
                element.click()
            except StaleElementReferenceException:
                # The page has replaced it before the click.
                click()
        self.leave(click)

    def link(self, text):
        """A link by a part of its text."""
        self.leave(lambda: self.driver.find_element(By.PARTIAL_LINK_TEXT, text).click())

    def follow(self, selector, position=0):
        """One of the links that a CSS selector finds; returns its address when the next page is there."""
        link = self.all(selector)[position]
        address = link.get_attribute("href")
        self.leave(link.click)
        return address

    def leave(self, act):
        """Acts, and waits until another page has come, or another main part of it."""
        old = self.find("main")
        act()
        wait_until(lambda: is_gone(old) and self.driver.execute_script("return document.readyState") == "complete", 60,
                   "no other page comes")
        self.listen()

    def shoot(self, name):
        """A picture of the whole page."""
        width, height = self.driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1}})
        path = os.path.join(self.folder, name + ".png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
        return path
