// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import Primitives

/// The time for which a host lets its response be kept, and the validators for the next request (RFC 9111 §4.2).
package struct CertificateFreshness: Hashable, Sendable {
    /// Seconds from `max-age` or `Expires`, without the age in other caches; nil if the host names none.
    package var lifetime: Int64?
    package var etag: String?
    package var lastModified: String?

    /// - Parameters:
    ///   - lifetime: nil for a host that names none.
    package init(lifetime: Int64? = nil, etag: String? = nil, lastModified: String? = nil) {
        self.lifetime = lifetime
        self.etag = etag
        self.lastModified = lastModified
    }

    init(_ headers: HTTPHeaders, at now: Int64) {
        self.init(
            lifetime: Self.lifetime(headers, at: now), etag: headers.validator("ETag"),
            lastModified: headers.validator("Last-Modified"))
    }

    private static func lifetime(_ headers: HTTPHeaders, at now: Int64) -> Int64? {
        let directives = headers[canonicalForm: "Cache-Control"].map { $0.lowercased() }
        if directives.contains("no-store") || directives.contains("no-cache") { return 0 }
        if let directive = directives.first(where: { $0.hasPrefix("max-age=") }) {
            // A number too large for the type counts as the largest one (RFC 9111 §1.2.2).
            let digits = directive.dropFirst(8).filter { $0 != "\"" }
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
            let age = headers.first(name: "Age").flatMap { Int64($0) } ?? 0
            return max(0, (Int64(digits) ?? .max / 4) - max(0, min(age, .max / 4)))
        }
        guard let expires = headers.first(name: "Expires") else { return nil }
        // Anything else than a date means the past, such as 0 (RFC 9111 §5.3).
        guard let end = Self.seconds(expires) else { return 0 }
        return max(0, end - (headers.first(name: "Date").flatMap(Self.seconds) ?? now))
    }

    private static func seconds(_ text: String) -> Int64? {
        InternetDate.seconds(ArraySlice(text.utf8))
    }
}
