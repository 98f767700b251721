// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore

/// The options of `herald calls` that select calls; nil selects all.
package struct CallQuery: Hashable, Sendable {
    /// Number of the caller or the callee: in E.164 form, in national form, its last digits, or what the carrier wrote.
    package var number: String?
    /// A part of the brand's or the carrier's display name.
    package var name: String?
    /// Name of a trunk.
    package var trunk: String?
    /// Name of a customer.
    package var customer: String?
    /// The provider code of the signer, or the first number of its certificate.
    package var provider: String?
    /// An outcome, or `open` for calls in progress; upper or lower case.
    package var outcome: String?
    /// First day or moment of the INVITE, as `OperatorTime` reads it.
    package var since: String?
    /// Last day or moment of the INVITE.
    package var until: String?
    /// Whether the call was forwarded with a brand.
    package var isBranded: Bool?
    /// SIP Call-ID or call id.
    package var callID: String?
    /// A part of a SIP Call-ID or call id.
    package var callIDPart: String?
    /// Largest number of calls, the latest ones.
    package var limit = 20

    /// Selects the latest 20 calls.
    package init() {}

    /// The first invalid option with its remedy; nil where all are valid.
    package var problem: String? {
        if !(1...1_000_000).contains(limit) { return "--limit must be 1 to 1000000" }
        if let number, !(1...64).contains(number.utf8.count) {
            return "--number must be a number, such as +61255501001, or the text that the carrier sent instead of one"
        }
        for (option, text) in [("name", name), ("call-id", callIDPart)] {
            if let text, !(1...256).contains(text.utf8.count) { return "--\(option) must be a text of 1 to 256 bytes" }
        }
        if let outcome, !Self.outcomes.contains(outcome.uppercased()) {
            return "--outcome must be one of \(Self.outcomes.joined(separator: ", ").lowercased())"
        }
        for (name, text) in [("since", since), ("until", until)] {
            if let text, OperatorTime.first(text) == nil {
                return "--\(name) must be a day or a moment in UTC: 2026-01-31 or 2026-01-31T12:00:00Z"
            }
        }
        return nil
    }

    /// The query in the form of the ledger.
    var filter: CallFilter {
        var filter = CallFilter()
        filter.number = number.flatMap { E164Number($0) }
        filter.received = number
        filter.numberEnd = filter.number == nil ? number.flatMap { Self.lastDigits($0) } : nil
        filter.name = name
        filter.callIDPart = callIDPart
        filter.trunk = trunk
        filter.customer = customer
        filter.provider = provider
        filter.outcome = outcome?.uppercased()
        filter.since = since.flatMap(OperatorTime.first)
        filter.until = until.flatMap(OperatorTime.last)
        filter.isBranded = isBranded
        filter.callID = callID
        return filter
    }

    /// The digits of a number without its prefix for long distance or other countries; nil for other texts.
    ///
    /// - Parameter fewest: fewer digits give nil. Zeros at the begin stay where the rest would be too short, because they
    ///   may be digits within a number.
    static func lastDigits(_ text: String, fewest: Int = 4) -> String? {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber || "+-./() ".contains($0) }) else { return nil }
        let digits = text.filter(\.isNumber)
        let significant = digits.drop { $0 == "0" }
        if significant.count >= fewest { return String(significant) }
        return digits.count < fewest ? nil : digits
    }

    private static let outcomes = CallOutcome.allCases.map(\.rawValue) + ["OPEN"]
}

extension CallFilter {
    /// Selects a caller or called number as people write it, such as +49 (89) 123-456, or by its last digits.
    mutating func setNumber(asWritten text: String) {
        let written = text.filter { !" ()-./".contains($0) }
        number = E164Number(written)
        received = written
        // Fewer than three digits are the end of too many numbers.
        if number == nil { numberEnd = CallQuery.lastDigits(written, fewest: 3) }
    }
}
