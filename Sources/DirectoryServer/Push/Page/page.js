// SPDX-License-Identifier: Apache-2.0
// The page of a called person: notices on, the list of missed calls, choices, notices off.
"use strict";

const PAGE = location.pathname;
const find = (id) => document.getElementById(id);
const isIOS = /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
const isInstalled = matchMedia("(display-mode: standalone)").matches || navigator.standalone === true;
const canPush = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

const TEXTS = {
  invitation_invalid: "This link has been used or has expired. Ask for a new link.",
  not_registered: "This device gets no notices any more. Ask for a new link.",
  address_taken: "This browser has another registration here. Ask the operator to remove it.",
  TOO_MANY_DEVICES: "This number has too many devices. Ask the operator to remove one.",
  RATE_LIMIT_EXCEEDED: "There were too many requests. Try again in a minute.",
  PUSH_SERVICE_ERROR: "The push service of this browser has not taken the notice. Try again in a moment.",
  push_off: "This directory sends no notices.",
};

/** The invitation of a link or of a pasted text; null without one. */
const invitation = (text) => /(?:^|#)(hi_[A-Za-z0-9_-]{8,128})\s*$/.exec(text)?.[1] ?? null;

function report(text, kind = "warning") {
  const state = find("state");
  state.className = `notice ${kind}`;
  state.textContent = text;
  state.hidden = !text;
}

function explain(error) {
  if (error.code && TEXTS[error.code]) return report(TEXTS[error.code], "error");
  if (error.name === "TypeError" || error.name === "TimeoutError") return report("The directory cannot be reached. Try again later.", "error");
  if (error.name === "NotAllowedError") return report(denied, "error");
  if (error.name === "AbortError") return report("The push service of this browser cannot be reached. Try again later.", "error");
  report(error.message, "error");
}

const denied = "Notices of this site are blocked. Permit them in the settings of the browser, and open this page again.";

function showOnly(...ids) {
  for (const section of document.querySelectorAll("section")) section.hidden = !ids.includes(section.id);
}

/** Runs the work of a button, which cannot be pressed twice. */
async function busy(button, work) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    explain(error);
  } finally {
    button.disabled = false;
  }
}

function worker() {
  return navigator.serviceWorker.register("push/worker.js", { scope: "push", updateViaCache: "none" });
}

async function subscribe(link) {
  if (await Notification.requestPermission() !== "granted") return report(denied, "error");
  await worker();
  const subscription = await device.subscribe(await navigator.serviceWorker.ready);
  const made = await device.ask("POST", "devices", { body: { invitation: link, subscription: subscription.toJSON() } });
  const own = { secret: made.secret, endpoint: subscription.endpoint };
  await device.save(own);
  history.replaceState(null, "", PAGE);
  await registered(own, made);
  report("This device gets notices of missed calls.", "done");
}

/** Subscribes once more if the browser has lost or replaced its subscription. */
async function keepSubscription(own) {
  if (!canPush || Notification.permission !== "granted") return;
  await worker();
  const registration = await navigator.serviceWorker.ready;
  const subscription = await registration.pushManager.getSubscription() ?? await device.subscribe(registration);
  if (subscription.endpoint !== own.endpoint) await device.move(own, subscription);
}

async function registered(own, state) {
  const { device: found, preferences } = state ?? await device.ask("GET", "device", { secret: own.secret });
  showOnly("calls", "settings", ...(invitation(location.hash) ? ["offer"] : []));
  find("numbers").textContent = "Calls to " + found.numbers.filter((each) => each.confirmed).map((each) => each.number).join(", ");
  for (const field of find("choices").elements) {
    if (field.type === "checkbox") field.checked = preferences[field.name] === true;
    else field.value = preferences.privacy ?? "";
  }
  await list(own);
}

