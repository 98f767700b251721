// SPDX-License-Identifier: Apache-2.0

import SIPCore
import SeededRandom
import Testing

/// Rules that hold for an INVITE in whatever order things happen.
@Suite("Invariants of an INVITE, RFC 3261 §16.7, §17, RFC 6026")
struct InviteInvariantTests {
    /// Everything that left for the caller and for the target, over one random course.
    private struct Course {
        var up: [Int] = []
        var down: [String] = []
        /// Messages that went neither way.
        var astray: [String] = []
        /// Final responses of the target that arrived while its transaction lasted.
        var successes = 0
        var failures = 0

        init(seed: UInt64, isReliable: Bool) throws {
            var random = RepeatableRandom(seed: seed)
            var run = try ProxyRun(isReliable: isReliable)
            for _ in 0..<40 {
                switch random.next() % 6 {
                case 0: take(run.wait(milliseconds: random.next() % 20_000))
                case 1:
                    run.table.cancel(run.transaction, with: nil, at: run.now)
                    take(run.sent())
                case 2:
                    _ = run.table.absorb(run.request, in: run.transaction, at: run.now)
                    take(run.sent())
                case 3: take(try run.respond(random.next() % 2 == 0 ? 200 : 481, forCancel: true))
                default:
                    let status = [100, 180, 183, 200, 202, 404, 487, 503][Int(random.next() % 8)]
                    if run.transaction.awaitsResponses {
                        successes += (200..<300).contains(status) ? 1 : 0
                        failures += status >= 300 ? 1 : 0
                    }
                    take(try run.respond(status))
                }
            }
        }

        private mutating func take(_ sent: [String]) {
            for text in sent {
                let words = text.split(separator: " ")
                switch words[0] {
                case "up": up.append(Int(words[1]) ?? 0)
                case "down": down.append(String(words[1]))
                default: astray.append(text)
                }
            }
        }
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `the caller gets one outcome, and each 2xx`(seed: UInt64) throws {
        let course = try Course(seed: seed, isReliable: seed % 3 == 0)
        #expect(course.astray.isEmpty)
        let final = course.up.filter { $0 >= 200 }
        // §16.7 step 5: every 2xx goes up, and nothing makes one that the target did not send.
        #expect(final.count { $0 < 300 } == course.successes)
        // RFC 6026 §7.1: after a 2xx no failure goes up; §17.2.1: and only one kind of failure ever does.
        let beforeSuccess = final.prefix { $0 >= 300 }
        #expect(Set(final.filter { $0 >= 300 }).count <= 1)
        if beforeSuccess.isEmpty { #expect(final.allSatisfy { $0 < 300 }) }
        // §16.7 step 5: after a final response no provisional one follows.
        if let first = course.up.firstIndex(where: { $0 >= 200 }) {
            #expect(course.up[first...].allSatisfy { $0 >= 200 })
        }
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `the target gets an ACK for each failure and a CANCEL only while it rings`(seed: UInt64) throws {
        let course = try Course(seed: seed, isReliable: seed % 3 == 0)
        // §17.1.1.3: each failure is acknowledged on its hop; after a 2xx of the same target none is (RFC 6026 §7.2).
        #expect(course.down.count { $0 == "ACK" } <= course.failures)
        if course.successes == 0 { #expect(course.down.count { $0 == "ACK" } == course.failures) }
        // §17.1.1.2: the INVITE is not sent again after the first response, nor over a stream.
        if seed % 3 == 0 { #expect(!course.down.contains("INVITE")) }
        // §9.1: an ACK of a failure ends it, so no first CANCEL follows one.
        if let ack = course.down.firstIndex(of: "ACK"), !course.down[..<ack].contains("CANCEL") {
            #expect(!course.down[ack...].contains("CANCEL"))
        }
    }
}
