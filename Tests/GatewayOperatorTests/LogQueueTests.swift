// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("Log lines of threads that must not wait", .timeLimit(.minutes(8)))
struct LogQueueTests {
    private final class Written: Sendable {
        let lines = Mutex<[Int]>([])
        let leftOut = Mutex<[Int]>([])
        let reported = DispatchSemaphore(value: 0)
    }

    @Test func `lines above the limit are left out and counted once the terminal writes again`() {
        let (written, terminal) = (Written(), DispatchSemaphore(value: 0))
        let queue = LogQueue(label: "test", most: 3) { count in
            written.leftOut.withLock { $0.append(count) }
            written.reported.signal()
        }
        queue.append { lines in
            terminal.wait()
            written.lines.withLock { $0.append(lines) }
        }
        queue.append(4) { lines in written.lines.withLock { $0.append(lines) } }
        queue.append { _ in written.lines.withLock { $0.append(99) } }
        terminal.signal()
        written.reported.wait()
        #expect(written.leftOut.withLock { $0 } == [3])
        let last = DispatchSemaphore(value: 0)
        queue.append { lines in
            written.lines.withLock { $0.append(lines) }
            last.signal()
        }
        last.wait()
        #expect(written.lines.withLock { $0 } == [1, 2, 1])
        #expect(written.leftOut.withLock { $0 } == [3])
    }
}