async function list(own) {
  const { calls } = await device.ask("GET", "calls", { secret: own.secret });
  find("none").hidden = calls.length > 0;
  find("list").replaceChildren(...calls.map(row));
  // Each card is asked for once, because the cards of an account may be off.
  const addresses = new Set(calls.map((call) => call.web_url).filter(Boolean));
  await Promise.all([...addresses].map(async (address) => {
    const url = await device.card(address);
    if (!url) return;
    for (const item of find("list").children) {
      if (item.dataset.card === address) item.querySelector(".brand").replaceChildren(link(url, item.dataset.name));
    }
  }));
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

/** A text of a brand, whose direction does not reach its neighbours. */
const bdi = (text) => element("bdi", text);

function link(url, name) {
  const made = element("a", "");
  made.href = url;
  made.append(bdi(name));
  return made;
}

function row(call) {
  const item = element("li", "");
  item.dataset.name = call.brand_name;
  if (call.web_url) item.dataset.card = call.web_url;
  const brand = element("span", "", "brand");
  brand.append(bdi(call.brand_name));
  const time = element("time", new Date(call.time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }));
  time.dateTime = call.time;
  const facts = element("span", "", "soft");
  facts.append(call.withdrawn ? "Answered or returned, " : "Missed, ", time, call.called ? `, to ${call.called}` : "");
  item.append(brand);
  if (call.reason) {
    const reason = element("span", "");
    reason.append(bdi(call.reason));
    item.append(reason);
  }
  item.append(facts);
  return item;
}

async function stop() {
  const own = await device.load();
  try {
    await device.ask("DELETE", "device", { secret: own.secret });
  } catch (error) {
    if (error.status !== 401) throw error;
  }
  await device.clear();
  const registration = canPush ? await navigator.serviceWorker.getRegistration(PAGE) : null;
  for (const notice of await registration?.getNotifications() ?? []) notice.close();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await registration?.unregister();
  showOnly("paste");
  report("This device gets no more notices. Its list is removed.", "done");
}

async function change(field) {
  const own = await device.load();
  const value = field.type === "checkbox" ? field.checked : field.value || null;
  await device.ask("PUT", "device/preferences", { secret: own.secret, body: { preferences: { [field.name]: value } } });
  report("Saved.", "done");
}

/** The next step of a browser without a registration. */
function unregistered() {
  if (canPush) {
    if (Notification.permission === "denied") {
      report(denied, "error");
      return showOnly();
    }
    return showOnly(invitation(location.hash) ? "offer" : "paste");
  }
  if (isIOS && !isInstalled) return showOnly("ios");
  showOnly();
  report(
    isSecureContext
      ? "This browser has no push messages. Open your link in another browser, such as Firefox, Chrome, Edge or Safari."
      : "This page needs https. Ask the operator for a link that begins with https.", "error");
}

async function begin() {
  const own = await device.load();
  if (!own) return unregistered();
  try {
    await registered(own);
  } catch (error) {
    if (error.status === 401) {
      await device.clear();
      unregistered();
      // A new link is here already.
      if (invitation(location.hash)) return;
    }
    throw error;
  }
  if (canPush && Notification.permission === "denied") return report(denied, "error");
  await keepSubscription(own);
}

async function refresh() {
  const own = await device.load();
  if (own && !find("calls").hidden) await list(own);
}

find("subscribe").addEventListener("click", (event) => busy(event.target, () => subscribe(invitation(location.hash))));
find("copy").addEventListener("click", (event) => busy(event.target, async () => {
  await navigator.clipboard.writeText(location.href);
  report("The link is copied.", "done");
}));
find("link").addEventListener("submit", (event) => {
  event.preventDefault();
  const found = invitation(find("link-text").value.trim());
  if (!found) return report("This is no link to this page. Copy the whole link that you have received.", "error");
  history.replaceState(null, "", `${PAGE}#${found}`);
  report("");
  showOnly("offer");
});
find("choices").addEventListener("submit", (event) => event.preventDefault());
find("choices").addEventListener("change", (event) => busy(event.target, () => change(event.target)));
find("test").addEventListener("click", (event) => busy(event.target, async () => {
  const own = await device.load();
  await device.ask("POST", "test", { secret: own.secret, body: {} });
  report("A test notice is on its way.", "done");
}));
find("stop").addEventListener("click", (event) => busy(event.target, stop));
window.addEventListener("hashchange", () => begin().catch(explain));
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") refresh().catch(() => {});
});
navigator.serviceWorker?.addEventListener("message", (event) => {
  if (event.data === "calls") refresh().catch(() => {});
});
begin().catch(explain);
