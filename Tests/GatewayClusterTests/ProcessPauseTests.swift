// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayCluster

@Suite("Reports that waited while the process was stopped")
struct ProcessPauseTests {
    @Test("a datagram between regular rounds is not old")
    func regular() {
        var pause = ProcessPause()
        #expect(!pause.makesOld(at: 5_000))
        for now in stride(from: Int64(0), through: 10_000, by: 100) {
            pause.round(at: now)
            #expect(!pause.makesOld(at: now + 99))
        }
    }

    @Test("after a stop, what the socket has is old, whether it is read before the next round or after it")
    func stopped() {
        var pause = ProcessPause()
        pause.round(at: 0)
        #expect(pause.makesOld(at: 30_000))
        pause.round(at: 30_010)
        #expect(pause.makesOld(at: 30_020))
        pause.round(at: 30_110)
        #expect(pause.makesOld(at: 30_120))
        pause.round(at: 30_510)
        #expect(!pause.makesOld(at: 30_520))
    }
}
