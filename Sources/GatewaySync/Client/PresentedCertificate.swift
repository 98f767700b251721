// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import Synchronization
import X509

/// The certificate that a server presents, read in a handshake of its own that never succeeds.
///
/// A TLS library reports only that it refuses a certificate. This type finds out what is wrong with it. Nothing is sent to
/// the server but the handshake.
struct PresentedCertificate: Sendable {
    private let chain: [Certificate]
    private let leaf: Certificate

    private init?(_ chain: [[UInt8]]) {
        let certificates = chain.compactMap { try? Certificate(derEncoded: $0) }
        guard let leaf = certificates.first else { return nil }
        (self.chain, self.leaf) = (certificates, leaf)
    }

    /// Explains why the certificate of a server at an `https` address is refused, with the remedy.
    ///
    /// - Parameters:
    ///   - patience: the longest time for the connection and for the handshake.
    ///   - now: the time at which the certificate must be valid.
    /// - Returns: nil for a good certificate, and for a server that presents none.
    static func problem(
        at address: DirectoryAddress, trust: DirectoryTrust, patience: Duration, now: Date
    ) async -> String? {
        guard address.isSecure, let presented = await read(address, patience) else { return nil }
        return await presented.problem(for: address.host, trust: trust, now: now)
    }

    private func problem(for host: String, trust: DirectoryTrust, now: Date) async -> String? {
        let names = ServerNames(leaf).all.map { ServerText.clean($0) }.joined(separator: ", ")
        let owner = "its certificate for \(names.isEmpty ? "no name" : names)"
        if let problem = Self.expiry(of: leaf, now: now, owner: owner) { return problem }
        guard ServerNames(leaf).include(host) else {
            return
                "\(owner) is not for \(host): write one of its names in directory.url, or have the certificate changed"
        }
        let roots = trust.roots.map { CertificateStore($0) } ?? .systemTrustRoots
        var verifier = Verifier(rootCertificates: roots) { RFC5280Policy() }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(chain.dropFirst()))
        guard case .couldNotValidate = result else { return nil }
        let issuer = ServerText.clean("\(leaf.issuer)")
        return
            "\(owner) is issued by \(issuer), and no trusted root vouches for that: name the PEM file of this authority "
            + "in directory.tls.roots, or install it on this machine"
    }

    /// Explains why a certificate is not valid at a time, with the remedy; nil if it is valid then.
    static func expiry(of leaf: Certificate, now: Date, owner: String = "its certificate") -> String? {
        if leaf.notValidAfter < now {
            return "\(owner) expired on \(day(leaf.notValidAfter)): the directory's operator must renew it"
        }
        guard leaf.notValidBefore > now else { return nil }
        return
            "\(owner) is not valid before \(day(leaf.notValidBefore)): see with timedatectl that the clock of this "
            + "machine is right"
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }

    /// The chain of a handshake that the client refuses as soon as it has it.
    private static func read(_ address: DirectoryAddress, _ patience: Duration) async -> PresentedCertificate? {
        let seen = Seen()
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        guard let context = try? NIOSSLContext(configuration: configuration) else { return nil }
        let isLiteral = (try? SocketAddress(ipAddress: address.host, port: 0)) != nil
        let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(patience))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(
                        context: context, serverHostname: isLiteral ? nil : address.host,
                        customVerificationCallback: { certificates, promise in
                            seen.chain.withLock { $0 = certificates.map { (try? $0.toDERBytes()) ?? [] } }
                            promise.succeed(.failed)
                        })
                    try channel.pipeline.syncOperations.addHandlers([handler, HandshakeEnd()])
                }
            }
            .connect(host: address.host, port: address.securePort).get()
        guard let channel else { return nil }
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { channel.close(promise: nil) }
        try? await channel.closeFuture.get()
        deadline.cancel()
        return PresentedCertificate(seen.chain.withLock { $0 })
    }

    /// The certificates of the handshake.
    private final class Seen: Sendable { let chain = Mutex<[[UInt8]]>([]) }

    /// Closes the connection at the first error, which is the refusal.
    private final class HandshakeEnd: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
