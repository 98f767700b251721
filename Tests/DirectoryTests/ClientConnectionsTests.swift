// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Testing

@testable import Directory

@Suite("Connections of the directory's clients")
struct ClientConnectionsTests {
    @Test(arguments: [
        RawRequest(method: "POST", path: "/mobile/events", body: Array("{".utf8), announced: 100),
        RawRequest(method: "POST", path: "/admin/v1/brands", body: Array("{".utf8), announced: 100),
    ]) func `a client that never finishes asking is let go`(request: RawRequest) async throws {
        try await RunningDirectory.run(edit: { $0.connections.idle = .milliseconds(200) }) { directory in
            // Returns when the server closes; one that does not would run into the client's patience.
            var request = request
            request.headers = [("X-API-Key", directory.key)]
            let answer = try? await LoopbackClient.ask(request, port: directory.port)
            #expect(answer?.status != 200)
        }
    }

    @Test func `more connections than may be wait until others are closed`() async throws {
        try await RunningDirectory.run(edit: {
            $0.connections.most = 2
            $0.connections.idle = .milliseconds(300)
        }) { directory in
            let idle = RawRequest(method: "POST", path: "/mobile/events", announced: 100)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try? await LoopbackClient.ask(idle, port: directory.port) } }
                try await group.waitForAll()
            }
            let health = try await LoopbackClient.ask(RawRequest(path: "/healthz"), port: directory.port)
            #expect(health.status == 200)
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

    private func setWritable(_ isWritable: Bool, _ channel: EmbeddedChannel) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }
}
