// SPDX-License-Identifier: Apache-2.0
// Renews parts of an open page from server-sent events, and opens a search on a wide screen. Pages work without it.
"use strict";

function follow(source) {
  const state = document.getElementById("live-state");
  const events = new EventSource(source);
  events.onopen = () => { if (state) state.textContent = ""; };
  events.onerror = () => {
    if (!state) return;
    state.textContent = events.readyState === EventSource.CLOSED
      ? "· the session has ended or too many pages are open; load the page again" : "· no connection, the page is not up to date";
  };
  events.addEventListener("part", (event) => {
    const end = event.data.indexOf("\n");
    const id = end < 0 ? event.data : event.data.slice(0, end);
    const part = document.getElementById(id);
    if (part && !part.contains(document.activeElement)) {
      const open = [...part.querySelectorAll("details[open]")].map((details) => details.id);
      // The server has escaped every value of this HTML.
      part.innerHTML = end < 0 ? "" : event.data.slice(end + 1);
      for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    }
    const forward = part && part.querySelector("a[data-forward]");
    if (forward) location.replace(forward.href);
  });
  window.addEventListener("pagehide", () => events.close());
}

// A search is folded on a phone alone. Without script the style sheet shows it.
if (matchMedia("(min-width: 40.01rem)").matches) {
  for (const search of document.querySelectorAll("details.filter")) search.open = true;
}

const live = document.querySelector("[data-live]");
if (live) follow(live.dataset.live);
