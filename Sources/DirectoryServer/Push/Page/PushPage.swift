// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// `/push`: the page behind an invitation, with its worker. It needs no login.
///
/// The invitation is in the fragment of the link, which browsers do not send. Every address of the page is relative, so
/// it works below any path of `public_url`.
struct PushPage: Sendable {
    /// A file of the page.
    private struct File: Sendable {
        let type: String
        let bytes: [UInt8]
    }

    /// False without Web Push, where the page has no use.
    let isOffered: Bool

    private static let files: [String: File] = {
        let script = "text/javascript; charset=utf-8"
        return [
            "page.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.page_css),
            "page.js": File(type: script, bytes: PackageResources.page_js),
            "device.js": File(type: script, bytes: PackageResources.device_js),
            "worker.js": File(type: script, bytes: PackageResources.worker_js),
            "manifest.webmanifest": File(
                type: "application/manifest+json", bytes: PackageResources.manifest_webmanifest),
            "icon.svg": File(type: "image/svg+xml", bytes: PackageResources.icon_svg),
            "icon-192.png": File(type: "image/png", bytes: PackageResources.icon_192_png),
            "icon-512.png": File(type: "image/png", bytes: PackageResources.icon_512_png),
        ]
    }()

    func add(to group: RouterGroup<KeyedContext>) {
        group.route("push", isOpenToHead: true) { request, _ in
            guard isOffered else { throw Refusal.pushIsOff }
            // Relative addresses of the page begin beside it.
            if request.uri.path.hasSuffix("/") {
                return Response(status: .permanentRedirect, headers: [.location: "../push"])
            }
            return Self.response(
                File(type: "text/html; charset=utf-8", bytes: PackageResources.page_html))
        }
        for (name, file) in Self.files {
            group.route("push/" + name, isOpenToHead: true) { _, _ in
                guard isOffered else { throw Refusal.pushIsOff }
                return Self.response(file, isWorker: name == "worker.js")
            }
        }
    }

    private static func response(_ file: File, isWorker: Bool = false) -> Response {
        var headers = safe
        headers[.contentType] = file.type
        // Relative to the worker; its scope has the page, which is beside its folder (Service Workers §4.1).
        if isWorker, let name = HTTPField.Name("Service-Worker-Allowed") { headers[name] = "../push" }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }

    /// Content-Security-Policy (W3C CSP 3) of own files alone, and its companions.
    private static let safe: HTTPFields = {
        var fields: HTTPFields = [
            .contentSecurityPolicy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                + "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
            // A browser has the page, the worker and their shared script of one version.
            .cacheControl: "no-cache",
        ]
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }()
}
