// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing

@testable import Host

@Suite("A bell that waits by the monotonic clock", .timeLimit(.minutes(8)))
struct SteadyBellTests {
    @Test func `a ring before the wait is kept, once`() {
        let bell = SteadyBell()
        bell.ring()
        bell.ring()
        #expect(bell.wait(.seconds(3_600)))
        #expect(!bell.wait(.zero))
    }

    @Test(arguments: [Duration.zero, .milliseconds(1), .seconds(-5)])
    func `a wait that nobody ends is over after its time`(time: Duration) {
        #expect(!SteadyBell().wait(time))
    }

    @Test func `a ring from another thread ends a long wait`() {
        let bell = SteadyBell()
        DispatchQueue.global().async { bell.ring() }
        #expect(bell.wait(.seconds(3_600)))
    }
}
