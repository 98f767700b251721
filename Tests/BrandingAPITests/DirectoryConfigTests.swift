// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Foundation
import Testing

@Suite("The config object of a response")
struct DirectoryConfigTests {
    private func config(_ json: String) throws -> DirectoryConfig {
        try JSONDecoder().decode(DirectoryConfig.self, from: Data(json.utf8))
    }

    /// A config, and its effect on gates that were all closed or all open.
    struct Change: Sendable {
        let json: String
        let gates: BrandingGates
        var wasOpen = true
    }

    @Test(arguments: [
        Change(json: "{}", gates: BrandingGates()),
        Change(json: #"{"branding_enabled":false}"#, gates: BrandingGates(brandingEnabled: false)),
        Change(json: #"{"branding_enabled":"false"}"#, gates: BrandingGates(brandingEnabled: false)),
        Change(json: #"{"branding_enabled":0}"#, gates: BrandingGates(brandingEnabled: false)),
        Change(json: #"{"branding_enabled":null,"account_status":null}"#, gates: BrandingGates()),
        Change(json: #"{"branding_enabled":[false]}"#, gates: BrandingGates()),
        Change(json: #"{"account_status":" Past_Due "}"#, gates: BrandingGates(accountStatus: "past_due")),
        Change(json: #"{"account_status":"SUSPENDED"}"#, gates: BrandingGates(accountStatus: "suspended")),
        Change(json: #"{"voip_dialer_enabled":false}"#, gates: BrandingGates(voipDialerEnabled: false)),
        Change(json: #"{"used_this_month":10,"cap_this_month":10}"#, gates: BrandingGates(capReached: true)),
        Change(json: #"{"used_this_month":"10","cap_this_month":"10"}"#, gates: BrandingGates(capReached: true)),
        Change(json: #"{"used_this_month":9,"cap_this_month":10}"#, gates: BrandingGates()),
        Change(json: #"{"used_this_month":9,"cap_this_month":null}"#, gates: BrandingGates()),
        Change(json: #"{"used_this_month":9}"#, gates: BrandingGates()),
        Change(json: #"{"cap_this_month":10}"#, gates: BrandingGates()),
        Change(json: "{}", gates: closed, wasOpen: false),
        Change(json: #"{"used_this_month":10}"#, gates: closed, wasOpen: false),
        Change(
            json:
                #"{"cap_this_month":null,"branding_enabled":true,"voip_dialer_enabled":true,"account_status":"trial"}"#,
            gates: BrandingGates(accountStatus: "trial"), wasOpen: false),
        Change(
            json:
                #"{"used_this_month":1,"cap_this_month":5,"branding_enabled":1,"voip_dialer_enabled":1,"account_status":"active"}"#,
            gates: BrandingGates(), wasOpen: false),
    ])
    func `only present fields change a gate, and any response shows that the key is valid`(change: Change) throws {
        let before =
            change.wasOpen
            ? BrandingGates(authorised: false)
            : BrandingGates(
                brandingEnabled: false, accountStatus: "suspended", capReached: true, authorised: false,
                voipDialerEnabled: false)
        #expect(try config(change.json).gates(after: before) == change.gates)
    }

    private static let closed = BrandingGates(
        brandingEnabled: false, accountStatus: "suspended", capReached: true, voipDialerEnabled: false)

    @Test func `a config survives encoding and decoding`() throws {
        var written = DirectoryConfig()
        written.mode = "live"
        (written.brandingEnabled, written.voipDialerEnabled, written.accountStatus) = (true, false, "active")
        (written.clientID, written.usedThisMonth, written.capThisMonth) = ("c", 3, .unlimited)
        written.includedImprintsMonthly = 100
        var debug = DirectoryConfig.DebugUI()
        (debug.enabled, debug.requestUpload, debug.allowExport, debug.expiresAt) = (true, true, false, nil)
        written.debugUI = debug
        let json = try JSONEncoder().encode(written)
        #expect(try JSONDecoder().decode(DirectoryConfig.self, from: json) == written)
        #expect(String(decoding: json, as: UTF8.self).contains(#""cap_this_month":null"#))
        #expect(String(decoding: json, as: UTF8.self).contains(#""expires_at":null"#))
    }
}
