# SPDX-License-Identifier: Apache-2.0
"""A push service on loopback that opens each message as a browser does, and a browser that subscribes to it.

RFC 8030, 8188, 8291 and 8292; python3-cryptography and python3-websocket.
"""
import base64
import http.server
import json
import os
import queue
import threading
import time
import urllib.request

import websocket
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from heraldtest.child import Failed


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def derive(salt, secret, info, length):
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


class PushService:
    """Takes messages by HTTP; `messages` has their plain texts and `faults` each breach of a rule."""

    def __init__(self, host):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = os.urandom(16)
        self.messages, self.faults, self.last_path = queue.Queue(), [], ""
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.take(self.path, self.headers, body)
                self.send_response(201)
                self.send_header("Location", f"{service.origin}/message/1")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer((host, 0), Handler)
        self.server.daemon_threads = True
        self.origin = f"http://{host}:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def subscription(self):
        return {"endpoint": f"{self.origin}/push/device-1", "expirationTime": None,
                "keys": {"p256dh": encoded(point(self.key.public_key())), "auth": encoded(self.auth)}}

    def take(self, path, headers, body):
        try:
            self.must(path in ("/push/device-1", "/push/device-2"), f"unknown subscription {path}")
            self.last_path = path
            self.must(headers["TTL"].isdigit() and headers["Urgency"] in ("very-low", "low", "normal", "high"), "TTL, Urgency")
            self.must(headers["Content-Encoding"] == "aes128gcm", "Content-Encoding")
            self.check_token(headers["Authorization"])
            self.messages.put(self.opened(body))
        except Exception as fault:  # pylint: disable=broad-except
            self.faults.append(f"{type(fault).__name__}: {fault}")

    @staticmethod
    def must(is_true, what):
        if not is_true:
            raise Failed(what)

    def check_token(self, value):
        """RFC 8292 §2 and §3."""
        scheme, _, rest = value.partition(" ")
        self.must(scheme.lower() == "vapid", "scheme of Authorization")
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        header, claims, signature = parts["t"].split(".")
        raw = decoded(signature)
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(parts["k"]))
        try:
            key.verify(utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")),
                       f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature as fault:
            raise Failed("signature of the token") from fault
        claims = json.loads(decoded(claims))
        self.must(claims["aud"] == self.origin, f"aud {claims['aud']}")
        self.must(time.time() < claims["exp"] <= time.time() + 86_400, "exp")
        self.must(claims["sub"] == "mailto:ops@example.com", "sub")

    def opened(self, body):
        """RFC 8291 §3.4, RFC 8188 §2: one record."""
        salt, length = body[:16], body[20]
        sender, text = body[21:21 + length], body[21 + length:]
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = derive(self.auth, shared, b"WebPush: info\0" + point(self.key.public_key()) + sender, 32)
        key = derive(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        plain = AESGCM(key).decrypt(derive(salt, secret, b"Content-Encoding: nonce\0", 12), text, None).rstrip(b"\0")
        self.must(plain[-1] == 2, "delimiter of the last record")
        return plain[:-1].decode()

    def next(self, seconds=30):
        try:
            return self.messages.get(timeout=seconds)
        except queue.Empty:
            raise Failed(f"no push message came; faults: {self.faults}") from None

    @property
    def script(self):
        """Gives a page this service's subscription: Chromium subscribes to the service of its vendor alone."""
        return """(() => {
            const made = %s;
            const key = "own-subscription";
            const own = () => ({ endpoint: made.endpoint, toJSON: () => made,
                unsubscribe: async () => { sessionStorage.removeItem(key); return true; } });
            PushManager.prototype.subscribe = async (options) => {
                if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new TypeError("options");
                sessionStorage.setItem(key, "yes");
                return own();
            };
            PushManager.prototype.getSubscription = async () => sessionStorage.getItem(key) ? own() : null;
        })();""" % json.dumps(self.subscription)


class DevTools:
    """One connection to a target of a running Chromium; it gets events, which WebDriver does not pass on."""

    def __init__(self, address, kind, part):
        """`address`: of the debugger; `kind`, `part`: `page` or `service_worker`, and a part of its URL."""
        with urllib.request.urlopen(f"http://{address}/json/list", timeout=30) as response:
            targets = json.load(response)
        found = [target for target in targets if target["type"] == kind and part in target["url"]]
        if not found:
            raise Failed(f"Chromium has no {kind} with {part}: {[(each['type'], each['url']) for each in targets]}")
        self.socket = websocket.create_connection(found[0]["webSocketDebuggerUrl"], timeout=30, suppress_origin=True)
        self.events, self.last = [], 0

    def close(self):
        self.socket.close()

    def ask(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") != self.last:
                self.events.append(message)
            elif "error" in message:
                raise Failed(f"{method}: {message['error']}")
            else:
                return message["result"]

    def registration(self, scope):
        """The identifier of a worker's registration."""
        self.ask("ServiceWorker.enable")
        while True:
            for event in self.events:
                if event.get("method") == "ServiceWorker.workerRegistrationUpdated":
                    for each in event["params"]["registrations"]:
                        if each["scopeURL"] == scope and not each["isDeleted"]:
                            return each["registrationId"]
            self.events = [json.loads(self.socket.recv())]

    def value(self, expression):
        """The value of a script, also of its promise."""
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failed(f"script: {result['exceptionDetails']}")
        return result["result"].get("value")
