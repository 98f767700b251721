// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CheckedHTTP
import Foundation
import NIOHTTP1

/// Fetches one logo with a conditional GET, by the rules of `CheckedGet`, and checks its size.
struct LogoFetch {
    /// The host's response.
    enum Response: Hashable, Sendable {
        case unchanged
        case picture(LogoPicture, bytes: [UInt8], etag: String?, lastModified: String?)
    }

    let settings: LogoSettings
    let resolve: HostResolver

    func response(to logo: DueLogo) async throws(LogoProblem) -> Response {
        let origin = try LogoOrigin(logo.url, settings)
        var headers: HTTPHeaders = [
            "User-Agent": "herald/\(settings.version)", "Accept": settings.forms.accepted,
        ]
        if let etag = logo.etag { headers.add(name: "If-None-Match", value: etag) }
        if let date = logo.lastModified { headers.add(name: "If-Modified-Since", value: date) }
        let get = CheckedGet(
            mostBytes: settings.maxFile, connect: settings.timeout, total: settings.timeout,
            allowsPrivate: settings.allowsPrivate, resolve: resolve)
        let response: CheckedGet.Response
        do throws(FetchFailure) {
            response = try await get.response(to: origin.url, headers)
        } catch {
            throw .fetch(error)
        }
        switch response {
        case .unchanged: return .unchanged
        case .content(let headers, let bytes): return try checked(bytes, headers)
        }
    }

    private func checked(_ bytes: [UInt8], _ headers: HTTPHeaders) throws(LogoProblem) -> Response {
        let picture: LogoPicture
        do throws(LogoPictureError) {
            picture = try LogoPicture(bytes)
        } catch {
            throw error == .cut ? .cut : .notAPicture
        }
        guard picture.format.isServed || settings.forms.isScaled else {
            throw .notForPhones(format: picture.format.rawValue)
        }
        // Each side too: an overflowing product must not look small.
        guard max(picture.width, picture.height) <= settings.maxPixels, picture.pixels <= settings.maxPixels else {
            throw .tooManyPixels(width: picture.width, height: picture.height, limit: settings.maxPixels)
        }
        return .picture(
            picture, bytes: bytes, etag: headers.validator("ETag"), lastModified: headers.validator("Last-Modified"))
    }
}

extension LogoForms {
    /// True if `herald-scale-logo` makes the files, so that its formats are decoded.
    fileprivate var isScaled: Bool {
        if case .scaled = self { true } else { false }
    }

    /// The value of `Accept`; the formats of phones come first.
    fileprivate var accepted: String {
        isScaled
            ? "image/png, image/jpeg, image/webp;q=0.8, image/gif;q=0.5, image/avif;q=0.5, image/heic;q=0.3"
            : "image/png, image/jpeg"
    }
}
