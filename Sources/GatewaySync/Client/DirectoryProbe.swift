// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import BrandingAPI
import Foundation
import NIOCore
import NIOHTTP1

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

extension DirectoryClient {
    /// Asks for the remote configuration once, with the key.
    ///
    /// - Parameter timeout: the longest time for the whole exchange.
    package func probe(platform: String, timeout: Duration) async throws(DirectoryError) -> DirectoryProbe {
        let request = DirectoryRequest(
            path: APIPath.configuration,
            query: [(name: "platform", value: platform), (name: "app_version", value: settings.version)],
            timeout: timeout, maxBody: settings.responseLimit, attempts: 1)
        return try await perform(request) { response in
            _ = try await response.body.collect(upTo: 1 << 20)
            return DirectoryProbe(date: response.headers.first(name: "Date").flatMap(DirectoryProbe.seconds))
        }
    }
}
