# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that uses pages as a person does, and looks at what each page does wrong."""
import base64
import os

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

# Faults of the open page, as texts: accessibility, contrast (WCAG 2.2, 1.4.3) and width.
FAULTS = """
const faults = [];
const shown = (element) => element.getClientRects().length > 0;
if (document.querySelectorAll("h1").length !== 1) faults.push("not exactly one h1");
if (!document.documentElement.lang) faults.push("no language");
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
for (const id of ids) if (ids.filter((other) => other === id).length > 1) faults.push("twice the id " + id);
for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
  if (!field.labels.length) faults.push("no label: " + field.name);
for (const table of document.querySelectorAll("table"))
  if (!table.caption || !table.caption.textContent.trim()) faults.push("a table without caption");
for (const cell of document.querySelectorAll("td")) if (!cell.dataset.label) faults.push("a cell without data-label");
for (const picture of document.querySelectorAll("img")) {
  if (!picture.hasAttribute("alt")) faults.push("a picture without alt");
  if (picture.complete && !picture.naturalWidth) faults.push("a picture that does not load: " + picture.src);
}
for (const link of document.querySelectorAll("a, button"))
  if (!link.textContent.trim()) faults.push("a link or button without text");
if (document.documentElement.scrollWidth > innerWidth)
  faults.push("wider than the screen: " + document.documentElement.scrollWidth);
const color = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const light = (rgb) => {
  const [r, g, b] = rgb.slice(0, 3).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const found = color(getComputedStyle(at).backgroundColor);
    if (found.length === 3 || found[3] === 1) return found;
  }
  return [255, 255, 255];
};
for (const element of document.querySelectorAll("body *")) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!hasText || !shown(element) || element.disabled || element.closest("svg")) continue;
  const [one, other] = [light(color(getComputedStyle(element).color)), light(ground(element))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (ratio < 4.5) faults.push("contrast " + ratio.toFixed(2) + ": " + element.textContent.trim().slice(0, 40));
}
return faults;
"""


class Browser:
    def __init__(self, folder, base):
        """`folder`: where the profile and the pictures go; `base`: the address of the site."""
        self.folder, self.base = folder, base
        self.pictures = os.path.join(folder, "screenshots")
        os.makedirs(self.pictures, exist_ok=True)
        options = Options()
        for argument in [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--ignore-certificate-errors", "--disable-background-networking", "--window-size=1280,900",
            f"--user-data-dir={folder}/profile",
        ]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.binary_location = "/usr/bin/chromium"
        os.environ["HOME"] = folder
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def look(self, width=1280, dark=False):
        """Sets the width of the screen in pixels and the colours that the person prefers."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, path):
        self.driver.get(self.base + path)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector="main"):
        return self.find(selector).text

    def link(self, text):
        """Follows a link by its text."""
        self.leave(lambda: self.driver.find_element(By.PARTIAL_LINK_TEXT, text).click())

    def press(self, text, inside="main"):
        """Presses a button by its text."""
        for button in self.all(inside + " button"):
            if text in button.text:
                self.leave(button.click)
                return
        raise AssertionError(f"no button {text} on {self.driver.current_url}")

    def leave(self, action, patience=30):
        """Does something that opens another page, and waits for the new content."""
        old = self.find("main")
        action()
        WebDriverWait(self.driver, patience).until(lambda _: self.is_gone(old))
        WebDriverWait(self.driver, patience).until(
            lambda driver: driver.execute_script("return document.readyState") == "complete")

    @staticmethod
    def is_gone(element):
        try:
            element.is_enabled()
            return False
        except Exception:  # pylint: disable=broad-except
            # Chromium has several errors for an element of a page that was left.
            return True

    def write(self, name, text, inside="main"):
        """Writes into a field, in place of its text."""
        field = self.find(f"{inside} [name='{name}']")
        if field.tag_name == "select":
            Select(field).select_by_value(text)
        else:
            field.clear()
            field.send_keys(text)

    def problem(self, name):
        """The text beside a field."""
        field = self.find(f"main [name='{name}'][aria-invalid=true]")
        return self.find(f"[id='{field.get_attribute('id')}-problem']").text

    def picture(self, name):
        """A picture of the whole page."""
        height = self.driver.execute_script("return document.documentElement.scrollHeight")
        width = self.driver.execute_script("return innerWidth")
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot",
            {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        with open(os.path.join(self.pictures, name + ".png"), "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def faults(self):
        return self.driver.execute_script(FAULTS)

    def violations(self):
        """New lines of the browser's log about forbidden content and failed scripts."""
        return [
            line["message"] for line in self.driver.get_log("browser")
            if "Content Security Policy" in line["message"] or line["source"] in ("security", "javascript")]

    def stop(self):
        self.driver.quit()
