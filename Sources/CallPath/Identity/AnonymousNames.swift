// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// Names and users that PBXs and carriers write instead of a caller's number or name.
enum AnonymousNames {
    /// Whether the user of From names nobody: a word, zeros alone, or a word spelled on a keypad.
    ///
    /// RFC 3323 §4.1.1.3 (`anonymous`), 3GPP TS 24.229 (`unavailable`), and further words seen on trunks.
    static func isUserOfNobody(_ user: ArraySlice<UInt8>) -> Bool {
        isWordForNobody(user) || asksForNoName(user) || areZeros(user) || KeypadWords.areSpelled(by: user)
    }

    private static func isWordForNobody(_ user: ArraySlice<UInt8>) -> Bool {
        if user.prefix(9).equalsIgnoringCase("anonymous") { return true }
        return switch user.count {
        case 7:
            user.equalsIgnoringCase("private") || user.equalsIgnoringCase("blocked")
                || user.equalsIgnoringCase("unknown")
        case 8: user.equalsIgnoringCase("withheld")
        case 10: user.equalsIgnoringCase("restricted")
        case 11: user.equalsIgnoringCase("unavailable")
        default: false
        }
    }

    private static func areZeros(_ user: ArraySlice<UInt8>) -> Bool {
        let digits = user.first == UInt8(ascii: "+") ? user.dropFirst() : user
        return !digits.isEmpty && digits.allSatisfy { $0 == UInt8(ascii: "0") }
    }

    /// Whether a display name asks for privacy (RFC 3323 §4.1.1.3).
    static func asksForNoName(_ name: ArraySlice<UInt8>) -> Bool {
        switch name.count {
        case 7: name.equalsIgnoringCase("private") || name.equalsIgnoringCase("blocked")
        case 8: name.equalsIgnoringCase("withheld")
        case 9: name.equalsIgnoringCase("anonymous")
        case 10: name.equalsIgnoringCase("restricted")
        case 14:
            name.equalsIgnoringCase("private caller") || name.equalsIgnoringCase("private number")
                || name.equalsIgnoringCase("blocked number")
        case 15: name.equalsIgnoringCase("withheld number") || name.equalsIgnoringCase("number withheld")
        case 16: name.equalsIgnoringCase("anonymous caller")
        case 17: name.equalsIgnoringCase("restricted number")
        default: false
        }
    }

    /// Whether a display name is one that networks write when they know none.
    static func isNoName(_ name: ArraySlice<UInt8>) -> Bool {
        if asksForNoName(name) { return true }
        return switch name.count {
        case 7: name.equalsIgnoringCase("unknown") || name.equalsIgnoringCase("no name")
        case 11: name.equalsIgnoringCase("unavailable") || name.equalsIgnoringCase("out of area")
        case 12: name.equalsIgnoringCase("unknown name")
        case 13: name.equalsIgnoringCase("not available")
        case 14: name.equalsIgnoringCase("unknown caller") || name.equalsIgnoringCase("unknown number")
        case 15: name.equalsIgnoringCase("wireless caller")
        case 16: name.equalsIgnoringCase("name unavailable")
        default: false
        }
    }

    /// A display name without quotes and the white space inside them; escapes as received.
    static func name(in message: SIPMessage, _ extent: Range<Int>) -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        guard extent.count >= 2, message.bytes[extent.lowerBound] == quote,
            message.bytes[extent.upperBound - 1] == quote
        else { return message[extent] }
        return message[LWS.trimmed(message.bytes, (extent.lowerBound + 1)..<(extent.upperBound - 1))]
    }
}
