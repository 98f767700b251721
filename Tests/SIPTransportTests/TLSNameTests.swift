// SPDX-License-Identifier: Apache-2.0

import Foundation
import SIPCore
import TestFixtures
import Testing

@testable import SIPTransport

@Suite("Names a target's certificate proves, RFC 5922 §7", .serialized)
struct TLSNameTests {
    /// The names of the certificate, the domain it is asked for, whether it counts, and where the RFC says so.
    static let rows: [(names: String, domain: String, counts: Bool, section: String)] = [
        ("DNS:sip.carrier.example", "SIP.Carrier.example", true, "§7.2, names compare without case"),
        ("DNS:*.carrier.example", "sip.carrier.example", false, "§7.2, no wildcards"),
        ("DNS:*.example,DNS:other.example", "carrier.example", false, "§7.2, no wildcards"),
        ("URI:sip:carrier.example,DNS:host.example", "carrier.example", true, "§7.1, SIP URIs are the identities"),
        ("URI:sip:carrier.example,DNS:host.example", "host.example", false, "§7.1, then DNS names are none"),
        ("DNS:carrier.example", "sip.carrier.example", false, "§7.2, no part of a name"),
    ]

    @Test(arguments: rows)
    func `only the whole name counts`(
        row: (names: String, domain: String, counts: Bool, section: String)
    ) async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: row.names))
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: row.domain)
        #expect(
            try await waits { called.observer.messages.count + caller.observer.failures.count == 1 }, "\(row.section)")
        #expect(called.observer.messages.isEmpty != row.counts, "\(row.section)")
        if !row.counts {
            #expect(caller.observer.troubles.count == 1)
            #expect(caller.observer.troubles[0].contains("its certificate is for another name"))
            #expect(caller.observer.troubles[0].contains("wildcard") == row.names.contains("*"))
            #expect(caller.streams.counters.count(.handshakesFailed) == 1)
        }
        await caller.streams.stop()
        await called.streams.stop()
    }
}
