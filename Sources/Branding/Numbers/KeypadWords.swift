// SPDX-License-Identifier: Apache-2.0

/// Recognises words that networks spell with keypad letters in place of a missing caller number.
///
/// For example, `+266696687` spells ANONYMOUS (ITU-T E.161 §3). Some of these words have the length of real numbers, so
/// a check of the numbering plan accepts them. Pure; allocates nothing.
public enum KeypadWords {
    /// True if the digits after the plus sign spell such a word.
    public static func areSpelled(by digits: UInt64) -> Bool {
        switch digits {
        case 266_696_687, 7_378_742_833, 86_282_452_253: true  // ANONYMOUS, RESTRICTED, UNAVAILABLE
        case 8_656_696, 2_562_533, 7_748_283, 94_844_353: true  // UNKNOWN, BLOCKED, PRIVATE, WITHHELD
        case 688_632_732: true  // OUTOFAREA
        default: false
        }
    }

    /// True if the user part of a URI is a plus sign and such a word.
    public static func areSpelled(by user: ArraySlice<UInt8>) -> Bool {
        guard user.first == UInt8(ascii: "+"), (8...12).contains(user.count) else { return false }
        var digits: UInt64 = 0
        for byte in user.dropFirst() {
            guard byte &- UInt8(ascii: "0") < 10 else { return false }
            digits = digits * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return areSpelled(by: digits)
    }
}
