// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import SIPCore
import SIPTransport
import TestFixtures
import Testing

/// Certificates made for a test, in a folder that goes with it.
final class TestCertificates {
    private let temporary = TemporaryFolder()
    var folder: String { temporary.path }
    var roots: String { folder + "/root.pem" }

    init() async throws {
        try await openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder + "/root.key", "-out", roots, "-days",
            "2", "-subj", "/CN=Test root")
    }

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

/// A gateway's streams on one TLS address of loopback.
struct TLSEndpoint {
    static let loopback = PeerAddress(ipv4: 0x7F00_0001, port: 0)
    static let text = "INFO sip:a@b SIP/2.0\r\nContent-Length: 0\r\n\r\n"

    let observer = StreamObserver()
    let identity: TLSIdentity
    let streams: StreamTransport
    let address: PeerAddress

    init(_ files: TLSIdentity.Files, _ change: (inout StreamLimits) -> Void = { _ in }) async throws {
        identity = try TLSIdentity(files)
        var limits = StreamLimits()
        change(&limits)
        streams = StreamTransport(
            listeners: [StreamListener(position: 0, address: Self.loopback, identity: identity)],
            inboxes: [observer.inbox], limits: limits, onTrouble: observer.tell)
        address = try #require(try await streams.start()[0])
    }

    /// Sends one message to another endpoint that is to prove a name.
    func send(to other: TLSEndpoint, named name: String) { send(to: other.address, named: name) }

    /// Sends one message to an address that is to prove a name.
    func send(to address: PeerAddress, named name: String) {
        streams.setPeers(StreamPeers(serverNames: [address: name]))
        streams.send([
            OutgoingMessage(
                bytes: Array(Self.text.utf8), destination: address, socket: 0,
                token: DeliveryToken(branch: Branch(token: 5), attempt: 0))
        ])
    }
}
