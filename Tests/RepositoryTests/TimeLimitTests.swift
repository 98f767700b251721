// SPDX-License-Identifier: Apache-2.0

import Testing

/// A limit ends a test that hangs.
///
/// It runs while the test waits for its turn, behind all others of the run.
@Suite("Time limits of tests")
struct TimeLimitTests {
    /// The whole run takes five to eight minutes on two cores.
    private static let least = 8

    @Test func `each lasts longer than the tests before it may take`() throws {
        let limit = try Regex(#"\.timeLimit\(\.minutes\((\d+)\)"#, as: (Substring, Substring).self)
        var count = 0
        for path in Repository.paths(under: "Tests", endingWith: [".swift"]) {
            for (number, line) in try Repository.lines(path).enumerated() {
                guard let minutes = line.firstMatch(of: limit).flatMap({ Int($0.output.1) }) else { continue }
                count += 1
                #expect(minutes >= Self.least, "\(path):\(number + 1): \(line)")
            }
        }
        #expect(count > 100)
    }
}
