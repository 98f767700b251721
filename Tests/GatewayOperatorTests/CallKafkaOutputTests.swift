// SPDX-License-Identifier: Apache-2.0

import CRDKafka
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import KafkaTesting
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("The Kafka output of call records", .timeLimit(.minutes(8)))
struct CallKafkaOutputTests {
    private let calls: EndedCalls
    private let cluster: MockCluster
    private let log = LogLines()

    init() throws {
        calls = try EndedCalls()
        cluster = try MockCluster()
        cluster.create("calls")
    }

    private func output(_ topic: String = "calls", patience: Duration = .seconds(30)) -> CallKafkaOutput {
        CallKafkaOutput(
            calls.queue, KafkaSettings(brokers: cluster.brokers, topic: topic), logger: log.logger, patience: patience)
    }

    private func keys(atLeast count: Int) throws -> [String] {
        try cluster.records("calls", atLeast: count).map(\.key)
    }

    @Test func `each call is sent once, with its call id as key and the webhook's record as value`() async throws {
        var output = output()
        try calls.end(20)
        let due = try calls.queue.due(.kafka, limit: 20, now: 0)
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 20))
        #expect(try await output.round(at: 5_000) == CallOutputRound())
        #expect(try calls.waiting(.kafka) == 0)
        await output.shutdown()
        let records = try cluster.records("calls", atLeast: 20)
        #expect(records.map(\.key).sorted() == due.map(\.call.callID).sorted())
        let first = try #require(due.first?.call)
        #expect(
            records.first { $0.key == first.callID }?.value
                == String(try Output.line(json: first.recordJSON).dropLast()))
    }

    @Test func `a long queue goes out in rounds of five hundred, in the order of its calls`() async throws {
        var output = output()
        for _ in 0..<3 { try calls.end(400) }
        let ids = try calls.queue.due(.kafka, limit: 2_000, now: 0).map(\.call.callID)
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 500, hasMore: true))
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 500, hasMore: true))
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 200))
        await output.shutdown()
        #expect(try keys(atLeast: 1_200) == ids)
    }

    @Test func `calls wait for a cluster that is away, and go out once when it is back`() async throws {
        cluster.set(isDown: true)
        var output = output(patience: .seconds(2))
        try calls.end(5)
        for now in Int64(0)..<2 {
            let error = await #expect(throws: KafkaOutputError.self) { () async throws in
                try await output.round(at: now)
            }
            #expect(error.map { [.closed, .unreachable].contains($0.reason.cause) } == true)
            #expect(error?.description.hasPrefix("outcomes.kafka: Kafka at 127.0.0.1:") == true)
        }
        try calls.end(5)
        #expect(try calls.waiting(.kafka) == 10)
        cluster.set(isDown: false)
        var sent = 0
        for now in Int64(10)..<40 where sent < 10 { sent += (try? await output.round(at: now).sent) ?? 0 }
        #expect(sent == 10)
        await output.shutdown()
        #expect(try keys(atLeast: 10).count == 10)
    }

    @Test func `a producer that delivers nothing while the brokers respond is replaced, and the status says so`()
        async throws
    {
        // The first connection gets no response any more. Another one works.
        cluster.delayNext(.produce, milliseconds: 120_000)
        var output = output(patience: .milliseconds(500))
        try calls.end(5)
        var causes: [KafkaError.Cause] = []
        for now in Int64(0)..<3 {
            let error = await #expect(throws: KafkaOutputError.self) { () async throws in
                try await output.round(at: now)
            }
            if let error { causes.append(error.reason.cause) }
            if now == 2 {
                #expect(error?.description.contains("the brokers respond to a new connection") == true)
            }
        }
        #expect(causes == [.silent, .silent, .stuck])
        var sent = 0
        for now in Int64(3)..<20 where sent < 5 { sent += (try? await output.round(at: now).sent) ?? 0 }
        #expect(sent == 5)
        await output.shutdown()
        #expect(try Set(keys(atLeast: 5)).count == 5)
        #expect(try calls.waiting(.kafka) == 0)
    }

    @Test func `a producer whose brokers are away is kept, and the status says that they are`() async throws {
        cluster.set(isDown: true)
        var output = output(patience: .milliseconds(700))
        try calls.end(1)
        for now in Int64(0)..<7 {
            let error = await #expect(throws: KafkaOutputError.self) { () async throws in
                try await output.round(at: now)
            }
            #expect(error.map { [.closed, .unreachable, .silent].contains($0.reason.cause) } == true)
        }
        cluster.set(isDown: false)
        var sent = 0
        for now in Int64(10)..<60 where sent < 1 { sent += (try? await output.round(at: now).sent) ?? 0 }
        #expect(sent == 1)
        await output.shutdown()
        #expect(try keys(atLeast: 1).count == 1)
    }

    @Test func `brokers that acknowledge nothing are an error that names the replicas`() async throws {
        cluster.setDelay(milliseconds: 5_000)
        var output = output(patience: .milliseconds(500))
        try calls.end(1)
        let error = await #expect(throws: KafkaOutputError.self) { () async throws in try await output.round(at: 0) }
        #expect(error?.reason.cause == .silent && error?.description.contains("min.insync.replicas") == true)
        await output.shutdown()
        #expect(try calls.waiting(.kafka) == 1)
    }

    @Test func `a record that the topic refuses holds back no other one, and is named with the remedy`() async throws {
        var output = output()
        try calls.end(3)
        // A broker refuses all records of a request for one of them.
        cluster.push([RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE], to: .produce)
        #expect(try await output.round(at: 0) == CallOutputRound(failed: 3))
        #expect(log.all.isEmpty, "in company the refused record is not known")
        // From here on they go alone.
        cluster.push([RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE], to: .produce)
        let refused = try #require(try calls.queue.due(.kafka, limit: 1, now: 0).first?.call.callID)
        #expect(try await output.round(at: 0) == CallOutputRound(failed: 1, hasMore: true))
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 1, hasMore: true))
        #expect(try await output.round(at: 0) == CallOutputRound(sent: 1))
        #expect(
            log.all.count == 1 && log.text.contains(refused) && log.text.contains("max.message.bytes of topic calls"))
        #expect(try await output.round(at: 3) == CallOutputRound(), "its second wait is 4 s")
        #expect(try await output.round(at: 4).sent == 1)
        await output.shutdown()
        #expect(try keys(atLeast: 3).sorted() == Set(try keys(atLeast: 3)).sorted())
    }

    @Test func `a missing right pauses the output for 2, 4, 8 seconds, and no call waits longer for it`() async throws {
        var output = output()
        try calls.end(10)
        var now: Int64 = 100
        for pause in [Int64(2), 4, 8] {
            cluster.push([RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED], to: .produce)
            let error = await #expect(throws: KafkaOutputError.self) { () async throws in
                try await output.round(at: now)
            }
            #expect(error?.reason.cause == .forbidden)
            #expect(try await output.round(at: now + pause - 1) == CallOutputRound(), "not in the pause")
            now += pause
        }
        #expect(try await output.round(at: now).sent == 10)
        cluster.push([RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED], to: .produce)
        try calls.end(1)
        await #expect(throws: KafkaOutputError.self) { () async throws in try await output.round(at: now) }
        #expect(
            try await output.round(at: now - 3_600).sent == 1, "a clock that was set back does not lengthen the pause")
        await output.shutdown()
    }

    @Test func `a missing topic is an error, and the calls wait`() async throws {
        cluster.set(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, of: "absent")
        var output = output("absent", patience: .seconds(60))
        try calls.end(2)
        let error = await #expect(throws: KafkaOutputError.self) { () async throws in try await output.round(at: 0) }
        #expect(error?.reason.cause == .noTopic)
        #expect(try calls.queue.due(.kafka, limit: 9, now: 0).map(\.attempts) == [0, 0])
        await output.shutdown()
    }

    @Test func `a queue that refuses removals does not send a call twice`() async throws {
        var output = output()
        try calls.end(2)
        try calls.setRemovals(fail: true)
        for now in Int64(0)..<2 {
            await #expect(throws: (any Error).self) { () async throws in try await output.round(at: now) }
        }
        try calls.setRemovals(fail: false)
        _ = try await output.round(at: 2)
        #expect(try calls.waiting(.kafka) == 0)
        await output.shutdown()
        #expect(try keys(atLeast: 2).count == 2)
    }

    @Test func `a stop does not wait for the cluster, and the next start sends the calls with the same ids`()
        async throws
    {
        cluster.set(isDown: true)
        let first = output(patience: .seconds(3_600))
        try calls.end(3)
        let ids = try calls.queue.due(.kafka, limit: 9, now: 0).map(\.call.callID)
        let round = Task { () async throws in
            var output = first
            return try await output.round(at: 0)
        }
        try await Task.sleep(for: .milliseconds(300))
        round.cancel()
        #expect(try await round.value == CallOutputRound())
        await first.shutdown()
        #expect(try calls.waiting(.kafka) == 3)
        cluster.set(isDown: false)
        var second = output()
        #expect(try await second.round(at: 0).sent == 3)
        await second.shutdown()
        #expect(try keys(atLeast: 3).sorted() == ids.sorted())
    }

    @Test func `one line of a kind of librdkafka is logged in ten minutes`() {
        let library = KafkaLibraryLog(logger: log.logger)
        let line = KafkaLogLine(level: 3, facility: "FAIL", text: "127.0.0.1:9092: refused")
        for second in 0..<599 { library.append(line, at: Int64(second) * 1_000_000) }
        #expect(log.all.count { $0.hasPrefix("warning") } == 1)
        library.append(line, at: 600_000_000)
        library.append(KafkaLogLine(level: 5, facility: "OTHER", text: "a notice"), at: 600_000_000)
        #expect(log.all.count { $0.hasPrefix("warning") } == 2)
        #expect(log.text.contains("notice librdkafka: a notice"))
    }
}

@Suite("Settings of the Kafka output")
struct KafkaOutputSettingsTests {
    @Test func `a renewed certificate is another output, and the same file is not`() throws {
        let folder = try GatewayFolder()
        try folder.put(Array("first".utf8), in: "roots.pem")
        let text = folder.sections.with("outcomes", "{kafka: {brokers: [k:9092], topic: t, tls: {roots: roots.pem}}}")
        func settings() throws -> KafkaOutputSettings? { KafkaOutputSettings(try folder.configuration(text).outcomes) }
        let first = try settings()
        #expect(try first != nil && first == settings())
        try folder.put(Array("second".utf8), in: "roots.pem")
        #expect(first != (try settings()))
    }
}
