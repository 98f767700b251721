// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import Hashing
import NIOCore

/// One datagram between two gateways of a cluster: updates of calls, and the state of what the other side sent.
///
/// It begins with a header of 56 bytes. The updates follow, each in the 72 bytes that it has in the ring. The last 16 bytes are a
/// seal over all bytes before it. `bytes(_:)` has the fields of the header, which are integers in network order.
///
/// A datagram has at most 1,296 bytes, so no network on the way fragments it.
package struct SiblingDatagram: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// Wants a response; with updates or without.
        case report = 1
        case response
    }

    /// Most updates in one datagram.
    package static let mostUpdates = 17
    private static let mark: UInt32 = 0x4852_4C53
    private static let header = 56
    private static let seal = 16

    package var kind: Kind
    /// A random number that the sender chose at its start.
    package var fromRun: UInt64
    /// The receiver's number, which makes an old datagram worthless; 0 while the sender does not know it.
    package var toRun: UInt64
    /// The number of these updates, counted by the sender; 0 without updates.
    package var sequence: UInt64 = 0
    /// The last sequence that the sender has accepted from the receiver's run.
    package var received: UInt64 = 0
    /// The last sequence whose effect the sender has stored.
    package var stored: UInt64 = 0
    /// The sender's wall clock, in microseconds since 1970.
    package var sentAt: Int64
    package var updates: [CallUpdate] = []

    package init(kind: Kind, fromRun: UInt64, toRun: UInt64, sentAt: Int64) {
        self.kind = kind
        self.fromRun = fromRun
        self.toRun = toRun
        self.sentAt = sentAt
    }

    /// The sealed bytes.
    package func bytes(_ keys: SiblingKeys) -> [UInt8] {
        var out = ByteBuffer()
        out.reserveCapacity(Self.header + updates.count * CallUpdate.byteCount + Self.seal)
        out.writeInteger(Self.mark)
        out.writeInteger(UInt8(1))
        out.writeInteger(kind.rawValue)
        out.writeInteger(UInt16(updates.count))
        for number in [fromRun, toRun, sequence, received, stored] { out.writeInteger(number) }
        out.writeInteger(sentAt)
        for update in updates { out.writeBytes(update.bytes) }
        var all = Array(out.readableBytesView)
        guard let seal = keys.seal(all.span) else { return [] }
        var end = ByteBuffer()
        end.writeMultipleIntegers(seal.0, seal.1)
        all.append(contentsOf: end.readableBytesView)
        return all
    }

    /// Reads sealed bytes; nil for a wrong seal and for everything else that `bytes` cannot have written.
    package init?(_ bytes: [UInt8], _ keys: SiblingKeys) {
        guard bytes.count >= Self.header + Self.seal, bytes.count <= 2_048 else { return nil }
        let end = bytes.count - Self.seal
        var tail = ByteBuffer(bytes: bytes[end...])
        guard let seal = tail.readMultipleIntegers(as: (UInt64, UInt64).self),
            keys.verify(bytes.span.extracting(0..<end), seal)
        else { return nil }
        var body = ByteBuffer(bytes: bytes[..<end])
        guard
            let (mark, version, kind, count) = body.readMultipleIntegers(as: (UInt32, UInt8, UInt8, UInt16).self),
            mark == Self.mark, version == 1, let kind = Kind(rawValue: kind),
            let (from, to, sequence, received, stored, time) = body.readMultipleIntegers(
                as: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64).self),
            body.readableBytes == Int(count) * CallUpdate.byteCount, (0..<(1 << 53)).contains(Int64(bitPattern: time))
        else { return nil }
        self.init(kind: kind, fromRun: from, toRun: to, sentAt: Int64(bitPattern: time))
        self.sequence = sequence
        self.received = received
        self.stored = stored
        while let next = body.readBytes(length: CallUpdate.byteCount) {
            guard let update = CallUpdate(bytes: next) else { return nil }
            updates.append(update)
        }
    }
}
