// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

@Suite("Signals as bytes for the disk")
struct PackedSignalsTests {
    private struct Entry: Hashable {
        let signal: CallSignal
        let texts: CallTexts?
    }

    /// Nil where the bytes are no packed signals.
    private static func unpacked(_ bytes: some Collection<UInt8>) -> [Entry]? {
        Array(bytes).withUnsafeBytes { bytes in
            PackedSignals.unpack(bytes)?.map { Entry(signal: $0.signal, texts: $0.texts) }
        }
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
                counterpart: .callIfSentByCallee(CallIdentifier(high: 7, low: .max)), wallMicroseconds: 1_767_225_600_000_000,
                status: 699, q850Cause: 127, sipCause: 603, trunk: .max, caller: 999_999_999_999_999,
                destination: 4_930_123_456, reason: index.isMultiple(of: 3) ? nil : .noMatch)
            signal.marks = .all
            signal.sessionSeconds = 1_800
            return Entry(signal: signal, texts: nil)
        }
        let limits = CallTexts.limits
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
        #expect(Self.unpacked(Self.packed(Self.entries)) == Self.entries)
    }

    @Test func `nothing packed is nothing`() {
        #expect(Self.unpacked(PackedSignals().bytes) == [])
    }

    @Test func `no signal takes more than it is said to`() {
        #expect(Self.entries.map { Self.packed([$0]).count - 1 }.max() == PackedSignals.most)
    }

    @Test func `texts too long are cut as the ring cuts them`() {
        let long = Entry(
            signal: Self.entries[0].signal, texts: CallTexts(sipCallID: [UInt8](repeating: 65, count: 5_000)))
        #expect(Self.unpacked(Self.packed([long]))?.first?.texts?.sipCallID.count == 160)
    }

    @Test func `bytes cut off anywhere give nothing, or between two signals those before`() {
        let bytes = Self.packed(Self.entries)
        let whole = (0...Self.entries.count).map { Self.packed(Array(Self.entries.prefix($0))).count }
        for length in 0..<bytes.count {
            // That one is missing shows only by the checksum of the log.
            let expected = whole.firstIndex(of: length).map { Array(Self.entries.prefix($0)) }
            #expect(Self.unpacked(bytes.prefix(length)) == expected)
        }
    }

    @Test func `any byte changed to anything never crashes`() {
        let bytes = Self.packed([Self.entries[0], Self.entries[Self.entries.count - 1]])
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 2, 15, 0x7F, 0xFF] {
                var damaged = bytes
                damaged[index] = value
                #expect(Self.unpacked(damaged)?.count ?? 0 <= bytes.count / 72)
            }
        }
    }

    @Test(arguments: [Int64.min, -1, 1 << 53, .max])
    func `a time no clock shows is damage`(time: Int64) {
        var signal = Self.entries[0].signal
        signal.wallMicroseconds = time
        #expect(Self.unpacked(Self.packed([Self.entries[1], Entry(signal: signal, texts: nil)])) == nil)
    }

    @Test func `bytes of another version are left alone`() {
        var bytes = Self.packed(Self.entries)
        bytes[0] = 2
        #expect(Self.unpacked(bytes) == nil)
    }

    @Test func `a withheld number is not packed even if it comes here`() {
        var entry = Self.entries[Self.entries.count - 1]
        var signal = entry.signal
        signal.reason = .privacy
        entry = Entry(signal: signal, texts: entry.texts)
        let packed = Self.unpacked(Self.packed([entry]))?.first
        #expect(packed?.signal.caller == 0)
        #expect(packed?.texts?.carrierName == [])
    }
}
