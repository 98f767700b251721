// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The files with which phones learn that an app opens the links of this host.
///
/// Phones fetch them without a key and follow no redirect. Sources: Apple, "Supporting associated domains" and
/// `applinks.Details`; Google, Digital Asset Links, "Statement lists".
struct AppLinkFiles: Sendable {
    let links: @Sendable () -> AppLinks
    /// The server's URL for clients; nil without one.
    let base: String?

    /// `GET /.well-known/apple-app-site-association`; 404 without an app.
    func apple() throws -> Response {
        let apps = links().iosApps
        guard !apps.isEmpty else { throw Self.missing }
        let path = base.flatMap { URLComponents(string: $0)?.percentEncodedPath } ?? ""
        let cards = (path.hasSuffix("/") ? String(path.dropLast()) : path) + "/b/*"
        let components: JSONValue = .array([.object(["/": .string(cards), "comment": .string("Brand cards")])])
        return Self.response(
            .object([
                "applinks": .object([
                    "details": .array([
                        .object(["appIDs": .array(apps.map { .string($0) }), "components": components])
                    ])
                ])
            ]))
    }

    /// `GET /.well-known/assetlinks.json`; 404 without an app.
    func android() throws -> Response {
        let apps = links().androidApps
        guard !apps.isEmpty else { throw Self.missing }
        return Self.response(
            .array(
                apps.map { app in
                    .object([
                        "relation": .array([.string("delegate_permission/common.handle_all_urls")]),
                        "target": .object([
                            "namespace": .string("android_app"), "package_name": .string(app.package),
                            "sha256_cert_fingerprints": .array(app.fingerprints.map { .string($0) }),
                        ]),
                    ])
                }))
    }

    private static let missing = Refusal.notFound("The configuration has no such app below links")

    private static func response(_ value: JSONValue) -> Response {
        var text = JSONText()
        text.value(value)
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "public, max-age=3600"],
            body: .init(byteBuffer: ByteBuffer(bytes: text.bytes)))
    }
}
