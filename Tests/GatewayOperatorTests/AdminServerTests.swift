// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import Logging
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Admin server", .timeLimit(.minutes(8)))
struct AdminServerTests {
    @Test func `the page responds on a real socket and metrics carry their content type`() async throws {
        try await withServer(FixedStatus()) { port in
            let health = try await LoopbackClient.get("/healthz", port: port)
            #expect(health.status == 200 && health.text == "ok\n")
            #expect(health.headers["content-type"] == "text/plain; charset=utf-8")
            let metrics = try await LoopbackClient.get("/metrics", port: port)
            #expect(metrics.status == 200)
            #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(metrics.text.contains("# TYPE herald_brand_numbers gauge\nherald_brand_numbers 3\n"))
            #expect(try await LoopbackClient.get("/elsewhere", port: port).status == 404)
        }
    }

    @Test(arguments: ["/healthz", "/readyz", "/metrics", "/status"])
    func `a monitor may ask for the status alone by HEAD`(path: String) async throws {
        let source = FixedStatus()
        try await withServer(source) { port in
            let head = try await LoopbackClient.ask(RawRequest(method: "HEAD", path: path), port: port)
            let whole = try await LoopbackClient.get(path, port: port)
            #expect(head.status == whole.status && head.text.isEmpty)
            #expect(head.headers["content-type"] == whole.headers["content-type"])
        }
    }

    @Test func `readiness follows the gateway while health stays`() async throws {
        let source = FixedStatus()
        source.change {
            $0.listening = []
            $0.branding.isSettled = false
        }
        try await withServer(source) { port in
            #expect(try await LoopbackClient.get("/readyz", port: port).status == 503)
            #expect(try await LoopbackClient.get("/readyz", port: port).text == "not ready: no socket is listening\n")
            #expect(try await LoopbackClient.get("/healthz", port: port).status == 200)

            source.change { $0.listening = ["127.0.0.1:5060"] }
            let second = try await LoopbackClient.get("/readyz", port: port)
            #expect(second.status == 503)
            #expect(second.text == "not ready: no brands yet: the first sync with the directory has not ended\n")

            source.change { $0.branding.isSettled = true }
            let third = try await LoopbackClient.get("/readyz", port: port)
            #expect(third.status == 200 && third.text == "ready\n")
            #expect(third.headers["content-type"] == second.headers["content-type"])

            source.change { $0.isDraining = true }
            let draining = try await LoopbackClient.get("/readyz", port: port)
            #expect(draining.status == 503)
            #expect(draining.text.hasPrefix("not ready: the gateway drains"))

            source.change { $0.listening = [] }
            #expect(try await LoopbackClient.get("/readyz", port: port).status == 503)
        }
    }

