// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Host
import NIOCore
package import NIOHTTP1
package import NIOSSL

/// Sends one GET to a foreign host: to a checked address only, without redirects, bounded in bytes and time.
///
/// Each request has an HTTP client of its own with a fixed address. The name is resolved once, each of its addresses is
/// checked, and the connection goes to the first one. A later change of the name has no effect. The certificate of the
/// server is checked against the name. A body is never unpacked. The request has no cookie and no key.
package struct CheckedGet: Sendable {
    /// The host's response.
    package enum Response: Sendable {
        /// 304 to a conditional request.
        case unchanged(HTTPHeaders)
        case content(HTTPHeaders, [UInt8])
    }

    private let mostBytes: Int
    private let limits: HostLimits
    private let address: AddressCheck

    /// - Parameters:
    ///   - mostBytes: the largest body in bytes.
    ///   - connect: the longest time for a connection.
    ///   - total: the longest time for everything, from the name to the last byte.
    ///   - allowsPrivate: permits addresses of private networks and of the machine itself.
    ///   - roots: authorities of web servers; nil for those of the system.
    package init(
        mostBytes: Int, connect: Duration, total: Duration, allowsPrivate: Bool, roots: [NIOSSLCertificate]? = nil,
        resolve: @escaping HostResolver
    ) {
        self.mostBytes = mostBytes
        limits = HostLimits(connect: connect, total: total, roots: roots)
        address = AddressCheck(allowsPrivate: allowsPrivate, resolve: resolve)
    }

    /// - Parameter headers: `If-None-Match` or `If-Modified-Since` make 304 a valid response.
    package func response(to url: FetchURL, _ headers: HTTPHeaders) async throws(FetchFailure) -> Response {
        // The library's deadline ends with the head of the response. This one covers name and body too.
        let result = await within(limits.total) { await self.result(url, headers) }
        guard let result else { throw .timeout(limits.total) }
        return try result.get()
    }

    private func result(_ url: FetchURL, _ headers: HTTPHeaders) async -> Result<Response, FetchFailure> {
        do throws(FetchFailure) {
            return .success(try await send(url, headers, to: try await address.first(of: url.host)))
        } catch {
            return .failure(error)
        }
    }

    private func send(
        _ url: FetchURL, _ headers: HTTPHeaders, to address: HostAddress
    ) async throws(FetchFailure) -> Response {
        var configuration = limits.configuration(url.host, address)
        configuration.httpVersion = .http1Only
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Response, FetchFailure>
        do throws(FetchFailure) {
            result = .success(try await exchange(http, url.text, headers))
        } catch {
            result = .failure(error)
        }
        try? await http.shutdown()
        return try result.get()
    }

    private func exchange(
        _ http: HTTPClient, _ url: String, _ headers: HTTPHeaders
    ) async throws(FetchFailure) -> Response {
        var request = HTTPClientRequest(url: url)
        request.headers = headers
        do {
            let response = try await http.execute(request, timeout: TimeAmount(limits.total))
            let status = Int(response.status.code)
            if status == 304, headers.contains(name: "If-None-Match") || headers.contains(name: "If-Modified-Since") {
                return .unchanged(response.headers)
            }
            guard status == 200 else {
                throw [301, 302, 303, 307, 308].contains(status)
                    ? FetchFailure.redirect(status) : FetchFailure.status(status)
            }
            if let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }), length > mostBytes {
                throw FetchFailure.tooLarge(limit: mostBytes)
            }
            let body = try await response.body.collect(upTo: mostBytes)
            // A cancelled body ends like a complete one.
            try Task.checkCancellation()
            return .content(response.headers, Array(body.readableBytesView))
        } catch let failure as FetchFailure {
            throw failure
        } catch is NIOTooManyBytesError {
            throw .tooLarge(limit: mostBytes)
        } catch {
            throw FetchFailure(error, connect: limits.connect, total: limits.total)
        }
    }
}
