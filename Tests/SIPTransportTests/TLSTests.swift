// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import SIPCore
import SIPTransport
import Testing

/// Certificates made for a test, in a folder that goes with it.
final class TestCertificates {
    let folder: String
    var roots: String { folder + "/root.pem" }

    init() async throws {
        folder = NSTemporaryDirectory() + "herald-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder + "/root.key", "-out", roots, "-days",
            "2", "-subj", "/CN=Test root")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A certificate the root vouches for; `names` as openssl writes them: `DNS:a,URI:sip:b`.
    func files(_ file: String, names: String, asks: Bool = false) async throws -> TLSIdentity.Files {
        let (key, request, certificate) = ("\(folder)/\(file).key", "\(folder)/\(file).csr", "\(folder)/\(file).pem")
        let extensions = "\(folder)/\(file).ext"
        try "subjectAltName=\(names)\n".write(toFile: extensions, atomically: true, encoding: .utf8)
        try await openssl(
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=\(file)")
        try await openssl(
            "x509", "-req", "-in", request, "-CA", roots, "-CAkey", folder + "/root.key", "-CAcreateserial", "-out",
            certificate, "-days", "2", "-extfile", extensions)
        return TLSIdentity.Files(certificate: certificate, key: key, roots: roots, asksForCertificate: asks)
    }

    private func openssl(_ arguments: String...) async throws {
        let code = try await ChildProgram.run("openssl", arguments).code
        try #require(code == 0, "openssl \(arguments.first ?? "") failed")
    }
}

@Suite("SIP over TLS, RFC 3261 §26.2, RFC 5922", .serialized)
struct TLSTests {
    private static let loopback = PeerAddress(ipv4: 0x7F00_0001, port: 0)
    private static let text = "INFO sip:a@b SIP/2.0\r\nContent-Length: 0\r\n\r\n"

    private struct House {
        let observer = StreamObserver()
        let identity: TLSIdentity
        let streams: StreamTransport
        let address: PeerAddress

        init(_ files: TLSIdentity.Files, _ change: (inout StreamLimits) -> Void = { _ in }) async throws {
            identity = try TLSIdentity(files)
            var limits = StreamLimits()
            change(&limits)
            streams = StreamTransport(
                listeners: [StreamListener(position: 0, address: loopback, identity: identity)],
                inboxes: [observer.inbox], limits: limits)
            address = try #require(try await streams.start()[0])
        }

        /// Sends one message to another house that is to prove a name.
        func send(to other: House, named name: String) {
            streams.setPeers(StreamPeers(serverNames: [other.address: name]))
            streams.send([
                OutgoingMessage(
                    bytes: Array(text.utf8), destination: other.address, socket: 0,
                    token: DeliveryToken(branch: Branch(token: 5), attempt: 0))
            ])
        }
    }

    @Test func `a target that proves its name gets the message`() async throws {
        let certificates = try await TestCertificates()
        let called = try await House(certificates.files("called", names: "DNS:pbx.example"))
        let caller = try await House(certificates.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        #expect(called.observer.messages.first?.flow.certificate == nil, "no client certificate was asked for")
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `what comes while a handshake goes on waits for it, and says nothing of the far end`() async throws {
        let certificates = try await TestCertificates()
        let called = try await House(certificates.files("called", names: "DNS:pbx.example"))
        let caller = try await House(certificates.files("caller", names: "DNS:herald.example")) { $0.waiting = 1_000 }
        caller.streams.setPeers(StreamPeers(serverNames: [called.address: "pbx.example"]))
        // As many as come while a lost packet of the handshake costs a second.
        for number in 1...200 {
            caller.streams.send([
                OutgoingMessage(
                    bytes: Array(Self.text.utf8), destination: called.address, socket: 0,
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
        let called = try await House(certificates.files("called", names: "DNS:other.example"))
        let caller = try await House(certificates.files("caller", names: "DNS:herald.example"))
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { caller.observer.failures == [DeliveryToken(branch: Branch(token: 5), attempt: 0)] })
        #expect(called.observer.messages.isEmpty)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `who comes from a target's address gets nothing meant for the target, RFC 5923 §9`() async throws {
        let certificates = try await TestCertificates()
        let house = try await House(certificates.files("called", names: "DNS:herald.example"))
        let other = try await House(certificates.files("caller", names: "DNS:other.example"))
        other.send(to: house, named: "herald.example")
        #expect(try await waits { house.observer.messages.count == 1 })
        let target = try #require(house.observer.messages.first).flow.source
        house.streams.setPeers(StreamPeers(serverNames: [target: "pbx.example"]))
        let token = DeliveryToken(branch: Branch(token: 5), attempt: 0)
        house.streams.send([
            OutgoingMessage(bytes: Array(Self.text.utf8), destination: target, socket: 0, token: token)
        ])
        // Nothing listens where it comes from.
        #expect(try await waits { house.observer.failures == [token] })
        #expect(other.observer.messages.isEmpty)
        await house.streams.stop()
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
        let called = try await House(certificates.files("called", names: "DNS:pbx.example", asks: true))
        let caller = try await House(certificates.files("caller", names: row.names))
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        #expect(called.observer.messages.first?.flow.certificate?.names == row.known)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `a client of another root is not let in where certificates are asked for`() async throws {
        let certificates = try await TestCertificates()
        let strangers = try await TestCertificates()
        let called = try await House(certificates.files("called", names: "DNS:pbx.example", asks: true))
        var foreign = try await strangers.files("caller", names: "DNS:sip.carrier.example")
        foreign.roots = certificates.roots
        let caller = try await House(foreign)
        caller.send(to: called, named: "pbx.example")
        #expect(try await waits { called.streams.counters.count(.handshakesFailed) == 1 })
        #expect(called.observer.messages.isEmpty)
        await caller.streams.stop()
        await called.streams.stop()
    }

    @Test func `renewed files serve new connections while old ones live on`() async throws {
        let certificates = try await TestCertificates()
        let files = try await certificates.files("called", names: "DNS:old.example")
        let called = try await House(files)
        let first = try await House(certificates.files("first", names: "DNS:a.example"))
        first.send(to: called, named: "old.example")
        #expect(try await waits { called.observer.messages.count == 1 })
        _ = try await certificates.files("called", names: "DNS:new.example")
        try called.identity.reload()
        let second = try await House(certificates.files("second", names: "DNS:b.example"))
        second.send(to: called, named: "new.example")
        #expect(try await waits { called.observer.messages.count == 2 })
        first.send(to: called, named: "old.example")
        #expect(try await waits { called.observer.messages.count == 3 })
        #expect(first.streams.counters.count(.connected) == 1)
        for house in [first, second, called] { await house.streams.stop() }
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
