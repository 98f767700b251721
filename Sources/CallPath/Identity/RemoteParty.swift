// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Whose identity a Remote-Party-ID value is, and whether that party restricts it (draft-ietf-sip-privacy-04 §5).
///
/// Switches and gateways write one value for the caller, one for the called party and some for parties of their own
/// (`party=x-cisco-original-called`). Only the sender of the message is anybody's caller.
enum RemoteParty {
    /// Whether a value with these parameters is the message's sender: `party=calling` in a request and `party=called` in a
    /// response, or no party at all.
    static func isSender(of message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        guard let party = party(in: message, parameters) else { return true }
        return message.status == nil ? party.equalsIgnoringCase("calling") : party.equalsIgnoringCase("called")
    }

    /// Whether a value may be the side of the call that sends the message.
    ///
    /// Inside a dialog some name the callee `called` in requests as well.
    static func isSide(of message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        if isSender(of: message, parameters) { return true }
        guard message.isInDialog, let party = party(in: message, parameters) else { return false }
        return party.equalsIgnoringCase("calling") || party.equalsIgnoringCase("called")
    }

    /// Whether a value restricts itself: `privacy=full`, `name`, `uri` and every other value but `off` and `none`.
    static func isRestricted(_ message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        guard let privacy = HeaderParameters.find("privacy", in: message.bytes, parameters) else { return false }
        let value = message[Self.unquoted(message, privacy)]
        return !value.equalsIgnoringCase("off") && !value.equalsIgnoringCase("none")
    }

    /// Whether any value of a field has parameters that `test` accepts.
    static func contains(
        _ message: SIPMessage, _ field: SIPMessage.HeaderField, where test: (Range<Int>) -> Bool
    ) -> Bool {
        HeaderValues(message.bytes, field.value).contains { value in
            test(NameAddressExtent.scan(message.bytes, value).parameters)
        }
    }

    private static func party(in message: SIPMessage, _ parameters: Range<Int>) -> ArraySlice<UInt8>? {
        HeaderParameters.find("party", in: message.bytes, parameters).map { message[unquoted(message, $0)] }
    }

    private static func unquoted(_ message: SIPMessage, _ range: Range<Int>) -> Range<Int> {
        let quote = UInt8(ascii: "\"")
        guard range.count >= 2, message.bytes[range.lowerBound] == quote, message.bytes[range.upperBound - 1] == quote
        else { return range }
        return (range.lowerBound + 1)..<(range.upperBound - 1)
    }
}
