# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, used as a person uses a page: by labels, buttons, links and keys. Debian's chromium and selenium."""
import os

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from heraldtest.child import Failed, wait_until

WIDE, PHONE = 1280, 390

# Every finding as a text: what a person with a screen reader, a keyboard or weak eyes would miss.
FINDINGS = r"""
const found = [];
const visible = (e) => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
if (document.querySelectorAll("h1").length !== 1) found.push("not exactly one h1");
if (!document.title || !document.documentElement.lang) found.push("no title or no language");
let level = 0;
for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
  const n = Number(h.tagName[1]);
  if (n > level + 1) found.push("heading level skipped: " + h.textContent);
  level = n;
}
for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
  if (!e.labels.length && !e.getAttribute("aria-label")) found.push("no label: " + e.name);
}
for (const e of document.querySelectorAll("a, button")) {
  if (!e.textContent.trim() && !e.getAttribute("aria-label")) found.push("no text: " + e.outerHTML);
}
for (const t of document.querySelectorAll("table")) {
  if (!t.caption) found.push("table without caption");
  for (const c of t.querySelectorAll("tbody td")) if (!c.dataset.label) found.push("cell without data-label: " + c.textContent);
}
for (const i of document.querySelectorAll("img, svg")) {
  if (!i.getAttribute("alt") && !i.getAttribute("aria-label")) found.push("picture without text");
}
if (document.documentElement.scrollWidth > innerWidth + 1) found.push("wider than the window: " + document.documentElement.scrollWidth);
for (const e of document.querySelectorAll(".tile *, .card *, .wide *, .notice *")) {
  const frame = e.closest(".wide") || e.closest(".tile, .card, .notice");
  if (visible(e) && !e.closest("pre") && e.getBoundingClientRect().right > frame.getBoundingClientRect().right + 1) {
    found.push("sticks out of its frame: " + e.textContent.trim().slice(0, 40));
  }
}
const numbers = (c) => c.match(/[\d.]+/g).map(Number);
const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !visible(e)) continue;
  let ground = e, colour;
  do { colour = numbers(getComputedStyle(ground).backgroundColor); ground = ground.parentElement; }
  while (ground && colour.length > 3 && colour[3] === 0);
  const [a, b] = [light(numbers(getComputedStyle(e).color)), light(colour)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push("contrast " + ratio.toFixed(1) + ": " + walker.currentNode.textContent.trim().slice(0, 40));
}
return found;
"""


def is_gone(element):
    """True once another page has replaced the one of the element."""
    try:
        element.is_enabled()
        return False
    except WebDriverException:
        return True


class Browser:
    """One window of Chromium with its own cookies."""

    def __init__(self, folder, trusts_any_certificate=False):
        """`folder`: for profile and screenshots."""
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
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
        self.width = width
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, url):
        self.driver.get(url)
        self.listen()

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

    @property
    def path(self):
        return self.driver.execute_script("return location.pathname + location.search")

    @property
    def title(self):
        return self.driver.execute_script("return document.querySelector('h1').innerText")

    @property
    def text(self):
        """What a person reads."""
        return self.driver.execute_script("return document.body.innerText")

    @property
    def main(self):
        return self.driver.execute_script("return document.querySelector('main').innerText")

    def value(self, label):
        return self.field(label).get_attribute("value")

    def field(self, label):
        """The input that a label names."""
        for element in self.driver.find_elements(By.TAG_NAME, "label"):
            if element.text.strip() == label:
                return self.driver.find_element(By.ID, element.get_attribute("for"))
        raise Failed(f"no field is labelled {label!r} on {self.path}")

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

    def press(self, text):
        """A button or a link by its text; returns when the next page is there."""
        for element in self.driver.find_elements(By.CSS_SELECTOR, "button, a"):
            if element.text.strip() == text:
                self.leave(element.click)
                return
        raise Failed(f"there is no button or link {text!r} on {self.path}")

    def key(self, *keys):
        """Keys to the element that has the focus."""
        for key in keys:
            webdriver.ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def enter(self):
        """The Enter key, which sends a form or follows a link; returns when the next page is there."""
        self.leave(lambda: self.key("ENTER"))

    def follow(self, selector, position=0):
        """One of the links that a CSS selector finds; returns its address when the next page is there."""
        link = self.driver.find_elements(By.CSS_SELECTOR, selector)[position]
        address = link.get_attribute("href")
        self.leave(link.click)
        return address

    def leave(self, act):
        """Acts, and waits until another page has come."""
        old = self.driver.find_element(By.TAG_NAME, "html")
        act()
        wait_until(lambda: is_gone(old) and self.driver.execute_script("return document.readyState") == "complete", 30,
                   "no other page comes")
        self.listen()

    @property
    def focused(self):
        """The text or the name of the element that has the focus."""
        return self.driver.execute_script(
            "const e = document.activeElement; return (e.textContent || e.name || e.id).trim() || e.id || e.tagName")

    def focus_is_visible(self):
        return self.driver.execute_script(
            "const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && s.outlineWidth !== '0px'")

    def part(self, identifier):
        return self.driver.execute_script("return document.getElementById(arguments[0]).innerText", identifier)

    def has(self, selector):
        try:
            return bool(self.driver.find_element(By.CSS_SELECTOR, selector))
        except NoSuchElementException:
            return False

    def picture_is_shown(self, selector):
        return self.driver.execute_script(
            "const i = document.querySelector(arguments[0]); return !!i && i.complete && i.naturalWidth > 0", selector)

    def findings(self):
        return self.driver.execute_script(FINDINGS)

    def wait_for(self, condition, what, seconds=30):
        wait_until(condition, seconds, what)

    def shoot(self, name):
        """A picture of the whole page."""
        height = self.driver.execute_script("return Math.max(document.documentElement.scrollHeight, 300)")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": self.width, "height": min(height, 6000), "deviceScaleFactor": 1, "mobile": self.width < 600})
        path = os.path.join(self.folder, name + ".png")
        self.driver.save_screenshot(path)
        return path
