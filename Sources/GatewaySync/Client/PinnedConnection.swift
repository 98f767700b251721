// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOSSL
import NIOTLS
import SwiftASN1
import Synchronization
import X509

/// Adds TLS with pinned keys to a fresh connection, before the first request.
///
/// AsyncHTTPClient cannot check the whole chain; its TLS shows the leaf only. It opens a plain connection to the TLS
/// port, and its connection initialiser adds the TLS handler with our check. The connection is handed out after a
/// successful handshake, and closed otherwise. NIOSSL compares the host name, and `ServerNames` more strictly.
struct PinnedConnection: Sendable {
    private let context: NIOSSLContext
    private let trust: DirectoryTrust
    private let host: String
    private let patience: TimeAmount

    /// - Parameter patience: longest time for the handshake.
    init(_ trust: DirectoryTrust, host: String, patience: TimeAmount) throws {
        context = try NIOSSLContext(configuration: trust.configuration)
        self.trust = trust
        self.host = host
        self.patience = patience
    }

    /// Completes when the channel is encrypted and its peer has a pinned key.
    func secure(_ channel: any Channel) -> EventLoopFuture<Void> {
        let done = channel.eventLoop.makePromise(of: Void.self)
        let refusal = Refusal()
        let timeout = channel.eventLoop.scheduleTask(in: patience) {
            done.fail(DirectoryIdentityError("the TLS handshake took too long"))
        }
        channel.eventLoop.execute {
            do {
                let handler = try NIOSSLClientHandler(
                    context: context, serverHostname: isLiteral ? nil : host,
                    customVerificationCallback: { certificates, promise in
                        let chain = certificates.map { (try? $0.toDERBytes()) ?? [] }
                        promise.completeWithTask {
                            guard let reason = await objection(to: chain) else { return .certificateVerified }
                            refusal.set(reason)
                            return .failed
                        }
                    })
                let watcher = HandshakeWatcher(done: done, refusal: refusal)
                try channel.pipeline.syncOperations.addHandlers([handler, watcher], position: .first)
            } catch {
                done.fail(error)
            }
        }
        return done.futureResult.always { result in
            timeout.cancel()
            if case .failure = result { channel.close(promise: nil) }
        }
    }

    /// True for an address: the TLS server name extension takes names only (RFC 6066 §3).
    private var isLiteral: Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

    /// Returns the reason to reject a peer with these certificates; nil to accept it.
    private func objection(to chain: [[UInt8]]) async -> String? {
        let certificates = chain.compactMap { try? Certificate(derEncoded: $0) }
        guard let leaf = certificates.first, certificates.count == chain.count else {
            return "it showed certificates that cannot be read"
        }
        guard ServerNames(leaf).include(host) else { return ServerNames.objection }
        let roots = trust.roots.map { CertificateStore($0) } ?? .systemTrustRoots
        var verifier = Verifier(rootCertificates: roots) { RFC5280Policy() }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore(certificates.dropFirst())) {
        case .couldNotValidate:
            return PresentedCertificate.expiry(of: leaf, now: Date())
                ?? "no trusted root vouches for its certificate at this time"
        case .validCertificate(let verified):
            let isPinned = verified.contains { certificate in
                (try? PublicKeyPin(certificate)).map(trust.pins.contains) ?? false
            }
            return isPinned ? nil : "none of its certificates has a key of directory.tls.pins"
        }
    }

    /// Carries the reason of a failed check past the TLS library, which reports only the failure.
    private final class Refusal: Sendable {
        private let text = Mutex<String?>(nil)
        var reason: String? { text.withLock { $0 } }
        func set(_ reason: String) { text.withLock { $0 = reason } }
    }

    /// Waits for the end of the handshake, then removes itself.
    private final class HandshakeWatcher: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        private let done: EventLoopPromise<Void>
        private let refusal: Refusal

        init(done: EventLoopPromise<Void>, refusal: Refusal) {
            self.done = done
            self.refusal = refusal
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted = event as? TLSUserEvent {
                done.succeed()
                context.pipeline.syncOperations.removeHandler(self, promise: nil)
            }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            done.fail(refusal.reason.map { DirectoryIdentityError($0) } ?? error)
            context.fireErrorCaught(error)
        }

        func channelInactive(context: ChannelHandlerContext) {
            done.fail(DirectoryIdentityError(refusal.reason ?? "the connection ended in the TLS handshake"))
            context.fireChannelInactive()
        }
    }
}

/// The peer of a TLS connection is not the directory, with the reason.
struct DirectoryIdentityError: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = reason }
}
