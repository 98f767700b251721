// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The caller in the carrier's own text, kept for the operator if no certain number can be read from it.
enum ReceivedCaller {
    /// Bytes kept.
    static let longest = 64

    /// The user part of the naming header's first URI, with its parameters; the whole value where there is no URI.
    ///
    /// - Parameter isAsserted: P-Asserted-Identity or Remote-Party-ID names the caller, not From.
    static func text(in invite: SIPMessage, isAsserted: Bool) -> [UInt8] {
        let asserted = isAsserted ? invite.first(.pAssertedIdentity) ?? invite.first(.remotePartyID) : nil
        guard let field = asserted ?? invite.first(.from) else { return [] }
        return cleaned(user(of: invite[field.value]))
    }

    /// The part between scheme and host (RFC 3261 §19.1.1); of a tel URI all behind the scheme (RFC 3966 §3).
    private static func user(of value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let open = value.lastIndex(of: UInt8(ascii: "<")).map { value.index(after: $0) }
        let start = open ?? value.startIndex
        let close = value[start...].firstIndex(of: UInt8(ascii: ">")) ?? value.endIndex
        let uri = value[start..<close]
        guard let colon = uri.firstIndex(of: UInt8(ascii: ":")) else { return value }
        let rest = uri[uri.index(after: colon)...]
        return rest[..<(rest.lastIndex(of: UInt8(ascii: "@")) ?? rest.endIndex)]
    }

    /// Without control characters, and cut; the recorder drops the rest of a cut character.
    private static func cleaned(_ text: ArraySlice<UInt8>) -> [UInt8] {
        Array(text.lazy.filter { $0 >= 0x20 && $0 != 0x7F }.prefix(longest))
    }
}
