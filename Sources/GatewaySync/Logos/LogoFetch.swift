// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Branding
import CallAccounting
import Foundation
import Host
import NIOCore
import NIOHTTP1

/// Fetches one logo with a conditional GET: from a checked address only, without redirects, bounded in bytes and time.
///
/// Each fetch has an HTTP client of its own with a fixed address. The name is resolved once, the address is checked,
/// and the connection goes to that address. A later change of the name has no effect. The certificate is checked
/// against the name. The request has no cookie, no key and no other header of the directory's client.
struct LogoFetch {
    /// The host's response.
    enum Response: Hashable, Sendable {
        case unchanged
        case picture(LogoPicture, bytes: [UInt8], etag: String?, lastModified: String?)
    }

    let settings: LogoSettings
    let resolve: LogoResolver

    func response(to logo: DueLogo) async throws(LogoProblem) -> Response {
        let origin = try LogoOrigin(logo.url, settings)
        let address = try await checkedAddress(of: origin.host)
        // The library's deadline ends with the head of the response. This one covers the body too.
        let result = await within(settings.timeout) { await self.ask(logo, origin, at: address) }
        guard let result else { throw .timeout(settings.timeout) }
        return try result.get()
    }

    /// Returns the first permitted address.
    private func checkedAddress(of host: String) async throws(LogoProblem) -> LogoAddress {
        let addresses = await resolve(host)
        guard let first = addresses.first else { throw .unresolvable(ServerText.clean(host)) }
        guard let allowed = settings.allowsPrivate ? first : addresses.first(where: \.isPublic) else {
            throw .forbiddenAddress("\(first)")
        }
        return allowed
    }

    private func ask(
        _ logo: DueLogo, _ origin: LogoOrigin, at address: LogoAddress
    ) async -> Result<Response, LogoProblem> {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.dnsOverride = [origin.host: "\(address)"]
        configuration.timeout = .init(connect: TimeAmount(settings.timeout), read: TimeAmount(settings.timeout))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Response, LogoProblem>
        do throws(LogoProblem) {
            result = .success(try await exchange(http, logo, origin.url))
        } catch {
            result = .failure(error)
        }
        try? await http.shutdown()
        return result
    }

    private func exchange(
        _ http: HTTPClient, _ logo: DueLogo, _ url: String
    ) async throws(LogoProblem) -> Response {
        var request = HTTPClientRequest(url: url)
        request.headers = ["User-Agent": "herald/\(settings.version)", "Accept": "image/png, image/jpeg"]
        if let etag = logo.etag { request.headers.add(name: "If-None-Match", value: etag) }
        if let date = logo.lastModified { request.headers.add(name: "If-Modified-Since", value: date) }
        do {
            let response = try await http.execute(request, timeout: TimeAmount(settings.timeout))
            let status = Int(response.status.code)
            if status == 304, logo.etag != nil || logo.lastModified != nil { return .unchanged }
            guard status == 200 else {
                throw [301, 302, 303, 307, 308].contains(status)
                    ? LogoProblem.redirect(status) : LogoProblem.status(status)
            }
            if let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }),
                length > settings.maxFile
            {
                throw LogoProblem.tooLarge(limit: settings.maxFile)
            }
            let body = try await response.body.collect(upTo: settings.maxFile)
            // A cancelled body ends like a complete one.
            try Task.checkCancellation()
            return try checked(Array(body.readableBytesView), response.headers)
        } catch let problem as LogoProblem {
            throw problem
        } catch is NIOTooManyBytesError {
            throw .tooLarge(limit: settings.maxFile)
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            throw .timeout(settings.timeout)
        } catch {
            throw .network(ServerText.clean("\(error)"))
        }
    }

    private func checked(_ bytes: [UInt8], _ headers: HTTPHeaders) throws(LogoProblem) -> Response {
        let picture: LogoPicture
        do throws(LogoPictureError) {
            picture = try LogoPicture(bytes)
        } catch {
            throw error == .cut ? .cut : .notAPicture
        }
        // Each side too: an overflowing product must not look small.
        guard max(picture.width, picture.height) <= settings.maxPixels, picture.pixels <= settings.maxPixels else {
            throw .tooManyPixels(width: picture.width, height: picture.height, limit: settings.maxPixels)
        }
        return .picture(
            picture, bytes: bytes, etag: headers.validator("ETag"), lastModified: headers.validator("Last-Modified"))
    }

    /// Returns a header for the next request; nil unless it is short and printable.
}
