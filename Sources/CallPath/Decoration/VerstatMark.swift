// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

extension VerstatMark {
    /// Writes the parameter into the URIs of P-Asserted-Identity with the caller's number; into From without that header.
    ///
    /// Nothing is written for a withheld or unclear number, an emergency call, a spiral, or a request inside a dialog. A URI
    /// without angle brackets stays as received, because a parameter behind it would belong to the header field.
    ///
    /// - Returns: true when From changes.
    static func write(_ mark: VerstatMark, _ context: borrowing InboundContext, into splices: inout Splices) -> Bool {
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
