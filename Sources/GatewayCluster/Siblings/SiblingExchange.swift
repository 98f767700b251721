// SPDX-License-Identifier: Apache-2.0

package import GatewayStore
import Host
package import Logging
package import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Exchanges updates of calls with the sibling gateways, by UDP.
///
/// The recorder hands in what it has read from the ring, and takes what siblings report. The call path is not involved. A
/// sibling that is away costs memory up to a bound, and no call.
package final class SiblingExchange: Service {
    private static let interval = Duration.milliseconds(100)
    /// Time between two attempts to open the socket.
    private static let pause = Duration.seconds(5)
    /// Longest wait at the end for siblings to accept what is queued.
    private static let farewell = Duration.seconds(1)

    private struct State {
        var settings: SiblingSettings
        var links: [SocketAddress: SiblingLink] = [:]
        var reported: [SocketAddress: SiblingStanding.State] = [:]
        /// Siblings whose unknown updates, or whose wrong address for this gateway, were logged.
        var remarked: Set<String> = []
        /// Time of the last response to an unverified datagram.
        var refusedAt: Int64?
        var pause = ProcessPause()
    }

    private let state: Mutex<State>
    private let listen: SocketAddress
    private let place: UInt64
    private let ownRun: UInt64
    private let ledger: any SiblingLedger
    private let logger: Logger
    private let now: @Sendable () -> SiblingLink.Now

    /// - Parameters:
    ///   - listen: the local address; fixed for the life of the process.
    ///   - now: the time; a test may have its own clock.
    package init(
        listen: SocketAddress, settings: SiblingSettings, ledger: any SiblingLedger, logger: Logger,
        now: @escaping @Sendable () -> SiblingLink.Now
    ) {
        self.listen = listen
        place = SiblingDatagram.place(listen)
        self.ledger = ledger
        self.logger = logger
        self.now = now
        ownRun = UInt64.random(in: 1 ... .max)
        state = Mutex(State(settings: settings))
        use(settings)
    }

    /// Takes over other siblings or keys; what waits for a sibling that stays is kept.
    package func use(_ settings: SiblingSettings) {
        state.withLock { state in
            state.settings = settings
            let old = state.links
            state.links = [:]
            for address in settings.siblings {
                state.links[address] =
                    old[address] ?? SiblingLink(run: ownRun, to: SiblingDatagram.place(address))
            }
        }
    }

    /// Queues updates for every sibling; called by the recorder.
    package func append(_ updates: [ReportedUpdate]) {
        state.withLock { state in
            for address in state.links.keys { state.links[address]?.append(updates) }
        }
    }

    /// The state of each sibling, in the order of the configuration.
    package var standings: [SiblingStanding] {
        let now = now()
        return state.withLock { state in
            state.settings.siblings.compactMap { state.links[$0]?.standing($0, at: now) }
        }
    }

    /// `cluster.listen`, by which siblings know this gateway.
    package var address: String { listen.endpointText }

    /// The siblings as a shared ledger needs them.
    package var sights: [SiblingSight] {
        standings.map {
            SiblingSight(address: $0.address, responds: $0.state == .reachable, clockOffset: $0.clockOffset)
        }
    }

    /// Exchanges until the service group shuts down.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await self.exchange(over: try await self.open())
                } catch {
                    guard !Task.isCancelled else { return }
                    self.logger.error(
                        """
                        the address for siblings cannot be used, so they learn of no call that ends here; calls go on; see \
                        cluster.listen
                        """,
                        metadata: [
                            "address": "\(self.listen.endpointText)",
                            "reason": "\(SystemError.text(error) ?? String(describing: error))",
                        ])
                    try? await Task.sleep(for: Self.pause)
                }
            }
        }
    }

    private func open() async throws -> any Channel {
        try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // Full windows of several siblings at once; the kernel grants what net.core.rmem_max allows.
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SiblingHandler(self))
                }
            }
            .bind(to: listen).get()
    }

    private func exchange(over channel: any Channel) async throws {
        while !Task.isCancelled, channel.isActive {
            let milliseconds = now().milliseconds
            state.withLock { $0.pause.round(at: milliseconds) }
            sendDue(over: channel)
            reportChanges()
            try? await Task.sleep(for: Self.interval)
        }
        await sayFarewell(over: channel)
        try? await channel.close()
    }

    /// Sends what the last round of the recorder left, as long as siblings accept it.
    private func sayFarewell(over channel: any Channel) async {
        let rounds = Self.farewell / Self.interval
        // The task is cancelled already, so its own sleep would return at once.
        await Task.detached {
            for _ in 0..<Int(rounds) {
                self.sendDue(over: channel)
                let isIdle = self.state.withLock { $0.links.values.allSatisfy(\.isIdle) }
                if isIdle { return }
                try? await Task.sleep(for: Self.interval)
            }
        }.value
    }

    private func sendDue(over channel: any Channel) {
        let now = now()
        let (datagrams, keys) = state.withLock { state in
            let due = state.links.keys.flatMap { address in
                (state.links[address]?.due(at: now) ?? []).map { (address, $0) }
            }
            return (due, state.settings.keys)
        }
        for (address, datagram) in datagrams { send(datagram.bytes(keys), to: address, over: channel) }
    }

    private func send(_ bytes: [UInt8], to address: SocketAddress, over channel: any Channel) {
        channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// Handles a datagram, on the loop of the channel.
    fileprivate func receive(_ bytes: [UInt8], from source: SocketAddress, over channel: any Channel) {
        let now = now()
        let (keys, isSibling, isHost, isOld) = state.withLock { state in
            (
                state.settings.keys, state.links[source] != nil,
                state.settings.siblings.contains { $0.ipAddress == source.ipAddress },
                state.pause.isRecent(at: now.milliseconds)
            )
        }
        guard isHost, !isOld else { return }
        guard let datagram = SiblingDatagram(bytes, keys) else { return refuse(source, isSibling, keys, now, channel) }
        guard isSibling else {
            // `herald doctor` asks from a port of its own. No link takes a response without a run.
            guard datagram.kind == .report, datagram.updates.isEmpty, datagram.isMeant(for: place) else { return }
            return send(datagram.response(by: 0, at: now).bytes(keys), to: source, over: channel)
        }
        guard datagram.isMeant(for: place) else { return misdirected(source) }
        let response = state.withLock { state in
            state.links[source]?.receive(datagram, at: now, into: ledger)
        }
        if let response { send(response.bytes(keys), to: source, over: channel) }
        if datagram.kind == .response { sendDue(over: channel) }
    }

    /// Responds to a datagram with another secret, at most once a second, so that the other side can see why.
    private func refuse(
        _ source: SocketAddress, _ isSibling: Bool, _ keys: SiblingKeys, _ now: SiblingLink.Now,
        _ channel: any Channel
    ) {
        let isDue = state.withLock { state in
            if isSibling { state.links[source]?.receivedUnverified(at: now) }
            guard !isSibling, state.refusedAt.map({ now.milliseconds - $0 >= 1_000 }) ?? true else { return false }
            state.refusedAt = now.milliseconds
            return true
        }
        guard isDue else { return }
        let response = SiblingDatagram(kind: .response, fromRun: ownRun, toRun: 0, sentAt: now.wallMicroseconds)
        send(response.bytes(keys), to: source, over: channel)
    }

    /// Counts a datagram that was sent to another address: of a sibling with a wrong list, or a recorded one.
    private func misdirected(_ source: SocketAddress) {
        state.withLock { $0.links[source]?.receivedMisdirected() }
        guard isFirst("address \(source.endpointText)") else { return }
        logger.warning(
            """
            sibling \(source.endpointText) sends to another address than cluster.listen of this gateway; its datagrams are \
            ignored; write \(listen.endpointText) into its cluster.siblings
            """)
    }

    /// Whether a remark was not logged before.
    private func isFirst(_ remark: String) -> Bool { state.withLock { $0.remarked.insert(remark).inserted } }

    /// Logs each change of a sibling's state once.
    private func reportChanges() {
        let standings = standings
        let changes = state.withLock { state in
            let before = state.reported
            state.reported = [:]
            for (address, standing) in zip(state.settings.siblings, standings) {
                state.reported[address] = standing.state
            }
            return zip(state.settings.siblings, standings).filter { before[$0] ?? .silent != $1.state }.map(\.1)
        }
        for standing in changes { log(standing) }
        for standing in standings where standing.counts.unknown > 0 && isFirst("updates \(standing.address)") {
            logger.warning(
                """
                sibling \(standing.address) sends call updates that this version does not know; they are left out; install \
                the newer version here too
                """)
        }
    }

    private func log(_ standing: SiblingStanding) {
        switch standing.state {
        case .reachable:
            logger.notice("sibling \(standing.address) is reached")
        case .silent:
            logger.warning(
                """
                sibling \(standing.address) does not respond; calls go on, and the ends of its calls that pass here are \
                sent once it does; see whether it runs and UDP reaches cluster.listen there
                """)
        case .otherSecret:
            logger.error(
                """
                sibling \(standing.address) has another secret; calls in progress cannot move between the gateways; copy \
                the file of cluster.secret_file and reload both
                """)
        }
    }
}

private final class SiblingHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let exchange: SiblingExchange

    init(_ exchange: SiblingExchange) { self.exchange = exchange }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        exchange.receive(
            Array(envelope.data.readableBytesView), from: envelope.remoteAddress, over: context.channel)
    }

    /// An ICMP error means that a sibling is away, which its silence shows.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
