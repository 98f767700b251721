// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import SIPCore
import SIPTransport
import TestFixtures
import Testing

@Suite("SIP over TLS, RFC 3261 §26.2, RFC 5922", .serialized)
struct TLSTests {
    @Test func `a target that proves its name gets the message`() async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:pbx.example"))
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        #expect(called.observer.messages.first?.flow.certificate == nil, "no client certificate was asked for")
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `what comes while a handshake goes on waits for it, and says nothing of the far end`() async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:pbx.example"))
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example")) {
            $0.waiting = 1_000
        }
        caller.streams.setPeers(StreamPeers(serverNames: [called.address: "pbx.example"]))
        // As many as come while a lost packet of the handshake costs a second.
        for number in 1...200 {
            caller.streams.send([
                OutgoingMessage(
                    bytes: Array(TLSEndpoint.text.utf8), destination: called.address, socket: 0,
                    token: DeliveryToken(branch: Branch(token: UInt64(number)), attempt: 0))
            ])
            if number % 20 == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(try await waits { called.observer.messages.count == 200 })
        #expect(caller.observer.failures.isEmpty && caller.streams.counters.count(.closedFull) == 0)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `a target that proves another name gets nothing`() async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:other.example"))
        let caller = try await TLSEndpoint(certificates.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { caller.observer.failures == [DeliveryToken(branch: Branch(token: 5), attempt: 0)] })
        #expect(called.observer.messages.isEmpty)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `who comes from a target's address gets nothing meant for the target, RFC 5923 §9`() async throws {
        let certificates = try await TestCertificates()
        let endpoint = try await TLSEndpoint(certificates.files("called", names: "DNS:herald.example"))
        let other = try await TLSEndpoint(certificates.files("caller", names: "DNS:other.example"))
        other.send(to: endpoint, named: "herald.example")
        #expect(try await waits { endpoint.observer.messages.count == 1 })
        let target = try #require(endpoint.observer.messages.first).flow.source
        endpoint.streams.setPeers(StreamPeers(serverNames: [target: "pbx.example"]))
        let token = DeliveryToken(branch: Branch(token: 5), attempt: 0)
        endpoint.streams.send([
            OutgoingMessage(bytes: Array(TLSEndpoint.text.utf8), destination: target, socket: 0, token: token)
        ])
        // Nothing listens where it comes from.
        #expect(try await waits { endpoint.observer.failures == [token] })
        #expect(other.observer.messages.isEmpty)
        await endpoint.streams.stop()
        await other.streams.stop()
    }

    /// RFC 5922 §7.1: the identities a certificate asserts.
    static let identities: [(names: String, known: [String])] = [
        ("DNS:SIP.carrier.example,DNS:b.example", ["sip.carrier.example", "b.example"]),
        ("DNS:host.example,URI:sip:carrier.example", ["carrier.example"]),
        ("URI:https://carrier.example,DNS:host.example", ["host.example"]),
        ("IP:127.0.0.1", ["caller"]),
    ]

    @Test(arguments: identities)
    func `with mutual TLS the names of the client are known`(row: (names: String, known: [String])) async throws {
        let certificates = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:pbx.example", asks: true))
        let caller = try await TLSEndpoint(certificates.files("caller", names: row.names))
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        #expect(called.observer.messages.first?.flow.certificate?.names == row.known)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `a client of another root is not let in where certificates are asked for`() async throws {
        let certificates = try await TestCertificates()
        let strangers = try await TestCertificates()
        let called = try await TLSEndpoint(certificates.files("called", names: "DNS:pbx.example", asks: true))
        var foreign = try await strangers.files("caller", names: "DNS:sip.carrier.example")
        foreign.roots = certificates.roots
        let caller = try await TLSEndpoint(foreign)
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { called.streams.counters.count(.handshakesFailed) == 1 })
        #expect(called.observer.messages.isEmpty)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `renewed files serve new connections while old ones live on`() async throws {
        let certificates = try await TestCertificates()
        let files = try await certificates.files("called", names: "DNS:old.example")
        let called = try await TLSEndpoint(files)
        let first = try await TLSEndpoint(certificates.files("first", names: "DNS:a.example"))
        first.send(to: called, named: "old.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        _ = try await certificates.files("called", names: "DNS:new.example")
        try called.identity.reload()
        let second = try await TLSEndpoint(certificates.files("second", names: "DNS:b.example"))
        second.send(to: called, named: "new.example")
        #expect(try await waits { called.observer.messages.count == 2 })
        first.send(to: called, named: "old.example")
        #expect(try await waits { called.observer.messages.count == 3 })
        #expect(first.streams.counters.count(.connected) == 1)
        for endpoint in [first, second, called] { await endpoint.streams.stop() }
    }

    @Test func `files that cannot be used are named, say nothing of the key, and change nothing`() async throws {
        let certificates = try await TestCertificates()
        let files = try await certificates.files("called", names: "DNS:pbx.example")
        let identity = try TLSIdentity(files)
        try "no certificate".write(toFile: files.certificate, atomically: true, encoding: .utf8)
        let error = #expect(throws: TLSIdentityError.self) { try identity.reload() }
        #expect(
            error.map { "\($0)" } == "\(files.certificate) holds no certificate chain in PEM form that can be read")
        try "secret words".write(toFile: files.key, atomically: true, encoding: .utf8)
        var other = files
        other.certificate = certificates.roots
        let keyError = #expect(throws: TLSIdentityError.self) { _ = try TLSIdentity(other) }
        #expect(keyError?.description.contains("secret") == false)
        #expect(keyError?.file == files.key)
    }
}
