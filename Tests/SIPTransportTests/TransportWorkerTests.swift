// SPDX-License-Identifier: Apache-2.0

import Glibc
import Host
import SIPCore
import SIPTransport
import Synchronization
import Testing

@Suite("UDP worker over loopback", .timeLimit(.minutes(8)))
struct TransportWorkerTests {
    static let families = [UDPSocketTests.loopback, UDPSocketTests.loopback6]

    /// Sends datagrams from one worker to an echoing one; what came back, in order.
    private func echo(
        _ datagrams: [[UInt8]], at address: PeerAddress, expecting count: Int
    ) async throws -> (returned: [[UInt8]], echo: Observed, caller: Observed) {
        let server = try UDPSocket(address: address)
        let client = try UDPSocket(address: address)
        let (echoed, called) = (Observed(), Observed())
        let workers = [TransportWorker(sockets: [server]), TransportWorker(sockets: [client])]
        defer { for worker in workers { worker.stop() } }
        workers[0].start { EchoElement(echoed) }
        let outgoing = datagrams.map { OutgoingMessage(bytes: $0, destination: server.address, socket: 0) }
        workers[1].start { CallerElement(sending: outgoing, called) }
        let isDone = try await called.wait { $0.received.withLock { $0.count } >= count }
        #expect(isDone)
        return (called.received.withLock { $0 }, echoed, called)
    }

    @Test func `the delay of an INVITE that leaves again is measured, and of nothing else`() async throws {
        let server = try UDPSocket(address: UDPSocketTests.loopback)
        let client = try UDPSocket(address: UDPSocketTests.loopback)
        let (echoed, called) = (Observed(), Observed())
        let workers = [TransportWorker(sockets: [server]), TransportWorker(sockets: [client])]
        defer { for worker in workers { worker.stop() } }
        workers[0].start {
            EchoElement(echoed) { $0.starts(with: "INVITE b".utf8) ? [Array("SIP/2.0 503".utf8)] : [$0, [1]] }
        }
        let datagrams = ["INVITE a", "INVITE b", "INFO sip:a", "OPTIONS a", "INV"].map { Array($0.utf8) }
        workers[1].start {
            CallerElement(
                sending: datagrams.map { OutgoingMessage(bytes: $0, destination: server.address, socket: 0) }, called)
        }
        let isDone = try await called.wait { called in called.received.withLock { $0.count } == 9 }
        #expect(isDone)
        #expect(workers[0].delays.distribution.count == 1)
        #expect(workers[0].delays.distribution.sum > 0)
        #expect(workers[1].delays.distribution.count == 0, "it forwards nothing")
    }

    @Test(arguments: families)
    func `a burst comes back whole and in order`(address: PeerAddress) async throws {
        let datagrams = (0..<200).map { number in Array("OPTIONS \(number)".utf8) + [0, 13, 10, 255] }
        let result = try await echo(datagrams, at: address, expecting: 200)
        #expect(result.returned == datagrams)
        #expect(result.echo.troubles.withLock { $0.isEmpty })
    }

    @Test(arguments: families)
    func `a datagram of 60,000 bytes comes back, and so does one of none`(address: PeerAddress) async throws {
        let large = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let result = try await echo([large, [], [1]], at: address, expecting: 3)
        #expect(result.returned == [large, [], [1]])
    }

    @Test func `a datagram too large to send is reported and holds up nothing`() async throws {
        let tooLarge = [UInt8](repeating: 1, count: 65_520)
        let result = try await echo([[1], tooLarge, [2]], at: UDPSocketTests.loopback, expecting: 2)
        #expect(result.returned == [[1], [2]])
        #expect(result.caller.troubles.withLock { $0 } == [.unsent(errno: 90)])  // EMSGSIZE
    }

    @Test(arguments: families)
    func `what nobody listens for comes back, and the datagrams after it arrive, RFC 3261 §18.4`(
        address: PeerAddress
    ) async throws {
        let nobody = try UDPSocket(address: address).address
        let server = try UDPSocket(address: address)
        let client = try UDPSocket(address: address)
        let (echoed, called) = (Observed(), Observed())
        let workers = [TransportWorker(sockets: [server]), TransportWorker(sockets: [client])]
        defer { for worker in workers { worker.stop() } }
        workers[0].start { EchoElement(echoed) }
        let outgoing = (0..<60).map { number in
            OutgoingMessage(
                bytes: [UInt8(number)], destination: number.isMultiple(of: 3) ? nobody : server.address, socket: 0,
                token: DeliveryToken(branch: Branch(token: 1), attempt: 0))
        }
        workers[1].start { CallerElement(sending: outgoing, called) }
        let isDone = try await called.wait { called in
            called.received.withLock { $0.count } == 40 && called.returned.withLock { !$0.isEmpty }
        }
        #expect(isDone, "an ICMP message about one datagram fails no other")
        #expect(called.returned.withLock { $0.allSatisfy { $0.count == 1 && $0[0].isMultiple(of: 3) } })
        #expect(called.troubles.withLock { $0.isEmpty })
    }

