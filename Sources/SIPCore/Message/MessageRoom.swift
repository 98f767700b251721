// SPDX-License-Identifier: Apache-2.0

/// Where one thread indexes what it receives: the room of a message that ends with its turn serves the next one.
///
/// Responses and ACKs end so; other requests stay for their transactions (RFC 3261 §17.2) and get room of their own, as large
/// as they are. A message whose room is still held when the next one comes keeps it, since arrays are copied before they
/// change.
package struct MessageRoom {
    private var bytes: [UInt8] = []
    private var headers: [SIPMessage.HeaderField] = []
    /// What is larger was of an unusual message, and is given back at the next one.
    private static let mostBytes = 4096

    package init() {}

    /// Indexes a datagram, as `SIPMessage.index(_:limits:)` does; the bytes are copied once.
    package mutating func index(_ datagram: Span<UInt8>, limits: SIPLimits) throws(SIPIndexError) -> SIPMessage {
        if bytes.capacity > Self.mostBytes { bytes = [] }
        if headers.capacity > Self.mostBytes / MemoryLayout<SIPMessage.HeaderField>.stride { headers = [] }
        headers.removeAll(keepingCapacity: true)
        guard Self.endsWithItsTurn(datagram) else {
            var own = datagram.withUnsafeBufferPointer { [UInt8]($0) }
            let outline = try SIPMessage.Outline(of: &own, into: &headers, limits: limits)
            return Self.kept(outline, own, headers)
        }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(0..<datagram.count, of: datagram)
        let outline = try SIPMessage.Outline(of: &bytes, into: &headers, limits: limits)
        return SIPMessage(outline, of: bytes, headers)
    }

    /// Whether it is a response or an ACK, or no message at all: a method has no slash (RFC 3261 §25.1).
    private static func endsWithItsTurn(_ datagram: Span<UInt8>) -> Bool {
        guard datagram.count >= 4 else { return false }
        let start = datagram.bytes.extracting(first: 4)
        return start.matches("SIP/") || start.equals("ACK ")
    }

    /// A message in room that is no larger than it needs, whatever was cut from its datagram.
    private static func kept(
        _ outline: SIPMessage.Outline, _ bytes: [UInt8], _ headers: [SIPMessage.HeaderField]
    ) -> SIPMessage {
        let isLarger = bytes.capacity > bytes.count + 64
        return SIPMessage(
            outline, of: isLarger ? bytes.withUnsafeBufferPointer { [UInt8]($0) } : bytes,
            headers.withUnsafeBufferPointer { [SIPMessage.HeaderField]($0) })
    }
}