    @Test func `a gateway that waits for its shared address is ready, and says so`() async throws {
        let source = FixedStatus()
        source.change {
            $0.listening = ["192.0.2.10:5060", "192.0.2.10:5061"]
            $0.standby = $0.listening
            $0.siblings = [.init(address: "b", state: "reachable", clockOffset: nil, waiting: 0, dropped: 0)]
        }
        try await withServer(source) { port in
            let standby = try await LoopbackClient.get("/readyz", port: port)
            #expect(standby.status == 200 && standby.text == "standby: 192.0.2.10 is at another machine\n")
            source.change { $0.listening.append("192.0.2.11:5060") }
            #expect(
                try await LoopbackClient.get("/readyz", port: port).text == "ready\n", "its own address takes calls")
            source.change { $0.isDraining = true }
            #expect(try await LoopbackClient.get("/readyz", port: port).status == 503)
        }
    }

    @Test func `a closed gate and a failed sync leave the gateway ready`() async throws {
        let source = FixedStatus()
        source.change {
            $0.branding.gate = "gated:unauthorised"
            $0.sync = .init(result: "unauthorised", failuresInARow: 3, lastError: "the key was refused")
        }
        try await withServer(source) { port in
            let response = try await LoopbackClient.get("/readyz", port: port)
            #expect(response.status == 200)
        }
    }

    @Test func `without a PBX that is up the gateway is not ready, and says which`() async throws {
        let source = FixedStatus()
        source.change {
            $0.pbxProblem = "no target of pbx office is up: calls are rejected with 503 until one responds"
        }
        try await withServer(source) { port in
            let response = try await LoopbackClient.get("/readyz", port: port)
            #expect(response.status == 503)
            #expect(
                response.text
                    == "not ready: no target of pbx office is up: calls are rejected with 503 until one responds\n")
        }
    }

    @Test func `the status lists trunks and targets with times in seconds`() async throws {
        let source = FixedStatus()
        source.change {
            $0.trunks = [.init(name: "carrier", pbx: "office", calls: 3)]
            $0.targets = [
                .init(
                    group: "pbx office", address: "192.0.2.20:5060", state: "down", takesCalls: false,
                    since: 1_700_000_200, lastResponse: 1_700_000_150)
            ]
        }
        try await withServer(source) { port in
            let response = try await LoopbackClient.get("/status", port: port)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
            let trunk = try #require((json["trunks"] as? [[String: Any]])?.first)
            #expect(trunk["name"] as? String == "carrier" && trunk["calls"] as? Int == 3)
            let target = try #require((json["targets"] as? [[String: Any]])?.first)
            #expect(target["group"] as? String == "pbx office" && target["state"] as? String == "down")
            #expect(target["takes_calls"] as? Bool == false && target["since"] as? Int == 1_700_000_200)
            #expect(target["last_response"] as? Int == 1_700_000_150)
            #expect((json["rejected"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func `the status is JSON with everything that is known and nothing that is not`() async throws {
        let source = FixedStatus()
        source.change {
            $0.sync = .init(result: "failed", lastSuccess: 1_700_000_100, failuresInARow: 2, lastError: "no response")
            $0.outbox = .init(waiting: 4, refused: 1)
            $0.transactions = 9
            $0.ledgerProblem = "the disk is full"
        }
        try await withServer(source) { port in
            let response = try await LoopbackClient.get("/status", port: port)
            #expect(response.headers["content-type"] == "application/json; charset=utf-8")
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
            #expect(json["gateway"] as? String == "edge-1")
            #expect(json["started_at"] as? Int == 1_700_000_000)
            #expect(json["transactions"] as? Int == 9)
            #expect(json["draining"] as? Bool == false)
            #expect(json["ledger_problem"] as? String == "the disk is full")
            let branding = try #require(json["branding"] as? [String: Any])
            #expect(branding["settled"] as? Bool == true)
            #expect(branding["gate"] == nil)
            let sync = try #require(json["sync"] as? [String: Any])
            #expect(sync["last_success"] as? Int == 1_700_000_100)
            #expect(sync["last_error"] as? String == "no response")
            #expect(sync["next_at"] == nil)
            let outbox = try #require(json["outbox"] as? [String: Any])
            #expect(outbox["refused"] as? Int == 1)
        }
    }

    @Test func `an address in use ends the run and is named with what to do`() async throws {
        try await withServer(FixedStatus()) { port in
            let second = AdminServer(
                HTTPListener(host: "127.0.0.1", port: port, key: "admin.listen"), source: FixedStatus(),
                logger: Logger(label: "test"))
            let error = await #expect(throws: (any Error).self) { try await second.run() }
            #expect(
                error.map { "\($0)" } == """
                    cannot listen on TCP 127.0.0.1:\(port): Address already in use; \
                    see who uses it with `ss -ltnp`, or change admin.listen
                    """)
        }
    }
}

/// Runs the page on a port the system chose, for as long as `body` takes.
private func withServer(
    _ source: FixedStatus, _ body: @escaping @Sendable (_ port: Int) async throws -> Void
) async throws {
    try await RunningServer.run({ AdminServer($0, source: source, logger: $1) }, body)
}
