// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import Gateway

@Suite("Signals as bytes for the disk")
struct PackedSignalsTests {
    private struct Entry: Hashable {
        let signal: CallSignal
        let texts: CallTexts?
    }

    private static func unpacked(_ bytes: some Collection<UInt8>) -> (entries: [Entry], isWhole: Bool) {
        var entries: [Entry] = []
        let isWhole = Array(bytes).withUnsafeBytes { bytes in
            PackedSignals.unpack(bytes) { entries.append(Entry(signal: $0, texts: $1)) }
        }
        return (entries, isWhole)
    }

    private static func packed(_ entries: [Entry]) -> [UInt8] {
        var packed = PackedSignals()
        for entry in entries { packed.append(entry.signal, texts: entry.texts) }
        return packed.bytes
    }

    /// Every kind of signal, with every field set, and texts from none to the longest.
    private static let entries: [Entry] = {
        var entries = CallSignal.Kind.allCases.enumerated().map { index, kind in
            var signal = CallSignal(
                kind: kind, direction: index.isMultiple(of: 2) ? .inbound : .outbound,
                call: CallIdentifier(high: .max, low: UInt64(index)),
                alternative: CallIdentifier(high: 7, low: .max), wallMicroseconds: 1_767_225_600_000_000,
                status: 699, q850Cause: 127, sipCause: 603, trunk: .max, caller: 999_999_999_999_999,
                destination: 4_930_123_456, reason: index.isMultiple(of: 3) ? nil : .noMatch)
            signal.marks = .all
            signal.sessionSeconds = 1_800
            return Entry(signal: signal, texts: nil)
        }
        let limits = SignalSlot.textLimits
        for full in [false, true] {
            let fill = { (limit: Int, byte: UInt8) in [UInt8](repeating: byte, count: full ? limit : 0) }
            let texts = CallTexts(
                sipCallID: fill(limits.sipCallID, 0), brandName: fill(limits.brandName, 0xC3),
                brandID: fill(limits.brandID, 1), subscriber: fill(limits.subscriber, 0x0A),
                carrierName: fill(limits.carrierName, 0xFF))
            var invite = entries[0].signal
            invite.sessionSeconds = 0  // not kept of a signal with texts
            entries.append(Entry(signal: invite, texts: texts))
        }
        return entries
    }()

    @Test func `what is packed comes out, in order, every field of it`() {
        let (entries, isWhole) = Self.unpacked(Self.packed(Self.entries))
        #expect(isWhole)
        #expect(entries == Self.entries)
    }

    @Test func `nothing packed is nothing`() {
        let (entries, isWhole) = Self.unpacked(PackedSignals().bytes)
        #expect(isWhole && entries.isEmpty)
    }

    @Test func `no signal takes more than a slot of the ring`() {
        for entry in Self.entries { #expect(Self.packed([entry]).count - 1 <= SignalRing.slotSize) }
    }

    @Test func `texts too long for a slot are cut as the ring cuts them`() {
        let long = Entry(
            signal: Self.entries[0].signal, texts: CallTexts(sipCallID: [UInt8](repeating: 65, count: 5_000)))
        #expect(Self.unpacked(Self.packed([long])).entries.first?.texts?.sipCallID.count == 160)
    }

    @Test func `bytes cut off anywhere give whole signals or none, and never a crash`() {
        let bytes = Self.packed(Self.entries)
        for length in 0..<bytes.count {
            let (entries, isWhole) = Self.unpacked(bytes.prefix(length))
            #expect(entries == Array(Self.entries.prefix(entries.count)))
            // Between two signals nothing shows that one is missing: the log's checksum does.
            #expect(isWhole == (length > 0 && Self.packed(entries).count == length))
        }
    }

    @Test func `any byte changed to anything never crashes`() {
        let bytes = Self.packed([Self.entries[0], Self.entries[Self.entries.count - 1]])
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 2, 15, 0x7F, 0xFF] {
                var damaged = bytes
                damaged[index] = value
                #expect(Self.unpacked(damaged).entries.count <= bytes.count / 72)
            }
        }
    }

    @Test func `bytes of another version are left alone`() {
        var bytes = Self.packed(Self.entries)
        bytes[0] = 2
        let (entries, isWhole) = Self.unpacked(bytes)
        #expect(!isWhole && entries.isEmpty)
    }
}
