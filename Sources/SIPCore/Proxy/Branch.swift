// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The identity of a transaction as this proxy sees it, and the branch it forwards the request with.
///
/// A keyed hash of the method, the sender, the received branch, Call-ID and CSeq number (RFC 3261 §17.2.3). A CANCEL, and
/// the ACK of a rejected INVITE, are hashed as INVITE (§9.1, §17.1.1.3), so they have its branch. A retransmission after a
/// restart gets the same branch (§16.11). Without the magic cookie of §8.1.1.7 the whole Via, the From tag and the
/// Request-URI replace the branch.
///
/// The sender replaces sent-by, which §17.2.3 compares because two clients may choose one branch. The configured peer
/// is known by its address and cannot be forged by text, and some clients spell sent-by differently in their CANCEL.
/// Two clients of one peer with one branch would also need one Call-ID and one CSeq number to collide. BYE, INFO,
/// UPDATE and MESSAGE with the branch and CSeq number of their INVITE are transactions of their own.
public struct Branch: Hashable, Sendable {
    public let value: UInt64

    /// The requirement of `Hashable` that gives a place in a table: the value is a hash already.
    public func _rawHashValue(seed: Int) -> Int { TablePlace.of(value, seed: seed) }

    /// Takes the value of a branch out of a timer or a delivery token.
    public init(token: UInt64) { value = token }

    /// The prefix of every branch of Herald: the cookie of RFC 3261 §8.1.1.7 and a mark of its own.
    private static let prefix: StaticString = "z9hG4bKhd"

    /// Computes the branch of a request from its topmost Via; `via` must belong to `message`.
    ///
    /// - Parameter sender: a number of the sending peer alone.
    public init(of message: SIPMessage, via: ViaValue, sender: UInt64, secret: Secret) {
        var hash = secret.hash(for: .branch)
        hash.combine(Self.transactionMethod(of: message), of: message)
        hash.combine(sender)
        if let branch = via.branch, message[branch].prefix(7).equals("z9hG4bK") {
            hash.combine(branch, of: message)
        } else {
            hash.combine(via.extent, of: message)
            if let tag = message.fromTag { hash.combine(tag, of: message) }
            hash.combine(message.requestURI, of: message)
        }
        if let callID = message.first(.callID) { hash.combine(callID.value, of: message) }
        hash.combine(UInt64(message.sequence?.number ?? 0))
        value = hash.finish()
    }

    /// The range of the method that names a request's transaction; empty for INVITE, ACK and CANCEL, which share one (RFC 3261
    /// §17.2.3, §9.2).
    private static func transactionMethod(of message: SIPMessage) -> Range<Int> {
        guard case .request(let method, let token, _) = message.startLine else { return 0..<0 }
        return switch method {
        case .invite, .ack, .cancel: 0..<0
        default: token
        }
    }

    /// Reads a branch that `append(attempt:to:)` wrote; nil for any other.
    public init?(_ text: ArraySlice<UInt8>) {
        let bytes = text.span
        var position = Self.prefix.utf8CodeUnitCount
        guard bytes.count == position + 16 || bytes.count == position + 17, bytes.matches(0..<position, Self.prefix),
            let value = Hexadecimal.take(16, of: bytes, at: &position)
        else { return nil }
        self.value = value
    }

    /// The attempt of a branch: 0 for the first target, 1 for the next and so on.
    public static func attempt(_ text: ArraySlice<UInt8>) -> UInt8 {
        guard text.count == prefix.utf8CodeUnitCount + 17, let digit = text.last else { return 0 }
        return Hexadecimal.digit(digit) ?? 0
    }

    /// Writes the branch parameter's value; each attempt at another target has its own (RFC 3261 §16.6 step 8).
    public func append(attempt: UInt8 = 0, to out: inout OutputSpan<UInt8>) {
        out.append(Self.prefix)
        out.append(hex: value, digits: 16)
        if attempt > 0 { out.append(Hexadecimal.character(attempt & 15)) }
    }
}

extension ViaValue {
    /// True when the gateway wrote it: a branch of its form, and a sent-by that names one of its sockets.
    public func isOwn(in message: SIPMessage, sockets: [LocalSocket]) -> Bool {
        guard let branch, Branch(message[branch]) != nil else { return false }
        return sockets.areNamed(host: message[host], port: port)
    }
}
