// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySyncTesting
import GatewayTesting
import Primitives
import Synchronization
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

// What an account of the section `directory` has, the account of a customer has too.

extension RunningCustomerTests {
    /// A directory without brands, which knows the caller of `offer` by lookup only, and asks for a debug upload.
    private static func knowing(_ name: String) throws -> FaultyPeer {
        try FaultyPeer { request, _ in
            if request.path.hasSuffix("/branding/sync") {
                return .json(
                    """
                    {"branding": [], "synced_at": "2026-05-04T10:15:00Z", "config": {"branding_enabled": true,
                    "debug_ui": {"enabled": true, "request_upload": true, "allow_export": true}}}
                    """)
            }
            if request.path.hasSuffix("/branding/lookup") {
                return .json(
                    """
                    {"e164": "+61255501001", "brand_name": "\(name)", "call_reason": "",
                    "updated_at": "2026-05-04T10:11:12Z"}
                    """)
            }
            guard request.method == "POST" else { return .refusal(404) }
            return request.path.hasSuffix("/debug/upload") ? .json(#"{"success": true, "id": "u-1"}"#) : taken
        }
    }

    private static func lookups(at directory: FaultyPeer) -> [String] {
        directory.requests.map(\.path).filter { $0.hasSuffix("/branding/lookup") }
    }

    /// The customers of `sections`, each with more keys in its section `directory`.
    private func sections(
        _ customers: [(name: String, directory: FaultyPeer)], with keys: String
    ) -> ConfigurationText {
        let text = sections(customers)
        let accounts = customers.map { name, directory in
            "{name: \(name), directory: {url: '\(directory.url)', api_key_file: \(name), timeout: 1s, \(keys)}}"
        }
        return text.with("customers", "[\(accounts.joined(separator: ", "))]")
    }

    @Test func `an unknown caller is looked up at the directory of the call's customer, and at no other`() async throws
    {
        let (acme, beta) = (try Self.knowing("Acme Acres"), try Self.knowing("Beta Bank"))
        let lookup = "lookup: {enabled: true, per_minute: 600}"
        let start = try fixture.start(sections([("acme", acme), ("beta", beta)], with: lookup))
        try await fixture.run(start) { _ in
            #expect(await !place("first", to: "+61255502001").contains("Acme Acres"))
            try await placeBranded("next", to: "+61255502001", as: "Acme Acres")
            #expect(!Self.lookups(at: acme).isEmpty && Self.lookups(at: beta).isEmpty)
            #expect(await !place("other", to: "+61255502002").contains("Acme Acres"))
            try await placeBranded("own", to: "+61255502002", as: "Beta Bank")
            #expect(!Self.lookups(at: beta).isEmpty)
            #expect(await place("again", to: "+61255502001").contains("Acme Acres"))
        }
        #expect(Self.keys(of: acme) == ["key-of-acme"] && Self.keys(of: beta) == ["key-of-beta"])
        for directory in [acme, beta] { directory.close() }
    }

    @Test func `a debug upload of a customer says nothing about another customer`() async throws {
        let (acme, beta) = (try Self.knowing("Acme Acres"), try Self.knowing("Beta Bank"))
        let start = try fixture.start(sections([("acme", acme), ("beta", beta)], with: "debug_upload: true"))
        start.log.recent.append("herald: of nobody")
        start.log.recent.append("herald.customers: of beta customer=acme", customer: "beta")
        start.log.recent.append("herald.customers: of acme", customer: "acme")
        try await fixture.run(start) { _ in
            func upload(_ directory: FaultyPeer) -> FaultyPeer.Request? {
                directory.requests.first { $0.path.hasSuffix("/debug/upload") }
            }
            try await until { upload(acme) != nil && upload(beta) != nil }
            let body = try #require(upload(acme)?.body)
            let sent = try JSONDecoder().decode(DebugUpload.self, from: Data(body.utf8))
            #expect(sent.logs?.contains("of acme") == true && sent.logs?.contains("of beta") == false)
            #expect(!body.contains("of nobody") && !body.contains("beta"), "\(body)")
            guard case .object(let state) = sent.state, case .array(let rows) = state["customers"] else {
                Issue.record("no rows in \(body)")
                return
            }
            #expect(rows.count == 1)
            let folder = URL(
                fileURLWithPath: CustomerFolders.link(of: "acme", in: start.configuration.state)
            ).resolvingSymlinksInPath().path
            try await until { FileManager.default.fileExists(atPath: folder + "/debug-upload.json") }
        }
        for directory in [acme, beta] { directory.close() }
    }

    /// A directory with one brand, whose logo it has itself: a picture of this width.
    private static func showing(_ name: String, width: Int) throws -> FaultyPeer {
        let port = Mutex(0)
        let directory = try FaultyPeer { request, _ in
            if request.path.hasSuffix("/branding/sync") {
                return .json(
                    """
                    {"branding": [{"phone_number_e164": "+61255501001", "brand_name": "\(name)", "call_reason": "",
                    "logo_url": "http://127.0.0.1:\(port.withLock { $0 })/logo.png",
                    "updated_at": "2026-05-04T10:11:12Z"}], "synced_at": "2026-05-04T10:15:00Z",
                    "config": {"branding_enabled": true, "mode": "live"}}
                    """)
            }
            if request.path.hasSuffix("/logo.png") { return .picture(Picture.png(width: width)) }
            return request.method == "POST" ? taken : .refusal(404)
        }
        port.withLock { $0 = Int(directory.port) }
        return directory
    }

    /// The URL of the logo in an INVITE.
    private static func icon(_ invite: String) -> String? {
        invite.components(separatedBy: "\r\n").first { $0.hasPrefix("Call-Info: <http") }?
            .split(whereSeparator: { "<>".contains($0) }).dropFirst().first.map(String.init)
    }

    @Test func `phones get the logo, the picture and the phonebook of the call's customer, and of no other`()
        async throws
    {
        let (acme, beta) = (try Self.showing("Acme Acres", width: 5), try Self.showing("Beta Bank", width: 7))
        let port = ReservedPort.next()
        let listener = "listen: '127.0.0.1:\(port)', scale: false, allow_http: true, allow_private: true"
        func configuration(_ withLogos: [String]) -> ConfigurationText {
            let accounts = [("acme", acme), ("beta", beta)].map { name, directory in
                let logos = withLogos.contains(name) ? ", logos: {hosts: ['127.0.0.1:\(directory.port)']}" : ""
                return
                    "{name: \(name), directory: {url: '\(directory.url)', api_key_file: \(name), timeout: 1s}\(logos)}"
            }
            return sections([("acme", acme), ("beta", beta)])
                .with("customers", "[\(accounts.joined(separator: ", "))]")
                .with("branding", "{allow_insecure_logos: true}")
                .with("logos", "{\(listener), missing: none, pictures: true, phonebook: true}")
        }
        let (with, without) = (configuration(["acme", "beta"]), configuration(["beta"]))
        let folder = fixture.folder
        // The start fetches logos after a pause of up to 20 s, a reload at once.
        let start = try fixture.start(with)
        try await fixture.run(start) { reload in
            try folder.write(without)
            #expect(await reload.run() == .applied(waiting: []))
            try await placeBranded("none", to: "+61255502001", as: "Acme Acres")
            #expect(Self.icon(await place("without", to: "+61255502001")) == "http://127.0.0.1:\(acme.port)/logo.png")
            try folder.write(with)
            #expect(await reload.run() == .applied(waiting: []))
            func logo(_ name: String, _ number: String) async throws -> String {
                for attempt in 0... {
                    let invite = await place("\(name)-logo-\(attempt)", to: number)
                    if let url = Self.icon(invite), url.contains("/customers/") { return url }
                    try await Task.sleep(for: .milliseconds(20))
                }
                return ""
            }
            let urls = [try await logo("acme", "+61255502001"), try await logo("beta", "+61255502002")]
            let files = urls.compactMap { $0.split(separator: "/").last }
            #expect(urls[0] == "http://127.0.0.1:\(port)/customers/acme/logos/\(files[0])")
            #expect(urls[1] == "http://127.0.0.1:\(port)/customers/beta/logos/\(files[1])")
            #expect(files[0].hasSuffix("-2x5.png") && files[1].hasSuffix("-2x7.png"), "\(files)")
            func get(_ path: String) async throws -> ReceivedResponse {
                try await LoopbackClient.get(path, port: Int(port))
            }
            for (path, isThere) in [
                ("/customers/acme/logos/\(files[0])", true), ("/customers/acme/logos/\(files[1])", false),
                ("/customers/beta/logos/\(files[0])", false), ("/logos/\(files[0])", false),
                ("/customers/gamma/logos/\(files[0])", false), ("/pictures/+61255501001.png", false),
                ("/customers/acme/pictures/+61255501001.png", true),
            ] {
                let response = try await get(path)
                #expect(response.head.hasPrefix("HTTP/1.1 \(isThere ? 200 : 404)"), "\(path): \(response.head)")
            }
            // Lines of a vCard are folded.
            let book = try await get("/customers/acme/phonebook/brands.vcf").text.replacing("\r\n ", with: "")
            #expect(book.contains("Acme Acres") && !book.contains("Beta Bank") && book.contains(urls[0]), "\(book)")
            #expect(try await get("/phonebook/brands.vcf").text.isEmpty)
            let control = ControlClient(folder: start.configuration.runtime)
            #expect(try await control.renewLogos(nil, clears: false, customer: "beta").logos == 1)
            let listed = try LogoListing(start.configuration, customer: "acme").lines(limit: 9, .wide, asJSON: false)
            #expect(listed.joined().contains("ready") && listed.joined().contains("-2x5.png"), "\(listed)")
        }
        for directory in [acme, beta] { directory.close() }
    }
}
