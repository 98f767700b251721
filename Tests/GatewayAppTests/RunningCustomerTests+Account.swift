// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
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
            #expect(Self.lookups(at: acme).count == 1 && Self.lookups(at: beta).isEmpty)
            #expect(await !place("other", to: "+61255502002").contains("Acme Acres"))
            try await placeBranded("own", to: "+61255502002", as: "Beta Bank")
            #expect(Self.lookups(at: acme).count == 1 && Self.lookups(at: beta).count == 1)
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
}
