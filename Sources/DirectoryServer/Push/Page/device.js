// SPDX-License-Identifier: Apache-2.0
// The registration of this browser, for the page and for its worker: what is kept, and requests with it.
"use strict";

const device = (() => {
  const base = self.document ? document.currentScript.src : self.location.href;
  const api = new URL("api/", base);

  const open = () => new Promise((done, fail) => {
    const request = indexedDB.open("missed-calls", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("device");
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

  const run = async (mode, act) => {
    const database = await open();
    try {
      return await new Promise((done, fail) => {
        const transaction = database.transaction("device", mode);
        const request = act(transaction.objectStore("device"));
        transaction.oncomplete = () => done(request.result);
        transaction.onabort = () => fail(transaction.error);
      });
    } finally {
      database.close();
    }
  };

  /** `{secret, endpoint}`, or undefined if this browser has no registration. */
  const load = () => run("readonly", (store) => store.get("own"));
  const save = (own) => run("readwrite", (store) => store.put(own, "own"));
  const clear = () => run("readwrite", (store) => store.delete("own"));

  class Refused extends Error {
    constructor(status, body) {
      super(typeof body.error === "string" ? body.error : `the directory returned ${status}`);
      this.status = status;
      this.code = body.code;
    }
  }

  /** Sends a request; throws Refused for a status of 400 or more, and TypeError without a connection. */
  const ask = async (method, path, { body, secret } = {}) => {
    const headers = {};
    if (secret) headers.Authorization = `Bearer ${secret}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await fetch(new URL(path, api), {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "omit", cache: "no-store",
      signal: AbortSignal.timeout(15000),
    });
    let value = {};
    try {
      value = await response.json();
    } catch { /* A proxy has responded with a page of its own. */ }
    if (!response.ok) throw new Refused(response.status, value ?? {});
    return value;
  };

  /** A subscription of this browser with the directory's key. */
  const subscribe = async (registration) => {
    const { public_key: text } = await ask("GET", "key");
    const key = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const options = { userVisibleOnly: true, applicationServerKey: key };
    try {
      return await registration.pushManager.subscribe(options);
    } catch (error) {
      // A subscription with an earlier key of the directory is in the way.
      const old = error.name === "InvalidStateError" ? await registration.pushManager.getSubscription() : null;
      if (!old) throw error;
      await old.unsubscribe();
      return registration.pushManager.subscribe(options);
    }
  };

  /** Sends another subscription of this browser to the directory. */
  const move = async (own, subscription) => {
    await ask("PUT", "device", { secret: own.secret, body: { subscription: subscription.toJSON() } });
    await save({ ...own, endpoint: subscription.endpoint });
  };

  /** The address if it is a card of this directory that people can read; null otherwise. */
  const card = async (text) => {
    try {
      const url = new URL(text);
      if (!url.href.startsWith(new URL("../../b/", api).href)) return null;
      const response = await fetch(url, {
        method: "HEAD", redirect: "error", credentials: "omit", signal: AbortSignal.timeout(3000),
      });
      return response.ok ? url.href : null;
    } catch {
      return null;
    }
  };

  return { load, save, clear, ask, subscribe, move, card };
})();
