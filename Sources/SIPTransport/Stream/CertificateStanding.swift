// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL
import SIPCore
import SwiftASN1
import X509

/// Names and validity of one of the gateway's own certificates.
package struct CertificateStanding: Hashable, Sendable {
    /// Days before expiry from which a remark reminds the operator.
    package static let reminderDays = 21

    /// The names that peers compare (RFC 5922 §7.1).
    package let names: [String]
    /// Seconds since 1970.
    package let validFrom: Int64
    /// Seconds since 1970; the last second of validity.
    package let validUntil: Int64

    package init(names: [String], validFrom: Int64, validUntil: Int64) {
        (self.names, self.validFrom, self.validUntil) = (names, validFrom, validUntil)
    }

    /// Nil if the certificate cannot be parsed.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: bytes),
            let names = PeerCertificate(certificate)?.names
        else { return nil }
        self.init(
            names: names, validFrom: Int64(parsed.notValidBefore.timeIntervalSince1970),
            validUntil: Int64(parsed.notValidAfter.timeIntervalSince1970))
    }

    /// Returns seconds until expiry; negative afterwards.
    package func secondsLeft(at now: Int64) -> Int64 { validUntil - now }

    /// Returns a remark with the necessary action.
    ///
    /// Nil while more than `reminderDays` are left.
    package func remark(at now: Int64) -> String? {
        let left = secondsLeft(at: now)
        let days = abs(left) / 86_400
        if left < 0 {
            return "expired \(Self.count(days)) ago, on \(Self.day(validUntil)): peers refuse it; renew it and reload"
        }
        if validFrom > now {
            return "is not valid before \(Self.day(validFrom)): peers refuse it; is the clock of this machine right?"
        }
        guard days < Self.reminderDays else { return nil }
        return "expires in \(Self.count(days)), on \(Self.day(validUntil)); renew it and reload"
    }

    /// Returns names and expiry date for a summary.
    package func summary(at now: Int64) -> String {
        let left = secondsLeft(at: now)
        let name = names.isEmpty ? "no name" : names.joined(separator: ", ")
        return "for \(name), valid until \(Self.day(validUntil))"
            + (left < 0 ? "" : ", \(Self.count(left / 86_400)) more")
    }

    private static func count(_ days: Int64) -> String {
        days == 0 ? "less than a day" : days == 1 ? "1 day" : "\(days) days"
    }

    /// Formats a day in UTC as ISO 8601.
    private static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601.year().month().day())
    }
}
