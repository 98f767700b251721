// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import Host
import ServiceLifecycle
import Synchronization
import Testing

@testable import GatewayOperator

@Suite("Services of a reload")
struct AfterReloadTests {
    private let log = LogLines()

    /// A server whose address is in use at its first starts.
    private final class Server: Service {
        private let refusals: Int
        private let count = Atomic<Int>(0)
        var starts: Int { count.load(ordering: .relaxed) }

        init(refusals: Int) { self.refusals = refusals }

        func run() async throws {
            guard count.add(1, ordering: .relaxed).newValue <= refusals else { return }
            throw ListenRefusal(.tcp, "127.0.0.1:9470", code: 98, key: "admin.listen")
        }
    }

    private func service(_ server: Server) -> AfterReload {
        AfterReload(service: server, patience: .milliseconds(50), pause: .milliseconds(1), logger: log.logger)
    }

    @Test func `an address that the earlier server still has is tried again`() async throws {
        let server = Server(refusals: 3)
        try await service(server).run()
        #expect(server.starts == 4)
        #expect(log.all.isEmpty)
    }

    @Test func `an address that stays in use is reported once, and ends nothing`() async throws {
        let server = Server(refusals: .max)
        let running = Task { try await service(server).run() }
        while log.all.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(log.all.count == 1 && log.all[0].contains("the admin port is off: cannot listen on TCP 127.0.0.1:9470"))
        running.cancel()
        try await running.value
    }
}
