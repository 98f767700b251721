// SPDX-License-Identifier: Apache-2.0

import Branding
import Testing

@testable import CallAccounting

/// Bytes by hand from the tables of `UpdateBytes` and `TrustBytes`: little-endian, as on every supported system.
private enum HandWritten {
    static let call = CallIdentifier(high: 0x0102_0304_0506_0708, low: 0x1112_1314_1516_1718)
    static let origid = CallIdentifier(high: 0xA1A2_A3A4_A5A6_A7A8, low: 0xB1B2_B3B4_B5B6_B7B8)
    static let texts = CallTexts(
        sipCallID: Array("c1@carrier".utf8), brandName: Array("Acme".utf8), brandID: Array("b-7".utf8),
        subscriber: Array("1001".utf8), carrierName: Array("WIRELESS".utf8))

    static func little(_ values: any FixedWidthInteger...) -> [UInt8] {
        values.flatMap { value in
            let bits = Int64(truncatingIfNeeded: value)
            return (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: bits >> Int64(8 * $0)) }
        }
    }

    /// The first 72 bytes of an inbound INVITE, with byte 67 and the four lengths or the interval.
    static func invite(_ flags: UInt8, _ lengths: [UInt8]) -> [UInt8] {
        let fields = little(
            call.high, call.low, call.high, call.low, Int64(1_767_225_600_000_000), UInt64(61_491_570_156),
            UInt64(61_255_501_001), UInt32(0x8000_0001), UInt16(0), UInt16(258))
        return fields + ([1, 1, 0, flags] as [UInt8]) + lengths
    }

    static let lengths: [UInt8] = [10, 4, 3, 4]
    static let fifthAndTexts: [UInt8] = [8] + Array("c1@carrierAcmeb-71001WIRELESS".utf8)

    /// passed(A), counts, bound by a chain of 2, a verified name; causes `passed` and `unsupported_ppt`; code 438; row 77.
    static let verdict: [UInt8] = {
        let facts: UInt32 = 0b1_0101_0001_0011
        let begin = little(facts, UInt16(438)) + ([1, 0] as [UInt8])
        return begin + little(UInt64(0x022D), Int64(77), origid.high, origid.low)
    }()

    static var update: CallUpdate {
        var update = CallUpdate(
            kind: .invite, direction: .inbound, call: call, wallMicroseconds: 1_767_225_600_000_000, trunk: 258,
            caller: 61_491_570_156, destination: 61_255_501_001)
        update.evidence = DecisionEvidence(rawValue: 0x8000_0001)
        return update
    }

    static var trust: TrustEvidence {
        var trust = TrustEvidence()
        (trust.result, trust.counts, trust.isBound, trust.diversions) = (.passedA, true, true, 2)
        (trust.name, trust.packedCauses, trust.code, trust.signer) = (.verified, 0x022D, 438, 77)
        trust.origid = origid
        return trust
    }
}

private func loaded(_ bytes: [UInt8]) -> CallUpdate? { bytes.withUnsafeBytes { UpdateBytes.load($0) } }

private func texts(_ bytes: [UInt8]) -> CallTexts? { bytes.withUnsafeBytes { UpdateBytes.texts(of: $0) } }

private func stored(_ update: CallUpdate, _ texts: CallTexts?) -> [UInt8] {
    withUnsafeTemporaryAllocation(byteCount: UpdateBytes.most, alignment: 8) { buffer in
        guard let base = buffer.baseAddress else { return [] }
        return [UInt8](buffer[..<UpdateBytes(base: base).store(update, texts: texts)])
    }
}

@Suite("Verdicts in updates of the ring")
struct TrustBytesTests {
    @Test func `a call that the verdict changes has a bit of its own`() {
        var evidence = TrustEvidence()
        evidence.changesCall = true
        #expect(evidence.facts == 1 | 1 << 29)
        (evidence.isRejected, evidence.isReported) = (true, true)
        #expect(evidence.changesCall)
        evidence.changesCall = false
        #expect(evidence.isRejected && evidence.isReported)
    }

    @Test func `an INVITE with a verdict has the bytes of the tables`() {
        var update = HandWritten.update
        update.trust = HandWritten.trust
        let bytes = HandWritten.invite(5, HandWritten.lengths) + HandWritten.verdict + HandWritten.fifthAndTexts
        #expect(stored(update, HandWritten.texts) == bytes)
        #expect(loaded(bytes) == update)
        #expect(texts(bytes) == HandWritten.texts)
        let bare = HandWritten.invite(4, [0, 0, 0, 0]) + HandWritten.verdict
        #expect(stored(update, nil) == bare)
        #expect(loaded(bare) == update)
        #expect(texts(bare) == nil)
    }

    @Test func `an INVITE without a verdict has the bytes of the version before`() {
        let bytes = HandWritten.invite(1, HandWritten.lengths) + HandWritten.fifthAndTexts
        #expect(stored(HandWritten.update, HandWritten.texts) == bytes)
        #expect(loaded(bytes) == HandWritten.update)
        #expect(texts(bytes) == HandWritten.texts)
        let bare = HandWritten.invite(0, [0, 0, 0, 0])
        #expect(stored(HandWritten.update, nil) == bare)
        #expect(loaded(bare) == HandWritten.update)
    }

