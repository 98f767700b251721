// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import SIPCore
import SIPTransport
import Testing

@Suite("Cipher suites of TLS 1.2, RFC 9325 §4", .serialized)
struct CipherSuiteTests {
    /// openssl's name of a suite, whether it is modern, and what RFC 9325 says of it.
    static let suites: [(name: String, isModern: Bool, section: String)] = [
        ("ECDHE-RSA-AES128-GCM-SHA256", true, "§4.2, recommended"),
        ("ECDHE-RSA-AES256-GCM-SHA384", true, "§4.2, recommended"),
        ("ECDHE-RSA-CHACHA20-POLY1305", true, "§4.2"),
        ("AES128-GCM-SHA256", false, "§4.1, RSA key transport has no forward secrecy"),
        ("AES256-GCM-SHA384", false, "§4.1, RSA key transport has no forward secrecy"),
        ("AES128-SHA", false, "§4.1; RFC 3261 §26.2.1 asks for it"),
        ("ECDHE-RSA-AES128-SHA", false, "§4.2, CBC with SHA-1"),
    ]

    @Test(arguments: suites)
    func `a suite is taken where it is good, or asked for`(
        row: (name: String, isModern: Bool, section: String)
    ) async throws {
        let certificates = try await TestCertificates()
        for isCompatible in [false, true] {
            var files = try await certificates.files("called", names: "DNS:pbx.example")
            files.suites = isCompatible ? .compatible : .modern
            let called = try await TLSEndpoint(files)
            let client = try await ChildProgram.run(
                "openssl",
                [
                    "s_client", "-connect", "127.0.0.1:\(called.address.port)", "-tls1_2", "-cipher",
                    row.name + ":@SECLEVEL=0",
                ])
            #expect(client.output.contains("Cipher is \(row.name)") == (row.isModern || isCompatible), "\(row.section)")
            await called.streams.stop()
        }
    }
}
