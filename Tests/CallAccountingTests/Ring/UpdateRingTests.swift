// SPDX-License-Identifier: Apache-2.0

import Branding
import Foundation
import TestFixtures
import Testing

@testable import CallAccounting

/// A ring file in a folder of its own that goes with the test.
final class RingFolder {
    private let temporary = TemporaryFolder()
    var folder: URL { URL(filePath: temporary.path) }
    var path: String { folder.appending(path: "signals.ring").path }

    /// The file as a process killed at this instant would leave it.
    func killed() throws -> String {
        let copy = folder.appending(path: "killed-\(UUID().uuidString).ring").path
        try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: copy))
        return copy
    }

    /// Overwrites eight bytes of a ring file nobody has open.
    static func poke(_ path: String, at offset: UInt64, _ value: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: withUnsafeBytes(of: value) { Data($0) })
        try file.close()
    }
}

@Suite("Update ring")
struct UpdateRingTests {
    private let folder = RingFolder()
    private let call = ScriptedUpdates()
    private let texts = CallTexts(
        sipCallID: Array("c4a1@192.0.2.1".utf8), brandName: Array("Acme Bänk".utf8), brandID: Array("b-7".utf8),
        subscriber: Array("1001".utf8))

    private func contents(_ ring: UpdateRing, after: UInt64 = 0) -> (updates: [CallUpdate], skipped: Int) {
        var updates: [CallUpdate] = []
        let result = ring.read(after: after, limit: .max) { update, _ in updates.append(update) }
        return (updates, result.skipped)
    }

    @Test func `what goes in comes out, in order and with its texts`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        #expect(ring.opening == .created)
        var gated = call
        gated.reason = .gatedCapReached
        let updates = [
            call.invite(), call.provisional(180, at: 1), call.cancelled(q850: 26, sip: 200, at: 2), gated.invite(),
            CallUpdate(
                kind: .bye, direction: .outbound, call: CallIdentifier(high: .max, low: 1),
                counterpart: .callIfSentByCallee(CallIdentifier(high: 2, low: .max)),
                wallMicroseconds: (1 << 53) - 1, status: 699, trunk: 65_535),
        ]
        for update in updates { #expect(ring.append(update, texts: update.kind == .invite ? texts : nil)) }
        var read: [CallUpdate] = []
        var readTexts: [CallTexts?] = []
        let (position, skipped) = ring.read(after: 0, limit: 100) {
            read.append($0)
            readTexts.append($1)
        }
        #expect(read == updates)
        #expect(readTexts == [texts, nil, nil, texts, nil])
        // These texts fit into the slot of their INVITE.
        #expect(position == 5)
        #expect(skipped == 0)
        #expect(contents(ring, after: position).updates.isEmpty)
    }