    @Test(arguments: TrustEvidence.Result.allCases, [nil, HandWritten.origid, CallIdentifier(high: 0, low: 0)])
    func `every verdict is loaded as it was stored`(result: TrustEvidence.Result, origid: CallIdentifier?) {
        for (causes, signer, code) in [(UInt64.max, Int64.max, UInt16.max), (0, .min, 0)] as [(UInt64, Int64, UInt16)] {
            var trust = TrustEvidence()
            (trust.result, trust.packedCauses, trust.signer, trust.code) = (result, causes, signer, code)
            trust.origid = origid
            var update = HandWritten.update
            update.trust = trust
            update.sessionSeconds = 1_800
            #expect(loaded(stored(update, nil)) == update)
            update.sessionSeconds = 0
            #expect(loaded(stored(update, HandWritten.texts)) == update)
        }
    }

    /// Bytes 72 to 111 are the verdict, byte 67 has the flags, byte 64 the kind.
    @Test(
        arguments: [
            (72, 0x12, "facts that no version writes"), (78, 2, "neither with nor without an origid"),
            (78, 0, "an origid where there is none"), (79, 1, "a byte that is 0"),
            (64, 6, "a verdict of a BYE"), (67, 7, "texts and a session interval"), (67, 13, "a bit that is 0"),
            (67, 1, "texts at the place of the verdict"), (112, 44, "a name longer than its limit"),
            (68, 161, "a Call-ID longer than its limit"), (68, 11, "more bytes than there are"),
        ] as [(Int, UInt8, String)])
    func `damaged bytes are no update`(place: Int, value: UInt8, damage: String) {
        var bytes = HandWritten.invite(5, HandWritten.lengths) + HandWritten.verdict + HandWritten.fifthAndTexts
        bytes[place] = value
        #expect(loaded(bytes) == nil)
    }

    @Test func `an update cut off anywhere, also within its verdict, is no update`() {
        for (flags, rest) in [(5, HandWritten.fifthAndTexts), (4, [])] as [(UInt8, [UInt8])] {
            let lengths = flags == 5 ? HandWritten.lengths : [0, 0, 0, 0]
            let bytes = HandWritten.invite(flags, lengths) + HandWritten.verdict + rest
            for length in 0..<bytes.count { #expect(loaded(Array(bytes.prefix(length))) == nil) }
            #expect(loaded(bytes + [0]) == nil)
        }
    }

    // Succeeds if no value of any byte ends the process.
    @Test func `any byte changed to anything ends no process`() {
        let bytes = HandWritten.invite(5, HandWritten.lengths) + HandWritten.verdict + HandWritten.fifthAndTexts
        for place in bytes.indices {
            for value in UInt8.min...UInt8.max {
                var damaged = bytes
                damaged[place] = value
                if loaded(damaged) != nil { _ = texts(damaged) }
            }
        }
    }

    @Test func `a sibling gets an INVITE without its verdict, in the bytes that every version reads`() {
        var update = HandWritten.update
        update.trust = HandWritten.trust
        #expect(update.bytes == HandWritten.update.bytes)
        #expect(update.bytes.count == 72)
        #expect(CallUpdate(bytes: HandWritten.invite(4, [0, 0, 0, 0]) + HandWritten.verdict) == nil)
        #expect(CallUpdate(bytes: HandWritten.invite(4, [0, 0, 0, 0])) == nil)
    }

    @Test func `a ring of the version before is read, and takes updates with verdicts`() throws {
        let folder = RingFolder()
        var made: UpdateRing? = try UpdateRing(path: folder.path, capacity: 16)
        made?.append(HandWritten.update, texts: HandWritten.texts)
        made = nil
        // Behind the header and the number of the slot: 102 bytes of an update, in place of those of this version.
        let bytes = HandWritten.invite(1, HandWritten.lengths) + HandWritten.fifthAndTexts + [0, 0]
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let word = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
            try RingFolder.poke(folder.path, at: UInt64(4_096 + 8 + start), word)
        }
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        #expect(ring.opening == .resumed(pending: 1, capacity: 16))
        var signed = HandWritten.update
        signed.trust = HandWritten.trust
        let long = CallTexts(
            sipCallID: [UInt8](repeating: 99, count: 160), brandName: [UInt8](repeating: 110, count: 100),
            brandID: [UInt8](repeating: 105, count: 64), subscriber: [UInt8](repeating: 115, count: 64),
            carrierName: [UInt8](repeating: 99, count: 43))
        #expect(ring.append(signed, texts: long))
        #expect(ring.append(signed))
        var read: [CallUpdate] = []
        var readTexts: [CallTexts?] = []
        let result = ring.read(after: 0, limit: 9) {
            read.append($0)
            readTexts.append($1)
        }
        #expect(read == [HandWritten.update, signed, signed])
        #expect(readTexts == [HandWritten.texts, long, nil])
        #expect(result.skipped == 0)
    }
}
