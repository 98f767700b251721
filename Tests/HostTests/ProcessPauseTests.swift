// SPDX-License-Identifier: Apache-2.0

import Host
import Testing

@Suite("A process that did not run for a while")
struct ProcessPauseTests {
    @Test func `nothing that is read between regular rounds has waited`() {
        var pause = ProcessPause()
        #expect(!pause.isRecent(at: 5_000))
        for now in stride(from: Int64(0), through: 10_000, by: 100) {
            pause.round(at: now)
            #expect(!pause.isRecent(at: now + 99))
        }
    }

    @Test func `after a pause what is read has waited, before the next round and for a while after it`() {
        var pause = ProcessPause(of: 2_000, lasting: 500)
        pause.round(at: 0)
        #expect(pause.isRecent(at: 30_000))
        pause.round(at: 30_010)
        #expect(pause.isRecent(at: 30_020))
        pause.round(at: 30_110)
        #expect(pause.isRecent(at: 30_120))
        pause.round(at: 30_510)
        #expect(!pause.isRecent(at: 30_520))
    }

    @Test func `the work of a round is no pause`() {
        var pause = ProcessPause(of: 2_000, lasting: 500)
        pause.round(at: 0)
        pause.roundEnded(at: 9_000)
        pause.round(at: 10_000)
        #expect(!pause.isRecent(at: 10_001))
        pause.roundEnded(at: 10_010)
        pause.round(at: 12_010)
        #expect(pause.isRecent(at: 12_011))
    }
}