    @Test func `texts longer than their place are cut, not spilled`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        let long = [UInt8](repeating: 0x61, count: 400)
        ring.append(call.invite(), texts: CallTexts(sipCallID: long, brandName: long, brandID: long, subscriber: long))
        var cut: CallTexts?
        _ = ring.read(after: 0, limit: 1) { cut = $1 }
        #expect(cut?.sipCallID.count == 160)
        #expect(cut?.brandName.count == 100)
        #expect(cut?.brandID.count == 64)
        #expect(cut?.subscriber.count == 64)
    }

    @Test func `a ring goes round many times`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 8)
        var position: UInt64 = 0
        for second in 0..<100 {
            #expect(ring.append(call.bye(at: Double(second))))
            let (next, _) = ring.read(after: position, limit: 10) { update, _ in
                #expect(update.wallMicroseconds == ScriptedUpdates.start + Int64(second) * 1_000_000)
            }
            #expect(next == position + 1)
            position = next
            ring.release(through: position)
        }
        #expect(ring.shed == .init(unbranded: 0, branded: 0))
    }

    @Test func `a process killed with updates in the ring loses none of them`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        let updates = (0..<5).map { call.bye(at: Double($0)) }
        for update in updates { ring.append(update) }
        ring.release(through: 2)
        let next = try UpdateRing(path: try folder.killed(), capacity: 16)
        #expect(next.opening == .resumed(pending: 3, capacity: 16))
        #expect(next.ringID == ring.ringID)
        #expect(contents(next, after: 2).updates == Array(updates[2...]))
        next.append(call.invite(), texts: texts)
        #expect(contents(next, after: 5).updates == [call.invite()])
    }

    @Test func `a ring closed and opened again goes on`() throws {
        var ring: UpdateRing? = try UpdateRing(path: folder.path, capacity: 16)
        ring?.append(call.invite(), texts: texts)
        ring = nil
        let next = try UpdateRing(path: folder.path, capacity: 16)
        #expect(next.opening == .resumed(pending: 1, capacity: 16))
        #expect(contents(next).updates == [call.invite()])
    }

    @Test func `what is to be read again is not overwritten meanwhile`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 8)
        let updates = (0..<6).map { call.bye(at: Double($0)) }
        for update in updates { ring.append(update) }
        ring.release(through: 6)
        // The ledger was put back to an older state, which knows only the first two.
        let next = try UpdateRing(path: try folder.killed(), capacity: 8)
        #expect(next.resume(after: 2) == 2)
        let accepted = (6..<14).filter { next.append(call.bye(at: Double($0))) }
        #expect(accepted == [6, 7, 8, 9])
        #expect(contents(next, after: 2).updates == updates[2...] + accepted.map { call.bye(at: Double($0)) })
    }

    @Test func `reading begins no earlier than the ring reaches back, and never at what is free`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 8)
        for second in 0..<8 { ring.append(call.bye(at: Double(second))) }
        ring.release(through: 8)
        for second in 8..<12 { ring.append(call.bye(at: Double(second))) }
        #expect(contents(ring).updates == (8..<12).map { call.bye(at: Double($0)) })
        let next = try UpdateRing(path: try folder.killed(), capacity: 8)
        #expect(next.resume(after: 1) == 4)
        #expect(contents(next).updates == (4..<12).map { call.bye(at: Double($0)) })
        #expect(next.ringID == ring.ringID)
        #expect(next.resume(after: 99) == 12)
        #expect(contents(next).updates.isEmpty)
        // Numbers 13 to 99 mean something else from here on.
        #expect(next.ringID != ring.ringID && next.ringID > 0)
        let again = try UpdateRing(path: try folder.killed(), capacity: 8)
        #expect(again.opening == .resumed(pending: 4, capacity: 8))
    }

    /// A Call-ID that makes an INVITE take so many slots.
    private func texts(slots: Int) -> CallTexts {
        let room = slots * UpdateSlot.share - UpdateBytes.least - 1
        let callID = min(room, 160)
        let name = min(room - callID, 100)
        return CallTexts(
            sipCallID: [UInt8](repeating: 0x63, count: callID), brandName: [UInt8](repeating: 0x6E, count: name),
            brandID: [UInt8](repeating: 0x69, count: min(room - callID - name, 64)))
    }

    @Test(arguments: 1...4)
    func `a update longer than a slot takes several, and comes out whole wherever the ring begins anew`(
        slots: Int
    ) throws {
        let ring = try UpdateRing(path: folder.path, capacity: 8)
        let texts = texts(slots: slots)
        for second in 0..<40 {
            #expect(ring.append(call.bye(at: Double(second))))
            #expect(ring.append(call.invite(at: Double(second)), texts: texts))
            var read: [(CallUpdate, CallTexts?)] = []
            let (position, skipped) = ring.read(after: ring.released, limit: 2) { read.append(($0, $1)) }
            #expect(read.map(\.0) == [call.bye(at: Double(second)), call.invite(at: Double(second))])
            #expect(read.map(\.1) == [nil, texts])
            #expect(position == UInt64((slots + 1) * (second + 1)) && skipped == 0)
            ring.release(through: position)
        }
    }

    @Test func `a long update is taken whole or not at all, and counted as one`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 8)
        for second in 0..<6 { #expect(ring.append(call.bye(at: Double(second)))) }
        #expect(!ring.append(call.invite(at: 6), texts: texts(slots: 3)))
        #expect(ring.shed == .init(unbranded: 0, branded: 1))
        #expect(ring.append(call.invite(at: 7), texts: texts(slots: 2)))
        #expect(contents(ring).updates.map(\.kind) == [.bye, .bye, .bye, .bye, .bye, .bye, .invite])
    }

    @Test func `of a long update whose writer died no part is taken for another`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        ring.append(call.bye(at: 0))
        // Its texts are what a sender chose: here the number of the slot they lie in, where a number would be.
        let number = withUnsafeBytes(of: UInt64(3).littleEndian) { Array($0) }
        ring.append(
            call.invite(at: 1),
            texts: CallTexts(sipCallID: (0..<20).flatMap { _ in number }, brandName: [UInt8](repeating: 3, count: 100)))
        ring.append(call.bye(at: 2))
        let path = try folder.killed()
        try RingFolder.poke(path, at: 4096 + 128, 0)
        let next = try UpdateRing(path: path, capacity: 16)
        #expect(contents(next).updates == [call.bye(at: 0), call.bye(at: 2)])
        #expect(contents(next).skipped == 3)
    }

    @Test func `a long update that says it is longer than what was written is damaged`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        ring.append(call.invite(at: 0), texts: texts(slots: 1))
        let path = try folder.killed()
        // Bytes 64 to 71 of the signal, of which the last four are lengths; now of several slots.
        try RingFolder.poke(path, at: 4096 + 8 + 64, 0x4040_64A0_0100_0101)
        let next = try UpdateRing(path: path, capacity: 16)
        #expect(contents(next).updates.isEmpty && contents(next).skipped == 1)
        next.append(call.bye(at: 1))
        #expect(contents(next).updates == [call.bye(at: 1)])
    }

    @Test func `a slot whose writer died is skipped, one whose writer lives is waited for`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        for second in 0..<3 { ring.append(call.bye(at: Double(second))) }
        // The writer of number 2 claimed its number and died before publishing it.
        let path = try folder.killed()
        try RingFolder.poke(path, at: 4096 + 128, 0)
        let next = try UpdateRing(path: path, capacity: 16)
        #expect(contents(next).updates.map(\.wallMicroseconds) == [0, 2_000_000].map { ScriptedUpdates.start + $0 })
        #expect(contents(next).skipped == 1)

        // A number claimed by a writer of this process: it is at work, nothing after it is read yet.
        try RingFolder.poke(path, at: 64, 5)
        #expect(contents(next, after: 3).updates.isEmpty)
        #expect(contents(next, after: 3).skipped == 0)
    }

    @Test func `marks and session intervals come out as they went in, and nothing is left of an older slot`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 8)
        for second in 0..<8 { ring.append(call.invite(at: Double(second)), texts: texts) }
        ring.release(through: 8)
        var forwarded = call.invite()
        forwarded.marks = .forwarded
        let updates = [
            forwarded, call.answered(at: 1, by: [.voicemail, .system], session: 1_800), call.refreshed(90, at: 2),
            call.bye(at: 3),
        ]
        for update in updates { ring.append(update, texts: update.kind == .invite ? texts : nil) }
        #expect(contents(ring, after: 8).updates == updates)
    }

    @Test func `a slot with impossible bytes is skipped`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        for second in 0..<3 { ring.append(call.bye(at: Double(second))) }
        let path = try folder.killed()
        try RingFolder.poke(path, at: 4096 + 128 + 8 + 64, 0xFFFF_FFFF_FFFF_FFFF)
        let next = try UpdateRing(path: path, capacity: 16)
        #expect(contents(next).updates.count == 2)
        #expect(contents(next).skipped == 1)
    }

    @Test func `a nearly full ring sheds unbranded updates at the door, a full one all, and counts both`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        var unbranded = call
        unbranded.reason = .noMatch
        for second in 0..<14 { #expect(ring.append(unbranded.invite(at: Double(second)), texts: texts)) }
        #expect(!ring.append(unbranded.invite(at: 14), texts: texts))
        #expect(ring.append(call.invite(at: 15), texts: texts))
        #expect(ring.append(call.invite(at: 16), texts: texts))
        #expect(!ring.append(call.invite(at: 17), texts: texts))
        #expect(!ring.append(unbranded.invite(at: 18), texts: texts))
        #expect(ring.shed == .init(unbranded: 2, branded: 1))
        let kept = contents(ring).updates
        #expect(kept.count == 16)
        #expect(kept.last == call.invite(at: 16))
        ring.release(through: 16)
        #expect(ring.append(unbranded.invite(at: 19), texts: texts))
    }

    @Test(
        arguments: [
            (0, 0x1234, "does not begin as a update ring"), (8, 9, "is of version 9"), (16, 15, "has a damaged header"),
            (24, 7, "has a damaged header"), (128, 99, "has a damaged header"),
        ] as [(UInt64, UInt64, String)])
    func `a file that is no ring of this version is set aside and said`(
        offset: UInt64, value: UInt64, problem: String
    ) throws {
        do {
            let ring = try UpdateRing(path: folder.path, capacity: 16)
            ring.append(call.invite(), texts: texts)
        }
        try RingFolder.poke(folder.path, at: offset, value)
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        guard case .replaced(let aside, let reason) = ring.opening else {
            Issue.record("\(ring.opening)")
            return
        }
        #expect(reason.hasPrefix(problem))
        #expect(FileManager.default.fileExists(atPath: aside))
        #expect(contents(ring).updates.isEmpty)
        #expect(ring.append(call.invite(), texts: texts))
    }

    @Test func `a file cut short is set aside`() throws {
        try Data("not a ring".utf8).write(to: URL(filePath: folder.path))
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        #expect(
            ring.opening
                == .replaced(setAside: folder.path + ".aside", problem: "is 10 bytes long, which no update ring is"))
    }

    @Test func `another size takes effect once the ring is empty`() throws {
        do {
            let ring = try UpdateRing(path: folder.path, capacity: 16)
            ring.append(call.bye(at: 1))
        }
        do {
            let ring = try UpdateRing(path: folder.path, capacity: 32)
            #expect(ring.opening == .resumed(pending: 1, capacity: 16))
            ring.release(through: 1)
        }
        let ring = try UpdateRing(path: folder.path, capacity: 32)
        #expect(ring.opening == .created)
        #expect(ring.capacity == 32)
    }

    @Test func `two gateways cannot share a ring`() throws {
        let ring = try UpdateRing(path: folder.path, capacity: 16)
        let error = #expect(throws: UpdateRingError.self) { _ = try UpdateRing(path: folder.path, capacity: 16) }
        #expect(error?.problem == .inUse)
        #expect(error?.description.contains(folder.path) == true)
        #expect(ring.append(call.bye(at: 1)))
    }

    @Test func `a folder that is not there is said with the path`() {
        let path = folder.folder.appending(path: "none/signals.ring").path
        let error = #expect(throws: UpdateRingError.self) { _ = try UpdateRing(path: path, capacity: 16) }
        #expect(error?.description.contains(path) == true)
    }

    @Test(arguments: [(writers: 1, capacity: 64), (writers: 3, capacity: 8)])
    func `writers and a reader on threads of their own see every update once and whole`(
        writers: Int, capacity: Int
    ) async throws {
        let ring = try UpdateRing(path: folder.path, capacity: capacity)
        let each = 20_000
        var next = [Int](repeating: 1, count: writers)
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for number in 1...each {
                        let call = CallIdentifier(high: UInt64(number), low: UInt64(writer))
                        let update = CallUpdate(
                            kind: .bye, direction: .inbound, call: call, wallMicroseconds: Int64(number),
                            caller: UInt64(number))
                        while !ring.append(update) { try? await Task.sleep(for: .microseconds(100)) }
                    }
                }
            }
            var position: UInt64 = 0
            while position < writers * each {
                let (reached, skipped) = ring.read(after: position, limit: 100) { update, _ in
                    let writer = Int(update.call.low)
                    let expected = next[writer]
                    let isWhole =
                        update.call.high == expected && update.counterpart == .none
                        && update.wallMicroseconds == expected && update.caller == expected
                    if !isWhole { Issue.record("signal \(expected) of \(writer) is \(update)") }
                    next[writer] += 1
                }
                #expect(skipped == 0)
                if reached == position { try? await Task.sleep(for: .microseconds(100)) }
                position = reached
                ring.release(through: position)
            }
        }
        #expect(next == [Int](repeating: each + 1, count: writers))
        #expect(contents(ring).updates.isEmpty)
    }
}
