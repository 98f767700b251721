// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Host

@Suite("Progress of a long command")
struct ProgressLineTests {
    /// A terminal of a width, whose clock the test moves.
    private final class Terminal: Sendable {
        let written = Mutex("")
        let now = Mutex<UInt64>(0)

        func line(width: Int?) -> ProgressLine {
            ProgressLine(
                width: { width }, now: { self.now.withLock { $0 } },
                write: { text in self.written.withLock { $0 += text } })
        }

        func pass(_ milliseconds: UInt64) { now.withLock { $0 += milliseconds } }
        var text: String { written.withLock { $0 } }
    }

    @Test func `where no terminal is, nothing is written`() {
        let terminal = Terminal()
        let line = terminal.line(width: nil)
        line.show("importing", done: 1, of: 2, unit: "KiB")
        line.show("merging")
        line.end()
        #expect(terminal.text.isEmpty)
    }

    @Test func `a text takes the place of the last one, at most ten times a second, and the end clears it`() {
        let terminal = Terminal()
        let line = terminal.line(width: 80)
        line.show("one")
        terminal.pass(99)
        line.show("two")
        terminal.pass(1)
        line.show("three")
        line.end()
        line.end()
        #expect(terminal.text == "\rone\u{1B}[K\rthree\u{1B}[K\r\u{1B}[K")
    }

    @Test(arguments: [(0, "  0 %"), (50, " 50 %"), (100, "100 %"), (120, "100 %")])
    func `a bar has its share`(done: Int, percent: String) {
        let bar = ProgressLine.bar("importing", done: done, of: 100, unit: "KiB", width: 79)
        #expect(bar.hasPrefix("importing \(percent)  \(min(done, 100)) of 100 KiB  ["))
        #expect(bar.count <= 79)
        #expect(bar.count { $0 == "#" } + bar.count { $0 == "-" } >= 8)
    }

    @Test(arguments: [1, 10, 24, 40, 80, 400])
    func `no line is wider than the terminal`(width: Int) {
        #expect(ProgressLine.bar("importing", done: 3, of: 9, unit: "KiB", width: width).count <= width)
        #expect(ProgressLine.bar("importing", done: 3, of: 0, unit: "KiB", width: width).count <= width)
    }
}
