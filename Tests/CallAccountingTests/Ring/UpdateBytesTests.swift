// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

@Suite("Signals as bytes for the ring")
struct UpdateBytesTests {
    private struct Entry: Hashable {
        var update: CallUpdate
        var texts: CallTexts?
    }

    private static func stored(_ entry: Entry) -> [UInt8] {
        withUnsafeTemporaryAllocation(byteCount: UpdateBytes.most, alignment: 8) { room in
            guard let base = room.baseAddress else { return [] }
            return [UInt8](room[..<UpdateBytes(base: base).store(entry.update, texts: entry.texts)])
        }
    }

    /// Nil where the bytes are no signal.
    private static func loaded(_ bytes: [UInt8]) -> Entry? {
        bytes.withUnsafeBytes { bytes in
            UpdateBytes.load(bytes).map { Entry(update: $0, texts: UpdateBytes.texts(of: bytes)) }
        }
    }

    /// Every kind of signal, with every field set, and texts from none to the longest.
    private static let entries: [Entry] = {
        let other = CallIdentifier(high: 7, low: .max)
        let counterparts: [CallUpdate.Counterpart] = [.none, .callIfSentByCallee(other), .answererDialog(other)]
        var entries = CallUpdate.Kind.allCases.enumerated().map { index, kind in
            var update = CallUpdate(
                kind: kind, direction: index.isMultiple(of: 2) ? .inbound : .outbound,
                call: CallIdentifier(high: .max, low: UInt64(index)), counterpart: counterparts[index % 3],
                wallMicroseconds: 1_767_225_600_000_000, status: 699, q850Cause: 127, sipCause: 603, trunk: .max,
                caller: 999_999_999_999_999, destination: 4_930_123_456,
                reason: index.isMultiple(of: 3) ? nil : .noMatch)
            update.marks = .all
            update.sessionSeconds = 1_800
            if kind == .triedBefore { update.counterpart = .earlierAttempt(other) }
            if kind == .invite {
                // An INVITE has neither; its evidence takes their place.
                (update.status, update.q850Cause) = (0, 0)
                update.evidence = DecisionEvidence(rawValue: .max)
                update.customer = 1 << 28 - 1
            }
            return Entry(update: update)
        }
        let limits = CallTexts.limits
        for isFull in [false, true] {
            let fill = { (limit: Int, byte: UInt8) in [UInt8](repeating: byte, count: isFull ? limit : 0) }
            let texts = CallTexts(
                sipCallID: fill(limits.sipCallID, 0), brandName: fill(limits.brandName, 0xC3),
                brandID: fill(limits.brandID, 1), subscriber: fill(limits.subscriber, 0x0A),
                carrierName: fill(limits.carrierName, 0xFF))
            var invite = entries[0].update
            invite.sessionSeconds = 0  // a signal with texts has no room for it
            entries.append(Entry(update: invite, texts: texts))
            invite.trust = TrustEvidence(
                facts: .max, causes: .max, signer: .max, origid: isFull ? other : nil, code: .max)
            entries.append(Entry(update: invite, texts: texts))
        }
        return entries
    }()

    @Test(arguments: entries.indices)
    func `every field of a stored update is loaded`(index: Int) {
        #expect(Self.loaded(Self.stored(Self.entries[index])) == Self.entries[index])
    }

    @Test func `an INVITE of the version before, with nothing above its numbers, has no customer and no evidence`() {
        var update = Self.entries[0].update
        (update.customer, update.evidence) = (0, nil)
        let bytes = Self.stored(Entry(update: update))
        #expect(bytes[56..<60].allSatisfy { $0 == 0 } && bytes[47] == 0 && bytes[55] == 0)
        #expect(Self.loaded(bytes)?.update == update)
    }

    @Test func `the longest update takes as many bytes as promised`() {
        #expect(Self.entries.map { Self.stored($0).count }.max() == UpdateBytes.most)
    }

    @Test func `texts too long are cut to their limits`() {
        let long = Entry(
            update: Self.entries[0].update, texts: CallTexts(sipCallID: [UInt8](repeating: 65, count: 5_000)))
        #expect(Self.loaded(Self.stored(long))?.texts?.sipCallID.count == 160)
    }

    @Test(arguments: [
        ("abc", 4, "abc"), ("abcd", 4, "abcd"), ("abcde", 4, "abcd"), ("abcé", 4, "abc"), ("ab€", 4, "ab"),
        ("é", 1, ""),
    ]) func `a text is cut between two characters`(text: String, limit: Int, expected: String) {
        #expect(String(decoding: CallTexts.cut(Array(text.utf8)[...], to: limit), as: UTF8.self) == expected)
    }

    @Test func `a update cut off anywhere is no signal`() {
        for entry in Self.entries {
            let bytes = Self.stored(entry)
            for length in 0..<bytes.count { #expect(Self.loaded(Array(bytes.prefix(length))) == nil) }
        }
    }

    // Succeeds if no value of any byte ends the process.
    @Test func `any byte changed to anything never crashes`() {
        for entry in [Self.entries[0], Self.entries[Self.entries.count - 1]] {
            let bytes = Self.stored(entry)
            for index in bytes.indices {
                for value: UInt8 in [0, 1, 2, 15, 0x7F, 0xFF] {
                    var damaged = bytes
                    damaged[index] = value
                    _ = Self.loaded(damaged)
                }
            }
        }
    }

    @Test(arguments: [Int64.min, -1, 1 << 53, .max])
    func `a time no clock shows is damage`(time: Int64) {
        var entry = Self.entries[0]
        entry.update.wallMicroseconds = time
        #expect(Self.loaded(Self.stored(entry)) == nil)
    }
}
