// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayApp

@Suite("The gate that holds calls back during a start", .timeLimit(.minutes(8)))
struct StartGateTests {
    @Test func `without an HTTP server it is open`() async {
        #expect(await StartGate().isOpen())
    }

    @Test func `it opens when the last server listens`() async {
        let gate = StartGate()
        let servers = [gate.expectServer(), gate.expectServer()]
        servers[0](9470)
        async let isOpen = gate.isOpen()
        servers[1](9480)
        #expect(await isOpen)
    }

    @Test func `a stop before that is no opening`() async throws {
        struct Waiting: Service {
            let gate: StartGate
            let result: @Sendable (Bool) -> Void
            func run() async { result(await gate.isOpen()) }
        }
        let gate = StartGate()
        _ = gate.expectServer()
        let results = Mutex<[Bool]>([])
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: Waiting(gate: gate) { isOpen in results.withLock { $0.append(isOpen) } },
                        successTerminationBehavior: .gracefullyShutdownGroup)
                ], logger: LogLines().logger))
        async let end: Void = group.run()
        await group.triggerGracefulShutdown()
        try await end
        #expect(results.withLock { $0 } == [false])
    }
}
