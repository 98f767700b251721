// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import NIOCore
import SIPCore
import TestFixtures
import Testing

@testable import SIPTransport

@Suite("Connections that do not come about are told of, RFC 3261 §26.3.1", .serialized)
struct StreamTroubleTests {
    private static func connection(to endpoint: TLSEndpoint) -> String { connection(to: endpoint.address) }

    private static func connection(to address: PeerAddress) -> String { "no connection to \(address): " }

    @Test func `nobody listens`() async throws {
        let certificates = try await TestCertificates()
        let closed = try ClosedPort()
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example"))
        for _ in 1...3 { caller.send(to: closed.address, named: "pbx.example") }
        #expect(try await waits { caller.observer.failures.count == 3 })
        #expect(
            caller.observer.troubles == [Self.connection(to: closed.address) + "Connection refused"], "reported once")
        withExtendedLifetime(closed) {}
        await caller.streams.stop()
    }

    @Test func `the certificate is for another name`() async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:other.example"))
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: "pbx.example")
        let text = Self.connection(to: called) + "its certificate is for another name; see certificate_name"
        #expect(try await waits { caller.observer.troubles == [text] })
        // Once a connection has come about the next trouble is told again; the pause is the log's.
        caller.send(to: called, named: "other.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `both ends report that no root vouches for the certificate`() async throws {
        let certificates = try await TestCertificates()
        let others = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:pbx.example"))
        let caller = try await TLSEndpoint(others.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: "pbx.example")
        let text =
            Self.connection(to: called)
            + "none of the roots vouches for its certificate, or it has expired; see listen.roots"
        #expect(try await waits { caller.observer.troubles == [text] })
        #expect(
            try await waits {
                called.observer.troubles.first?.hasPrefix("no TLS connection from 127.0.0.1: the TLS handshake failed")
                    == true
            })
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `the gateway's certificate is not good enough for the far end`() async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:pbx.example", asks: true))
        let others = try await TestCertificates()
        var foreign = try await others.files("caller", names: "DNS:herald.example")
        foreign.roots = certificates.roots
        let caller = try await TLSEndpoint(foreign)
        caller.send(to: called, named: "pbx.example")
        #expect(
            try await waits {
                caller.observer.troubles.first?.hasPrefix(Self.connection(to: called) + "the TLS handshake failed (")
                    == true
            })
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `the far end speaks no TLS, or nothing at all`() async throws {
        let certificates = try await TestCertificates()
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example")) {
            $0.unfinished = .milliseconds(200)
        }
        let observer = StreamObserver()
        let plain = StreamTransport(
            listeners: [StreamListener(position: 0, address: TLSEndpoint.loopback)], inboxes: [observer.inbox])
        let address = try #require(try await plain.start()[0])
        caller.streams.send([OutgoingMessage(bytes: Array(TLSEndpoint.text.utf8), destination: address, socket: 0)])
        #expect(try await waits { !caller.observer.troubles.isEmpty })
        #expect(caller.observer.troubles.first?.hasPrefix("no connection to \(address): ") == true)
        await caller.streams.stop()
        await plain.stop()
    }

    @Test func `a failure is reported once until it is over, and once a second at most`() {
        func trouble(_ port: UInt16, _ reason: String) -> StreamTrouble {
            StreamTrouble(remote: TLSEndpoint.loopback.with(port: port), isMade: true, reason: reason)
        }
        var told = ReportedTroubles()
        var seconds: Int64 = 0
        func isNews(_ port: UInt16, _ reason: String, after pause: Int64) -> Bool {
            seconds += pause
            return told.isNews(trouble(port, reason), NIODeadline.uptimeNanoseconds(0) + .seconds(seconds))
        }
        #expect(isNews(1, "a", after: 1))
        #expect(!isNews(2, "a", after: 0), "left for the next time")
        #expect(!isNews(1, "a", after: 1))
        #expect(isNews(2, "a", after: 0))
        #expect(isNews(1, "b", after: 1), "another reason")
        told.over(TLSEndpoint.loopback.with(port: 1), isMade: true)
        #expect(!isNews(1, "b", after: 0))
        #expect(isNews(1, "b", after: 1))
    }
}
