// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import SIPTransport
import Testing

@Suite("How long a certificate is good, RFC 5280 §4.1.2.5")
struct CertificateStandingTests {
    private static let day: Int64 = 86_400

    /// Seconds from now to the end, seconds from now to the beginning, and the remark.
    static let rows: [(left: Int64, begins: Int64, remark: String?)] = [
        (90 * day, -day, nil),
        (21 * day, -day, nil),
        (21 * day - 1, -day, "expires in 20 days, on 2027-01-20; renew it and reload"),
        (day, -day, "expires in 1 day, on 2027-01-01; renew it and reload"),
        (0, -day, "expires in less than a day, on 2026-12-31; renew it and reload"),
        (-1, -day, "expired less than a day ago, on 2026-12-30: peers refuse it; renew it and reload"),
        (-3 * day, -9 * day, "expired 3 days ago, on 2026-12-28: peers refuse it; renew it and reload"),
        (90 * day, day, "is not valid before 2027-01-01: peers refuse it; is the clock of this machine right?"),
    ]

    @Test(arguments: rows)
    func `an operator is reminded in time`(row: (left: Int64, begins: Int64, remark: String?)) {
        let now: Int64 = 1_798_675_200  // 31 December 2026, 00:00 UTC
        let standing = CertificateStanding(
            names: ["a.example"], validFrom: now + row.begins, validUntil: now + row.left)
        #expect(standing.remark(at: now) == row.remark)
    }

    @Test func `names and end are those of the file`() async throws {
        let certificates = try await TestCertificates()
        let files = try await certificates.files("called", names: "DNS:pbx.example,DNS:b.example")
        let standing = try #require(try TLSIdentity(files).standing)
        #expect(standing.names == ["pbx.example", "b.example"])
        #expect(standing.validUntil - standing.validFrom == 2 * Self.day)
    }

    @Test func `a key that is another's, or has a pass phrase, is an error with the remedy`() async throws {
        let certificates = try await TestCertificates()
        var files = try await certificates.files("one", names: "DNS:one.example")
        let other = try await certificates.files("two", names: "DNS:two.example")
        let locked = certificates.folder + "/locked.key"
        let code = try await ChildProgram.run(
            "openssl", ["rsa", "-aes128", "-passout", "pass:words", "-in", files.key, "-out", locked]
        ).code
        try #require(code == 0)
        files.key = other.key
        var error = #expect(throws: TLSIdentityError.self) { _ = try TLSIdentity(files) }
        #expect(error?.description == "\(other.key) is not the key of the certificate in \(files.certificate)")
        files.key = locked
        error = #expect(throws: TLSIdentityError.self) { _ = try TLSIdentity(files) }
        #expect(error?.description.hasPrefix("\(locked) is protected by a pass phrase") == true)
    }
}
