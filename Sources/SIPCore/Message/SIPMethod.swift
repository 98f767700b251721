// SPDX-License-Identifier: Apache-2.0

/// The request methods that a proxy treats differently; all others are forwarded in one way (RFC 3261 §16).
public enum SIPMethod: UInt8, Hashable, Sendable {
    case invite, ack, cancel, bye, options, register, other

    /// Recognises a method token; method names are case-sensitive (RFC 3261 §7.1).
    public static func recognise(_ token: ArraySlice<UInt8>) -> SIPMethod { recognise(token.span) }

    static func recognise(_ token: Span<UInt8>) -> SIPMethod {
        let token = token.bytes
        return switch token.byteCount {
        case 3: token.equals("ACK") ? .ack : token.equals("BYE") ? .bye : .other
        case 6: token.equals("INVITE") ? .invite : token.equals("CANCEL") ? .cancel : .other
        case 8: token.equals("REGISTER") ? .register : .other
        case 7: token.equals("OPTIONS") ? .options : .other
        default: .other
        }
    }
}
