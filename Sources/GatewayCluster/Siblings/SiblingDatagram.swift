// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
package import NIOCore
import Primitives

/// One datagram between two gateways of a cluster: updates of calls, or the state of what the other side sent.
///
/// It begins with a header of 96 bytes. The updates follow, each in the 72 bytes that it has in the ring. The last 16 bytes are a
/// seal over all bytes before it. `bytes(_:)` has the fields of the header, which are integers in network order.
///
/// A datagram has at most 1,296 bytes, so no network on the way fragments it.
package struct SiblingDatagram: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// Wants a response; with updates or without.
        case report = 1
        case response
    }

    /// The versions of the header.
    package enum Form: UInt8, Sendable {
        /// 56 bytes. A response names no report, so a recording of one looks like a new one. Version 0.2 knows this form alone.
        case unnumbered = 1
        /// 96 bytes. A response names the report that it belongs to.
        case numbered
    }

    /// Most updates in one datagram.
    package static let mostUpdates = 16
    private static let mark: UInt32 = 0x4852_4C53
    private static let seal = 16

    package var kind: Kind
    package var form = Form.numbered
    /// A random number that the sender chose at its start.
    package var fromRun: UInt64
    /// The receiver's number, which makes an old datagram worthless; 0 while the sender does not know it.
    package var toRun: UInt64
    /// Of a report its number, which no other report of the run to this sibling has; of a response that of its report.
    package var number: UInt64 = 0
    /// The address that a report was sent to, by `place(_:)`.
    package var receiver: UInt64 = 0
    /// The number of these updates, counted by the sender; 0 without updates.
    package var sequence: UInt64 = 0
    /// The first sequence that the receiver still waits for, as the sender knows; 0 without updates.
    package var first: UInt64 = 0
    /// The sequence up to which the sender has passed on everything from the receiver's run.
    package var received: UInt64 = 0
    /// The sequences after `received` that the sender has accepted too, the next one in the lowest bit.
    package var ahead: UInt64 = 0
    /// The last sequence whose effect the sender has stored.
    package var stored: UInt64 = 0
    /// The sender's wall clock, in microseconds since 1970.
    package var sentAt: Int64
    /// The sender's monotonic clock, in microseconds.
    package var steadyAt: Int64 = 0
    package var updates: [CallUpdate] = []
    /// Updates that were read and that this version does not know.
    package private(set) var unknown = 0

    package init(kind: Kind, fromRun: UInt64, toRun: UInt64, sentAt: Int64) {
        self.kind = kind
        self.fromRun = fromRun
        self.toRun = toRun
        self.sentAt = sentAt
    }

    /// The number for an address in `receiver`.
    package static func place(_ address: SocketAddress) -> UInt64 {
        var hash = SipHash(key0: 0, key1: 0)
        let text = Array(address.endpointText.utf8)
        hash.combine(counted: text.indices, of: text.span)
        return hash.finalize().0
    }

    /// Whether the datagram was sent to an address; a response needs no address, because it names its report.
    package func isMeant(for place: UInt64) -> Bool { kind == .response || form == .unnumbered || receiver == place }

    private var numbers: [UInt64] {
        switch form {
        case .unnumbered: [fromRun, toRun, sequence, received, stored, UInt64(bitPattern: sentAt)]
        case .numbered:
            [
                fromRun, toRun, number, receiver, sequence, first, received, ahead, stored, UInt64(bitPattern: sentAt),
                UInt64(bitPattern: steadyAt),
            ]
        }
    }

    /// The sealed bytes.
    package func bytes(_ keys: SiblingKeys) -> [UInt8] {
        var out = ByteBuffer()
        out.reserveCapacity(96 + updates.count * CallUpdate.byteCount + Self.seal)
        out.writeInteger(Self.mark)
        out.writeInteger(form.rawValue)
        out.writeInteger(kind.rawValue)
        out.writeInteger(UInt16(updates.count))
        for number in numbers { out.writeInteger(number) }
        for update in updates { out.writeBytes(update.bytes) }
        var all = Array(out.readableBytesView)
        guard let seal = keys.seal(all.span) else { return [] }
        var end = ByteBuffer()
        end.writeMultipleIntegers(seal.0, seal.1)
        all.append(contentsOf: end.readableBytesView)
        return all
    }

    /// Reads sealed bytes; nil for a wrong seal and for everything else that `bytes` cannot have written.
    ///
    /// Updates of a later version are counted in `unknown` and left out.
    package init?(_ bytes: [UInt8], _ keys: SiblingKeys) {
        guard bytes.count >= Self.seal, bytes.count <= 2_048 else { return nil }
        let end = bytes.count - Self.seal
        var tail = ByteBuffer(bytes: bytes[end...])
        guard let seal = tail.readMultipleIntegers(as: (UInt64, UInt64).self),
            keys.verify(bytes.span.extracting(0..<end), seal)
        else { return nil }
        var body = ByteBuffer(bytes: bytes[..<end])
        guard
            let (mark, form, kind, count) = body.readMultipleIntegers(as: (UInt32, UInt8, UInt8, UInt16).self),
            mark == Self.mark, let form = Form(rawValue: form), let kind = Kind(rawValue: kind),
            let from = body.readInteger(as: UInt64.self), let to = body.readInteger(as: UInt64.self)
        else { return nil }
        self.init(kind: kind, fromRun: from, toRun: to, sentAt: 0)
        self.form = form
        guard read(from: &body), body.readableBytes == Int(count) * CallUpdate.byteCount else { return nil }
        while let next = body.readBytes(length: CallUpdate.byteCount) {
            if let update = CallUpdate(bytes: next) { updates.append(update) } else { unknown += 1 }
        }
    }

    /// Reads the fields after the two runs; false for times that no clock shows.
    private mutating func read(from body: inout ByteBuffer) -> Bool {
        if form == .numbered {
            guard
                let (number, receiver, sequence, first, received, ahead) = body.readMultipleIntegers(
                    as: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64).self)
            else { return false }
            (self.number, self.receiver, self.sequence, self.first) = (number, receiver, sequence, first)
            (self.received, self.ahead) = (received, ahead)
        } else {
            guard let (sequence, received) = body.readMultipleIntegers(as: (UInt64, UInt64).self) else { return false }
            (self.sequence, self.received) = (sequence, received)
        }
        guard let (stored, sentAt) = body.readMultipleIntegers(as: (UInt64, Int64).self) else { return false }
        (self.stored, self.sentAt) = (stored, sentAt)
        if form == .numbered {
            guard let steadyAt = body.readInteger(as: Int64.self) else { return false }
            self.steadyAt = steadyAt
        }
        // Up to the year 2255, so that no sum of times overflows.
        return [sentAt, steadyAt].allSatisfy { (0..<(1 << 53)).contains($0) }
    }
}
