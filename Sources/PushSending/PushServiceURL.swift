// SPDX-License-Identifier: Apache-2.0

import CheckedHTTP

/// Decides which URLs can be those of a push service: https, or http to the machine itself where that is permitted.
enum PushServiceURL {
    /// The reason why a URL is refused.
    enum Fault: Error, Hashable {
        case noURL
        case noHTTPS
        case privateAddress(String)
    }

    /// The longest URL in bytes. URLs of the large push services have 200 to 700 bytes.
    static let most = 2048

    static func check(_ text: String, allowsPrivate: Bool) throws(Fault) -> FetchURL {
        guard text.utf8.count <= most, !text.utf8.contains(UInt8(ascii: "#")), let url = FetchURL(text) else {
            throw .noURL
        }
        let address = HostAddress(url.host)
        let isOwn = address?.isLoopback ?? (url.host == "localhost")
        guard url.scheme == "https" || allowsPrivate && isOwn else { throw .noHTTPS }
        if !allowsPrivate, isOwn || address?.isPublic == false { throw .privateAddress(url.host) }
        return url
    }
}
