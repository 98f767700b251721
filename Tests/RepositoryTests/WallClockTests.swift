// SPDX-License-Identifier: Apache-2.0

import Testing

/// A wait for a time of day lasts as long as somebody sets the clock back: every wait here is for a length of time.
@Suite("Waits and the wall clock")
struct WallClockTests {
    @Test(arguments: [
        (#"\bDispatchSemaphore\b|\.wait\(timeout:"#, []),
        (#"\bwallDeadline\b|\bDispatchWallTime\b"#, []),
        (#"\bNSCondition\b|\bNSConditionLock\b|\bThread\.sleep\(until"#, []),
        (#"\bpthread_cond_timedwait\b"#, []),
        (#"\bsem_timedwait\b|\bpthread_mutex_timedlock\b|\bmq_timed"#, []),
        // Who reads the time of day by himself: the stamp of a message, and the look for steps.
        (
            #"\bCLOCK_REALTIME\b"#,
            ["Sources/SIPTransport/Datagram/TransportWorker.swift", "Sources/Host/System/ClockStepDetector.swift"]
        ),
    ])
    func `no source waits for a time of day`(_ pattern: String, _ allowed: [String]) throws {
        let regex = try Regex(pattern)
        for path in Repository.paths(under: "Sources", endingWith: [".swift", ".c", ".cpp", ".h"]) {
            for (number, line) in try Repository.lines(path).enumerated() where !allowed.contains(path) {
                let code = line[..<(line.firstRange(of: "//")?.lowerBound ?? line.endIndex)]
                #expect(code.firstMatch(of: regex) == nil, "\(path):\(number + 1) waits for a time of day: \(line)")
            }
        }
    }
}
