// SPDX-License-Identifier: Apache-2.0
// Shows the notices of the directory, and opens the card of their caller. Payload: PushSending, WebPushPayload.
"use strict";

importScripts("device.js");

const PAGE = new URL("../push", self.location).href;
const ICON = new URL("icon-192.png", self.location).href;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(show(read(event.data))));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event)));

/** A text without control characters and marks of direction; empty for another type. */
function plain(value, most) {
  if (typeof value !== "string") return "";
  return value.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, " ").slice(0, most).trim();
}

/** The parts of a payload; those that are missing or malformed are empty. */
function read(data) {
  let value = null;
  try {
    value = data?.json();
  } catch { /* It is no JSON. */ }
  const message = Object(value);
  const more = Object(message.data);
  const seconds = Number(more.sent_at);
  return {
    title: plain(message.title, 256), body: plain(message.body, 1024), tag: plain(more.tag, 128),
    url: plain(more.web_url, 2048), time: seconds > 0 && seconds < 1e11 ? seconds * 1000 : Date.now(),
  };
}

async function show(message) {
  const notice = message.title ? message : { ...message, ...await withoutText(message.tag) };
  await self.registration.showNotification(notice.title, {
    body: notice.body, tag: notice.tag, icon: ICON, badge: ICON, timestamp: notice.time, lang: "en",
    silent: notice.isQuiet === true, data: { url: await device.card(notice.url) },
  });
  for (const client of await self.clients.matchAll({ type: "window" })) client.postMessage("calls");
}

/**
 * The texts of a message without any, which is a new one of a device with privacy, or takes the place of one that is no
 * longer true. The list of the device has the difference. A push must show something, so a withdrawn notice is replaced.
 */
async function withoutText(tag) {
  let call;
  try {
    const own = await device.load();
    const { calls } = await device.ask("GET", "calls", { secret: own.secret });
    call = calls.find((each) => each.id === tag);
  } catch { /* No connection, or no registration any more. */ }
  if (call?.withdrawn) return { title: "Answered or returned", body: "", isQuiet: true };
  if (call) return { title: "Missed call", body: "" };
  return { title: "There is news about your calls", body: "", isQuiet: true };
}

async function open(data) {
  const url = typeof data?.url === "string" ? data.url : PAGE;
  for (const client of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (client.url.split("#")[0] === url) return client.focus();
  }
  return self.clients.openWindow(url);
}

async function renew(event) {
  const own = await device.load();
  if (own) await device.move(own, event.newSubscription ?? await device.subscribe(self.registration));
}
