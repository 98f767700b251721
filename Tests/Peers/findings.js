// SPDX-License-Identifier: Apache-2.0
// The findings on an open page, as texts: structure, names, width, and contrast (WCAG 2.2, 1.4.3). Run inside a function.
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
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
for (const id of ids) if (ids.filter((other) => other === id).length > 1) found.push("twice the id " + id);
for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea, progress")) {
  if (!e.labels.length && !e.getAttribute("aria-label")) found.push("no label: " + e.name);
}
for (const e of document.querySelectorAll("a, button")) {
  if (!e.textContent.trim() && !e.getAttribute("aria-label")) found.push("no text: " + e.outerHTML);
}
for (const t of document.querySelectorAll("table")) {
  if (!t.caption || !t.caption.textContent.trim()) found.push("table without caption");
  for (const c of t.querySelectorAll("tbody td")) if (!c.dataset.label) found.push("cell without data-label: " + c.textContent);
}
for (const i of document.querySelectorAll("img, svg")) {
  // A plot that is hidden from screen readers has a table beside it.
  if (!i.hasAttribute("alt") && !i.getAttribute("aria-label") && !i.closest("[aria-hidden=true]")) found.push("picture without text");
  if (i.complete && i.naturalWidth === 0) found.push("a picture that does not load: " + i.src);
}
if (document.documentElement.scrollWidth > innerWidth + 1) found.push("wider than the window: " + document.documentElement.scrollWidth);
for (const e of document.querySelectorAll(".tile *, .card *, .wide *, .notice *")) {
  const frame = e.closest(".wide") || e.closest(".tile, .card, .notice");
  if (visible(e) && !e.closest("pre, figure.report") && e.getBoundingClientRect().right > frame.getBoundingClientRect().right + 1) {
    found.push("sticks out of its frame: " + e.textContent.trim().slice(0, 40));
  }
}
// A part that scrolls can be scrolled by keys.
for (const e of document.querySelectorAll("pre, .wide, figure")) {
  if (visible(e) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 && !e.querySelector("a, button, input")) {
    found.push("scrolls by mouse alone: " + e.textContent.trim().slice(0, 40));
  }
}
// Controls of one row have one height.
for (const row of document.querySelectorAll("form.line, .buttons, .session")) {
  const heights = [...row.querySelectorAll("input:not([type=hidden]), select, button, a.button")].filter(visible)
    .map((e) => Math.round(e.getBoundingClientRect().height));
  if (new Set(heights).size > 1) found.push("controls of several heights: " + heights.join(", "));
}
const numbers = (c) => (c.match(/[\d.]+/g) || []).map(Number);
const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !visible(e) || e.disabled || e.closest("svg")) continue;
  let ground = e, colour;
  do { colour = numbers(getComputedStyle(ground).backgroundColor); ground = ground.parentElement; }
  while (ground && colour.length > 3 && colour[3] === 0);
  const [a, b] = [light(numbers(getComputedStyle(e).color)), light(colour)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push("contrast " + ratio.toFixed(1) + ": " + walker.currentNode.textContent.trim().slice(0, 40));
}
return found;
