// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL
import SIPCore
import SwiftASN1
import X509

/// Names and validity of one of the gateway's own certificates.
public struct CertificateStanding: Hashable, Sendable {
    /// Days before expiry at which reminders begin.
    public static let reminderDays = 21

    /// Names in the form that peers compare (RFC 5922 §7.1).
    public let names: [String]
    /// Seconds since 1970.
    public let validFrom: Int64
    /// Seconds since 1970; the last valid second.
    public let validUntil: Int64

    public init(names: [String], validFrom: Int64, validUntil: Int64) {
        (self.names, self.validFrom, self.validUntil) = (names, validFrom, validUntil)
    }

    /// Nil for an unreadable certificate.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: bytes),
            let names = PeerCertificate(certificate)?.names
        else { return nil }
        self.init(
            names: names, validFrom: Int64(parsed.notValidBefore.timeIntervalSince1970),
            validUntil: Int64(parsed.notValidAfter.timeIntervalSince1970))
    }

    /// Returns the seconds until it expires; negative afterwards.
    public func secondsLeft(at now: Int64) -> Int64 { validUntil - now }

    /// Returns the operator's task; nil while the certificate is valid for longer than `reminderDays`.
    public func remark(at now: Int64) -> String? {
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

    /// Returns name and end of validity, for a summary.
    public func summary(at now: Int64) -> String {
        let left = secondsLeft(at: now)
        let name = names.isEmpty ? "no name" : names.joined(separator: ", ")
        return "for \(name), valid until \(Self.day(validUntil))"
            + (left < 0 ? "" : ", \(Self.count(left / 86_400)) more")
    }

    private static func count(_ days: Int64) -> String {
        days == 0 ? "less than a day" : days == 1 ? "1 day" : "\(days) days"
    }

    /// Returns the day in UTC in ISO 8601.
    private static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601.year().month().day())
    }
}
