// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Host
import NIOCore
package import NIOHTTP1
package import NIOSSL
import Synchronization

/// Sends POST requests to foreign hosts: to checked addresses only, without redirects, bounded in bytes and time.
///
/// HTTP/2 is used where the server offers it. Connections to one checked address are kept for further requests. The
/// address of a name is looked up and checked anew each minute. Certificates are checked against the name. No request
/// is repeated. Safe from any thread; `shutdown` must be the last call.
package final class CheckedPost: Sendable {
    /// The host's response, with any status.
    package struct Response: Sendable {
        package let status: Int
        package let headers: HTTPHeaders
        /// The first bytes of the body, at most as many as permitted; fewer if the host breaks it off.
        package let body: [UInt8]
    }

    /// The most hosts with open connections; idle ones beyond it are closed.
    static let mostHosts = 32
    /// How long a checked address is used for new requests.
    static let lifetime = Duration.seconds(60)

    private let ways = Mutex(HostWays())
    private let mostBytes: Int
    private let limits: HostLimits
    private let address: AddressCheck

    /// - Parameters:
    ///   - mostBytes: how much of a body is read.
    ///   - connect: the longest time for a connection.
    ///   - total: the longest time for everything, from the name to the last byte.
    ///   - allowsPrivate: permits addresses of private networks and of the machine itself.
    ///   - roots: authorities of web servers; nil for those of the system.
    package init(
        mostBytes: Int, connect: Duration, total: Duration, allowsPrivate: Bool, roots: [NIOSSLCertificate]? = nil,
        resolve: @escaping HostResolver = HostAddress.resolve
    ) {
        self.mostBytes = mostBytes
        limits = HostLimits(connect: min(connect, total), total: total, roots: roots)
        address = AddressCheck(allowsPrivate: allowsPrivate, resolve: resolve)
    }

    /// Sends one request. A failure may come after the host has received all of it.
    package func response(
        to url: FetchURL, _ headers: HTTPHeaders, body: [UInt8]
    ) async throws(FetchFailure) -> Response {
        let end = ContinuousClock.now + limits.total
        let http = try await client(for: url.host)
        let result: Result<Response, FetchFailure>
        do throws(FetchFailure) {
            result = .success(try await send(http, url, headers, body, until: end))
        } catch {
            result = .failure(error)
        }
        let unused = ways.withLock { $0.release(http, of: url.host) }
        try? await unused?.shutdown()
        return try result.get()
    }

    /// Closes all connections.
    package func shutdown() async {
        for http in ways.withLock({ $0.close() }) { try? await http.shutdown() }
    }

    private func send(
        _ http: HTTPClient, _ url: FetchURL, _ headers: HTTPHeaders, _ body: [UInt8], until end: ContinuousClock.Instant
    ) async throws(FetchFailure) -> Response {
        var request = HTTPClientRequest(url: url.text)
        request.method = .POST
        request.headers = headers
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            // The library's deadline ends with the head of the response.
            let response = try await http.execute(request, timeout: TimeAmount(Self.left(until: end)))
            return Response(
                status: Int(response.status.code), headers: response.headers,
                body: await start(of: response.body, until: end))
        } catch {
            throw FetchFailure(error, connect: limits.connect, total: limits.total)
        }
    }

    /// The status has arrived, so a body that breaks off or never ends is no failure.
    private func start(of body: HTTPClientResponse.Body, until end: ContinuousClock.Instant) async -> [UInt8] {
        await within(Self.left(until: end)) { [mostBytes] in
            var bytes: [UInt8] = []
            do {
                for try await buffer in body {
                    bytes += buffer.readableBytesView.prefix(mostBytes - bytes.count)
                    if bytes.count == mostBytes { break }
                }
            } catch {}
            return bytes
        } ?? []
    }

    private static func left(until end: ContinuousClock.Instant) -> Duration { max(.zero, end - .now) }

    /// A client whose connections go to a checked address of the host; `release` must follow.
    private func client(for host: String) async throws(FetchFailure) -> HTTPClient {
        let now = ContinuousClock.now
        if let http = ways.withLock({ $0.use(host, at: now, lifetime: Self.lifetime) }) { return http }
        let checked = await within(limits.total) { [address] () async -> Result<HostAddress, FetchFailure> in
            do throws(FetchFailure) {
                return .success(try await address.first(of: host))
            } catch {
                return .failure(error)
            }
        }
        guard let checked else { throw .timeout(limits.total) }
        let target = try checked.get()
        let (http, unused) = ways.withLock { ways in
            ways.use(host, at: target, now: now, most: Self.mostHosts) {
                HTTPClient(eventLoopGroupProvider: .singleton, configuration: limits.configuration(host, target))
            }
        }
        for client in unused { try? await client.shutdown() }
        guard let http else { throw .network("stopped") }
        return http
    }
}
