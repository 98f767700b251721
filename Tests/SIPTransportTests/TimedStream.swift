// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded

@testable import SIPTransport

/// One accepted connection on an event loop whose time a test moves.
final class TimedStream {
    let observer = StreamObserver()
    let counters = StreamCounters()
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel
    private let hub: StreamHub

    init(_ change: (inout StreamLimits) -> Void = { _ in }) throws {
        var limits = StreamLimits()
        change(&limits)
        let listener = StreamListener(position: 0, address: UDPSocketTests.loopback)
        hub = StreamHub(
            loop: loop, listeners: [listener], inboxes: [observer.inbox], limits: limits, counters: counters,
            onTrouble: { _ in })
        channel = EmbeddedChannel(loop: loop)
        let remote = try SocketAddress(ipAddress: "127.0.0.1", port: 5060)
        channel.remoteAddress = remote
        try hub.accept(channel, on: listener)
        try channel.connect(to: remote).wait()
    }

    /// Lets the connection receive bytes.
    func receive(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    /// Moves the time and looks after the connections, as the transport does once a second.
    func advance(by duration: Duration) {
        loop.advanceTime(by: duration.timeAmount)
        hub.sweep()
    }
}
