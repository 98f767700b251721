// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The party of a Remote-Party-ID value, and whether it restricts its identity (draft-ietf-sip-privacy-04 §5).
///
/// Switches and gateways write one value for the caller, one for the called party and some for parties of their own
/// (`party=x-cisco-original-called`). Only the sender of the message can be the caller.
enum RemoteParty {
    /// Whether a value with these parameters is the message's sender: `party=calling` in a request, `party=called` in a
    /// response, or no party.
    static func isSender(of message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        guard let party = party(in: message, parameters) else { return true }
        return message.status == nil ? party.equalsIgnoringCase("calling") : party.equalsIgnoringCase("called")
    }

    /// Whether a value may be the side of the call that sends the message.
    ///
    /// Inside a dialog some senders use `called` for the callee in requests as well.
    static func isSide(of message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        if isSender(of: message, parameters) { return true }
        guard message.isInDialog, let party = party(in: message, parameters) else { return false }
        return party.equalsIgnoringCase("calling") || party.equalsIgnoringCase("called")
    }

    /// Whether a value is restricted: by `privacy` with any value but `off` and `none`.
    static func isRestricted(_ message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        guard let privacy = HeaderParameters.find("privacy", in: message.bytes, parameters) else { return false }
        let value = message[Self.unquoted(message, privacy)]
        return !value.equalsIgnoringCase("off") && !value.equalsIgnoringCase("none")
    }

    /// Whether a value was not verified by the network that wrote it: `screen=no` (draft-ietf-sip-privacy-04 §5).
    static func isUnscreened(_ message: SIPMessage, _ parameters: Range<Int>) -> Bool {
        HeaderParameters.find("screen", in: message.bytes, parameters).map {
            message[unquoted(message, $0)].equalsIgnoringCase("no")
        } ?? false
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
