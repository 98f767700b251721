// SPDX-License-Identifier: Apache-2.0

/// Where one thread indexes what it receives: the room of a message that ends with its turn serves the next one.
///
/// Responses and ACKs end so, other requests stay for their transactions (RFC 3261 §17.2) and get room of their own, just
/// as large as they are. A message that stays after all keeps its room, since arrays are copied before they change.
package struct MessageRoom {
    private var bytes: [UInt8] = []
    private var headers: [SIPMessage.HeaderField] = []
    /// A message that stays after all keeps no more than this in vain.
    private static let mostBytes = 4096

    package init() {}

    /// Indexes a datagram, as `SIPMessage.index(_:limits:)` does; the bytes are copied once.
    package mutating func index(_ datagram: Span<UInt8>, limits: SIPLimits) throws(SIPIndexError) -> SIPMessage {
        if bytes.capacity > Self.mostBytes { bytes = [] }
        if headers.capacity > Self.mostBytes / MemoryLayout<SIPMessage.HeaderField>.stride { headers = [] }
        headers.removeAll(keepingCapacity: true)
        if Self.endsWithItsTurn(datagram) {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(0..<datagram.count, of: datagram)
            let outline = try SIPMessage.Outline(of: &bytes, into: &headers, limits: limits)
            return SIPMessage(outline, of: bytes, headers)
        }
        var own = datagram.withUnsafeBufferPointer { [UInt8]($0) }
        let outline = try SIPMessage.Outline(of: &own, into: &headers, limits: limits)
        return SIPMessage(outline, of: own, headers.withUnsafeBufferPointer { [SIPMessage.HeaderField]($0) })
    }

    /// Whether it looks like a response or an ACK.
    private static func endsWithItsTurn(_ datagram: Span<UInt8>) -> Bool {
        guard datagram.count >= 4 else { return false }
        let start = datagram.bytes.extracting(first: 4)
        return start.matches("SIP/") || start.equals("ACK ")
    }
}
