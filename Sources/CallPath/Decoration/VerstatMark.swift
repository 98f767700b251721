// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// The verstat parameter (3GPP TS 24.229 §7.2A.20) that Herald writes for phones with a trust mark.
///
/// It repeats what the decision used: the attestation of a trusted trunk, or a signature that was checked. A verstat that a
/// trusted trunk sent stays as received, and that of an untrusted trunk has been removed.
package enum VerstatMark: Hashable, Sendable {
    /// Writes nothing.
    case off
    /// `TN-Validation-Passed` for full attestation, `TN-Validation-Failed` for a failed check, else nothing.
    case full
    /// The attestation as a suffix: `TN-Validation-Passed-A`, `-B`, `-C`; `TN-Validation-Failed`.
    case levels

    /// The value for a verification; nil for none.
    func value(for verification: Verification) -> StaticString? {
        switch (self, verification) {
        case (.off, _), (_, .none): nil
        case (_, .failed): "TN-Validation-Failed"
        case (.full, .passedA): "TN-Validation-Passed"
        case (.full, .passedB), (.full, .passedC): nil
        case (.levels, .passedA): "TN-Validation-Passed-A"
        case (.levels, .passedB): "TN-Validation-Passed-B"
        case (.levels, .passedC): "TN-Validation-Passed-C"
        }
    }

    /// Writes the parameter into the URIs of P-Asserted-Identity with the caller's number; into From without that header.
    ///
    /// Nothing is written for a withheld or unclear number, an emergency call, a spiral, or a request inside a dialog. A URI
    /// without angle brackets stays as received, because a parameter behind it would belong to the header field.
    ///
    /// - Returns: true when From changes.
    static func write(_ mark: VerstatMark, _ context: InboundContext, into splices: inout Splices) -> Bool {
        guard mark != .off, context.trunk.isTrusted, isForMark(context.decision),
            let number = context.identity.number, let value = mark.value(for: context.identity.verification)
        else { return false }
        let invite = context.invite
        guard invite.has(.pAssertedIdentity) else {
            guard let from = invite.first(.from) else { return false }
            return write(value, of: number, context.trunk, invite, from.value, into: &splices)
        }
        for field in invite.fields(.pAssertedIdentity) {
            for address in HeaderValues(invite.bytes, field.value) {
                _ = write(value, of: number, context.trunk, invite, address, into: &splices)
            }
        }
        return false
    }

    private static func isForMark(_ decision: BrandingDecision) -> Bool {
        switch decision {
        case .show: true
        case .passThrough(.midDialog), .passThrough(.alreadyBranded), .passThrough(.emergency): false
        case .passThrough: true
        }
    }

    private static func write(
        _ value: StaticString, of number: E164Number, _ trunk: TrunkPeer, _ message: SIPMessage, _ address: Range<Int>,
        into splices: inout Splices
    ) -> Bool {
        let extent = NameAddressExtent.scan(message.bytes, address)
        guard extent.hasBrackets, !message.bytes.mentions("verstat", in: address),
            let uri = NameAddress(message.bytes, address, extent)?.uri,
            CallerIdentity.number(of: uri, trunk: trunk) == number,
            let end = userEnd(message, extent.uri, uri.scheme)
        else { return false }
        splices.insert(at: end) { out in
            out.append(";verstat=")
            out.append(value)
        }
        return true
    }

    /// The place behind the number and its parameters: the end of a tel URI, or `@` of a sip URI without a password.
    private static func userEnd(_ message: SIPMessage, _ uri: Range<Int>, _ scheme: SIPURI.Scheme) -> Int? {
        guard scheme != .tel else { return uri.upperBound }
        guard let at = message[uri].firstIndex(of: UInt8(ascii: "@")) else { return nil }
        let colons = message[uri.lowerBound..<at].count { $0 == UInt8(ascii: ":") }
        return colons == 1 ? at : nil
    }
}
