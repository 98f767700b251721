// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import Directory

@Suite("Connections of the directory's clients", .timeLimit(.minutes(8)))
struct ClientConnectionsTests {
    @Test func `a client that never finishes asking is let go`() async throws {
        try await RunningDirectory.run(edit: { $0.connections.idle = .milliseconds(200) }) { directory in
            let request = RawRequest(
                method: "POST", path: "/mobile/branding/event", headers: [("X-API-Key", directory.key)],
                body: Array("{".utf8), announced: 100)
            // The end of the connection; a server that waits on would run into the suite's time limit.
            await #expect(throws: LoopbackClient.NoAnswer.self) {
                try await LoopbackClient.ask(request, port: directory.port)
            }
        }
    }

    @Test func `more connections than may be wait until others are closed`() async throws {
        try await RunningDirectory.run(edit: {
            $0.connections.most = 2
            $0.connections.idle = .milliseconds(300)
        }) { directory in
            let idle = try (0..<2).map { _ in try IdleConnection(port: directory.port) }
            let health = try await LoopbackClient.ask(RawRequest(path: "/healthz"), port: directory.port)
            #expect(health.status == 200)
            // Answered only once one of them had been let go.
            #expect(idle.contains { $0.isClosed })
        }
    }

    @Test func `a client that takes nothing of its answer is let go`() throws {
        let channel = EmbeddedChannel(handler: StalledReader(after: .seconds(60)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        setWritable(false, channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `a slow client that takes some of its answer within the time is kept`() throws {
        let channel = EmbeddedChannel(handler: StalledReader(after: .seconds(60)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for _ in 0..<10 {
            setWritable(false, channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            setWritable(true, channel)
        }
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test(arguments: [true, false])
    func `an answer that is not there in its longest time ends the connection`(isLate: Bool) throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let deadline = AnswerDeadline(
            longest: .minutes(30), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let end = deadline.begin(on: channel, path: "/")
        channel.embeddedEventLoop.advanceTime(by: .seconds(1799))
        #expect(channel.isActive)
        if !isLate { end.cancel() }
        channel.embeddedEventLoop.advanceTime(by: .hours(24))
        #expect(channel.isActive == !isLate)
        _ = try? channel.finish()
    }

    private func setWritable(_ isWritable: Bool, _ channel: EmbeddedChannel) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }
}
