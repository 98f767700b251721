// SPDX-License-Identifier: Apache-2.0

/// The request methods that a proxy treats differently; every other one is relayed alike (RFC 3261 §16).
package enum SIPMethod: UInt8, Hashable, Sendable {
    case invite, ack, cancel, bye, options, other

    /// Recognises a method token; method names are case-sensitive (RFC 3261 §7.1).
    static func recognise(_ token: ArraySlice<UInt8>) -> SIPMethod {
        if token.elementsEqual("INVITE".utf8) { return .invite }
        if token.elementsEqual("ACK".utf8) { return .ack }
        if token.elementsEqual("BYE".utf8) { return .bye }
        if token.elementsEqual("CANCEL".utf8) { return .cancel }
        if token.elementsEqual("OPTIONS".utf8) { return .options }
        return .other
    }
}
