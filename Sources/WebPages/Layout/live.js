// SPDX-License-Identifier: Apache-2.0
// Renews parts of an open page from server-sent events, and sends chosen files. Pages work without it.
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

// <form data-file-to="/path"> with an <input type="file">: the file becomes the body of a POST, the response is shown.
async function send(form) {
  const file = form.querySelector("input[type=file]").files[0];
  if (!file) return;
  const url = new URL(form.dataset.fileTo, location.href);
  for (const field of form.querySelectorAll("input[name], select[name]")) {
    if (field.type === "file" || field.name === "token" || (field.type === "checkbox" && !field.checked)) continue;
    url.searchParams.set(field.name, field.value);
  }
  const button = form.querySelector("button");
  const label = button.textContent;
  button.disabled = true;
  button.textContent = "Sending the file …";
  try {
    const response = await fetch(url, {
      method: "POST", body: file, headers: { "X-Form-Token": document.body.dataset.token, "Content-Type": file.type || "application/octet-stream" },
    });
    if (response.redirected) { location.assign(response.url); return; }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.querySelector("main").focus();
    begin();
  } catch (error) {
    button.disabled = false;
    button.textContent = label;
    const text = document.createElement("p");
    text.className = "notice error";
    text.setAttribute("role", "alert");
    text.textContent = "The file could not be sent: " + error;
    form.prepend(text);
  }
}

function begin() {
  for (const form of document.querySelectorAll("form[data-file-to]")) {
    form.addEventListener("submit", (event) => { event.preventDefault(); send(form); });
  }
}

const live = document.querySelector("[data-live]");
if (live) follow(live.dataset.live);
begin();
