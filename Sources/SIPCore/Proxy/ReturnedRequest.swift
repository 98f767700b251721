// SPDX-License-Identifier: Apache-2.0

/// Identifies the gateway's request in an ICMP error, by the branch in the returned datagram (RFC 3261 §18.4).
///
/// Anybody can send an ICMP message with a datagram made up. So only the branch counts, which nobody else can compute.
public enum ReturnedRequest {
    private static let via: StaticString = "\r\nVia: "
    private static let branch: StaticString = ";branch="

    /// The token of the request; nil for responses, ACK and CANCEL, whose loss timers make good, and for anybody else's.
    ///
    /// - Parameter bytes: the first bytes of the datagram; a router need not quote more than eight (RFC 792).
    public static func token(of bytes: Span<UInt8>, secret: Secret) -> DeliveryToken? {
        let head = bytes.extracting(first: 700)
        guard !head.has("SIP/", at: 0), !head.has("ACK ", at: 0), !head.has("CANCEL ", at: 0),
            let via = end(of: via, in: head, from: 0), let start = end(of: branch, in: head, from: via)
        else { return nil }
        var text: [UInt8] = []
        for place in start..<head.count {
            guard Token.contains(head[place]) else { break }
            text.append(head[place])
        }
        if let number = ProbeRequest.number(ofBranch: text[...], secret: secret) { return .probe(number) }
        return Branch(text[...]).map { DeliveryToken(branch: $0, attempt: Branch.attempt(text[...])) }
    }

    /// The position behind the first occurrence of a text.
    private static func end(of text: StaticString, in bytes: Span<UInt8>, from start: Int) -> Int? {
        for place in start..<max(start, bytes.count - text.utf8CodeUnitCount) where bytes.has(text, at: place) {
            return place + text.utf8CodeUnitCount
        }
        return nil
    }
}
