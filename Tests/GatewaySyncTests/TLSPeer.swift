// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import Synchronization
import X509

/// An authority of a test: makes certificates for keys of its own.
struct TestAuthority {
    let key = P256.Signing.PrivateKey()
    let certificate: Certificate

    init() throws {
        certificate = try Self.make("Test authority", for: key, by: key, issuer: "Test authority", isAuthority: true)
    }

    /// A server's certificate with its key.
    func certificate(
        for host: String, key: P256.Signing.PrivateKey, names: [String]? = nil, isExpired: Bool = false
    ) throws -> (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        let leaf = try Self.make(
            host, for: key, by: self.key, issuer: "Test authority", isAuthority: false, names: names ?? [host],
            until: isExpired ? Date().addingTimeInterval(-60) : Date().addingTimeInterval(3600))
        return (
            [try NIOSSLCertificate(bytes: Self.der(leaf), format: .der)],
            try NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der)
        )
    }

    /// The authority as a PEM file.
    func roots(in folder: String) throws -> String {
        let path = folder + "/roots-\(UUID().uuidString).pem"
        try certificate.serializeAsPEM().pemString.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// The pin of a key, worked out from the key alone.
    static func pin(_ key: P256.Signing.PrivateKey) -> String {
        Data(SHA256.hash(data: key.publicKey.derRepresentation)).base64EncodedString()
    }

    private static func der(_ certificate: Certificate) throws -> [UInt8] { try certificate.serializeAsPEM().derBytes }

    private static func make(
        _ name: String, for key: P256.Signing.PrivateKey, by issuerKey: P256.Signing.PrivateKey, issuer: String,
        isAuthority: Bool, names: [String] = [], until: Date = Date().addingTimeInterval(3600)
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date().addingTimeInterval(-3600), notValidAfter: until,
            issuer: DistinguishedName { CommonName(issuer) }, subject: DistinguishedName { CommonName(name) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                if isAuthority {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                } else {
                    Critical(BasicConstraints.notCertificateAuthority)
                }
                if !names.isEmpty { SubjectAlternativeNames(names.map { .dnsName($0) }) }
            },
            issuerPrivateKey: .init(issuerKey))
    }
}

/// An HTTPS server on loopback that gives every request one response and keeps what it was sent.
final class TLSPeer: Sendable {
    private let received = Mutex("")
    private let channel = Mutex<(any Channel)?>(nil)

    /// Everything that came through TLS, of all connections.
    var text: String { received.withLock { $0 } }
    var url: String { "https://localhost:\(channel.withLock { $0?.localAddress?.port } ?? 0)" }

    init(_ files: (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey), response body: String) async throws {
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: files.chain.map { .certificate($0) }, privateKey: .privateKey(files.key))
        let context = try NIOSSLContext(configuration: configuration)
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    try child.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), Responder(peer: self, body: body),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
    }

    func stop() async throws { try await channel.withLock { $0 }?.close() }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let peer: TLSPeer
        private let body: String
        private var request = ""

        init(peer: TLSPeer, body: String) {
            self.peer = peer
            self.body = body
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            peer.received.withLock { $0 += text }
            request += text
            guard request.contains("\r\n\r\n") else { return }
            request = ""
            let response = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            context.writeAndFlush(NIOAny(ByteBuffer(string: response)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
