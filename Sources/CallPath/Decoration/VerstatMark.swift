// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore
import Trust

extension VerstatMark {
    /// Writes the parameter into the URIs of P-Asserted-Identity with the caller's number; into From without that header.
    ///
    /// A verdict of the gateway's own that decides is written for an untrusted trunk too, into From, because its other fields
    /// do not pass. It replaces a trunk's word that it contradicts, or a phone would show a tick on a call that failed.
    /// Nothing is written for a withheld or unclear number, an emergency call, a spiral, or a request inside a dialog. A URI
    /// without angle brackets stays as received, because a parameter behind it would belong to the header field.
    ///
    /// - Returns: true when From changes.
    static func write(_ mark: VerstatMark, _ context: borrowing InboundContext, into splices: inout Splices) -> Bool {
        guard mark != .off || context.signed != nil, context.takesMark else { return false }
        let invite = context.invite
        let isReplaced = context.signed?.replacesTrunkClaim ?? false
        let changesFrom = isReplaced && HeaderHygiene.removeVerstat(of: invite, into: &splices)
        guard context.trunk.isTrusted || context.signed?.source == .ownSignature,
            let number = context.identity.number, let value = value(of: mark, for: context)
        else { return changesFrom }
        guard context.trunk.isTrusted, invite.has(.pAssertedIdentity) else {
            guard let from = invite.first(.from) else { return changesFrom }
            let isWritten = write(
                value, of: number, context.trunk, invite, from.value, isReplaced: isReplaced, into: &splices)
            return isWritten || changesFrom
        }
        for field in invite.fields(.pAssertedIdentity) {
            for address in HeaderValues(invite.bytes, field.value) {
                _ = write(
                    value, of: number, context.trunk, invite, address, isReplaced: isReplaced, into: &splices)
            }
        }
        return changesFrom
    }

    /// The value of the mark; nil for none.
    ///
    /// Phones paint a failed call red, so a failed verdict of the gateway's own is shown only for the causes of the regime.
    private static func value(of mark: VerstatMark, for context: borrowing InboundContext) -> StaticString? {
        guard let signed = context.signed, signed.source == .ownSignature else {
            return mark.value(for: context.signed?.verification ?? context.identity.verification)
        }
        if signed.verification == .failed, let regime = context.trunk.signatures?.policy.regimes.first,
            signed.verdict.verstat(under: regime) != .failed
        {
            return nil
        }
        return mark.value(for: signed.verification)
    }

    private static func write(
        _ value: StaticString, of number: E164Number, _ trunk: TrunkPeer, _ message: SIPMessage, _ address: Range<Int>,
        isReplaced: Bool, into splices: inout Splices
    ) -> Bool {
        let extent = NameAddressExtent.scan(message.bytes, address)
        guard extent.hasBrackets, isReplaced || !message.bytes.mentions("verstat", in: address),
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
