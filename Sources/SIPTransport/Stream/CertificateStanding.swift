// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL
import SIPCore
import SwiftASN1
import X509

/// How long a certificate of the gateway's own is good, and what for.
package struct CertificateStanding: Hashable, Sendable {
    /// Days before the end from which on an operator is reminded.
    package static let reminderDays = 21

    /// As peers compare them (RFC 5922 §7.1).
    package let names: [String]
    /// Seconds since 1970.
    package let validFrom: Int64
    /// Seconds since 1970; the last second in which it is good.
    package let validUntil: Int64

    package init(names: [String], validFrom: Int64, validUntil: Int64) {
        (self.names, self.validFrom, self.validUntil) = (names, validFrom, validUntil)
    }

    /// Nil for a certificate that cannot be taken apart.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: bytes),
            let names = PeerCertificate(certificate)?.names
        else { return nil }
        self.init(
            names: names, validFrom: Int64(parsed.notValidBefore.timeIntervalSince1970),
            validUntil: Int64(parsed.notValidAfter.timeIntervalSince1970))
    }

    /// Seconds until it expires; negative once it has.
    package func secondsLeft(at now: Int64) -> Int64 { validUntil - now }

    /// What an operator has to do about it; nil while it is good for longer than `reminderDays`.
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

    /// For whom it is, and until when, for a summary.
    package func summary(at now: Int64) -> String {
        let left = secondsLeft(at: now)
        let name = names.isEmpty ? "no name" : names.joined(separator: ", ")
        return "for \(name), valid until \(Self.day(validUntil))"
            + (left < 0 ? "" : ", \(Self.count(left / 86_400)) more")
    }

    private static func count(_ days: Int64) -> String {
        days == 0 ? "less than a day" : days == 1 ? "1 day" : "\(days) days"
    }

    /// The day in UTC, as ISO 8601 writes it.
    private static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601.year().month().day())
    }
}