    @Test func `what one message causes is sent before the next of its batch is handled`() async throws {
        let server = try UDPSocket(address: UDPSocketTests.loopback)
        let client = try UDPSocket(address: UDPSocketTests.loopback)
        let (echoed, called) = (Observed(), Observed())
        let workers = [TransportWorker(sockets: [server]), TransportWorker(sockets: [client])]
        defer { for worker in workers { worker.stop() } }
        let outgoing = (0..<30).map { OutgoingMessage(bytes: [UInt8($0)], destination: server.address, socket: 0) }
        workers[1].start { CallerElement(sending: outgoing, called) }
        // The server begins when all are in its queue.
        let areSent = try await called.wait { $0.timers.load(ordering: .relaxed) >= 2 }
        #expect(areSent)
        workers[0].start { EchoElement(echoed) }
        let areBack = try await called.wait { $0.received.withLock { $0.count } == 30 }
        #expect(areBack)
        #expect(echoed.unsent.load(ordering: .relaxed) == 0)
    }

    @Test func `a request that fails at every target gets its response in the same round, §16.9`() async throws {
        let server = try UDPSocket(address: UDPSocketTests.loopback)
        let client = try UDPSocket(address: UDPSocketTests.loopback)
        let observed = Observed()
        let worker = TransportWorker(sockets: [server])
        defer { worker.stop() }
        worker.start { FailingElement(observed) }
        let caller = TransportWorker(sockets: [client])
        defer { caller.stop() }
        let called = Observed()
        caller.start {
            CallerElement(sending: [OutgoingMessage(bytes: [1], destination: server.address, socket: 0)], called)
        }
        #expect(try await called.wait { $0.received.withLock { $0 } == [[1]] })
        #expect(observed.troubles.withLock { $0.count } == TargetGroup.mostTried)
    }

    @Test func `what came in while the thread did not run is known as such, and what comes later is not`()
        async throws
    {
        let server = try UDPSocket(address: UDPSocketTests.loopback)
        let observed = Observed()
        let worker = TransportWorker(sockets: [server])
        defer { worker.stop() }
        let second = Sent()
        worker.start {
            EchoElement(observed) { datagram in
                if datagram == [1] {
                    for _ in 0..<3_000 where !second.isSent.load(ordering: .relaxed) { usleep(10_000) }
                    usleep(2_100_000)
                }
                return [datagram]
            }
        }
        /// Sends one datagram; true once it is back.
        @Sendable func send(_ number: UInt8) async throws -> Bool {
            let called = Observed()
            let caller = TransportWorker(sockets: [try UDPSocket(address: UDPSocketTests.loopback)])
            defer { caller.stop() }
            caller.start {
                CallerElement(
                    sending: [OutgoingMessage(bytes: [number], destination: server.address, socket: 0)], called)
            }
            if number == 2 { second.isSent.store(true, ordering: .relaxed) }
            return try await called.wait { $0.received.withLock { $0 } == [[number]] }
        }
        async let first = send(1)
        #expect(try await observed.wait { $0.received.withLock { $0 } == [[1]] })
        #expect(try await send(2))
        #expect(try await first)
        #expect(observed.late.withLock { $0 } == [[2]], "it came while the first one was handled")
        var later: UInt8 = 3
        repeat {
            #expect(try await send(later))
            later += 1
        } while later < 250 && observed.late.withLock { $0.last } == [later - 1]
        #expect(later < 250, "half a second after the pause nothing is late")
    }

    @Test func `two sockets of both families are served by one worker`() async throws {
        let sockets = try Self.families.map { try UDPSocket(address: $0) }
        let servers = try Self.families.map { try UDPSocket(address: $0) }
        let (echoed, called) = (Observed(), Observed())
        let workers = [TransportWorker(sockets: servers), TransportWorker(sockets: sockets)]
        defer { for worker in workers { worker.stop() } }
        workers[0].start { EchoElement(echoed) }
        let outgoing = (0..<10).map { number in
            OutgoingMessage(bytes: [UInt8(number)], destination: servers[number % 2].address, socket: number % 2)
        }
        workers[1].start { CallerElement(sending: outgoing, called) }
        #expect(try await called.wait { $0.received.withLock { $0.count } >= 10 })
        #expect(called.received.withLock { Set($0) } == Set((0..<10).map { [UInt8($0)] }))
    }

    @Test func `timers fire without any datagram`() async throws {
        let observed = Observed()
        let worker = TransportWorker(sockets: [try UDPSocket(address: UDPSocketTests.loopback)])
        worker.start { CallerElement(sending: [], observed) }
        #expect(try await observed.wait { $0.timers.load(ordering: .relaxed) >= 3 })
        worker.stop()
        #expect(try await observed.wait { _ in worker.hasFinished })
    }

    @Test func `stop ends the thread that waits for nothing`() async throws {
        let observed = Observed()
        let worker = TransportWorker(sockets: [try UDPSocket(address: UDPSocketTests.loopback)])
        worker.start { EchoElement(observed) }
        #expect(!worker.hasFinished)
        worker.stop()
        #expect(try await observed.wait { _ in worker.hasFinished })
    }

    @Test func `the clocks are those of the system`() {
        let earlier = Moment.now()
        let later = Moment.now()
        #expect(later.milliseconds >= earlier.milliseconds)
        #expect(earlier.wallMicroseconds > 1_700_000_000_000_000)
        #expect(Moment.monotonicMilliseconds() >= earlier.milliseconds)
    }
}

/// Whether a datagram has been sent.
private final class Sent: Sendable {
    let isSent = Atomic(false)
}
