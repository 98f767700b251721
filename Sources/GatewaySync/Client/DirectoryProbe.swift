// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import BrandingAPI
import Foundation
import NIOCore
import NIOHTTP1
import Primitives

/// The result of one authenticated request to the directory that changes nothing there.
package struct DirectoryProbe: Hashable, Sendable {
    /// The time of the response in seconds since 1970 (`Date`, RFC 9110 §6.6.1); nil without a readable one.
    package let date: Int64?

    /// Reads an IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func seconds(ofDate text: String) -> Int64? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text).map { Int64($0.timeIntervalSince1970) }
    }
}

/// The credentials of a probe.
package enum ProbeCredentials: Hashable, Sendable, Redacted {
    /// The API key, as requests without a session carry it.
    case key
    /// The access token that a gateway with `directory.bearer` has stored; it is used, and never renewed.
    case token(String)
}

extension DirectoryClient {
    /// Asks for the remote configuration once; nothing changes at the directory.
    ///
    /// - Parameter timeout: the longest time for the whole exchange.
    package func probe(
        platform: String, timeout: Duration, with credentials: ProbeCredentials = .key
    ) async throws(DirectoryError) -> DirectoryProbe {
        let request = DirectoryRequest(
            path: APIPath.configuration,
            query: [(name: "platform", value: platform), (name: "app_version", value: settings.version)],
            timeout: timeout, maxBody: settings.responseLimit, attempts: 1)
        var token: String?
        if case .token(let text) = credentials { token = text }
        do throws(DirectoryExchange.Failure) {
            return try await attempt(request, token: token) { response in
                _ = try await response.body.collect(upTo: 1 << 20)
                return DirectoryProbe(date: response.headers.first(name: "Date").flatMap(DirectoryProbe.seconds))
            }
        } catch {
            throw error.error
        }
    }

    /// The access token of a file that a gateway with this key has written; nil without one for this key and directory.
    package func storedToken(inFile path: String) -> String? {
        BearerSession.storedToken(inFile: path, account: settings.account)
    }

    /// Why the certificate of the directory is refused, with the remedy; nil if it is good or none is presented.
    package func certificateProblem(patience: Duration) async -> String? {
        await PresentedCertificate.problem(
            at: settings.address, trust: settings.trust, patience: patience, now: Date())
    }
}
