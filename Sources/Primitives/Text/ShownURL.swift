// SPDX-License-Identifier: Apache-2.0

/// Writes a configured URL for logs, terminals and pages, without the parts that can hold a secret.
///
/// A part that is left out is `<redacted>`. A text without `://` stays as it is.
public enum ShownURL {
    /// Parameters of PostgreSQL URLs that hold no secret.
    private static let plainParameters: Set = [
        "host", "port", "dbname", "user", "sslmode", "sslrootcert", "target_session_attrs", "connect_timeout",
        "application_name",
    ]

    /// Scheme, host and port with the first part of the path; the user and all values of the query are left out.
    ///
    /// The URL of a PostgreSQL database keeps its user and its path, which is the name of the database.
    public static func text(_ url: String) -> String {
        guard let (scheme, authority, tail) = parts(of: url) else { return url }
        let isDatabase = scheme == "postgres://" || scheme == "postgresql://"
        let end = tail.firstIndex { "?#".contains($0) } ?? tail.endIndex
        let path = isDatabase ? String(tail[..<end]) : firstPart(of: tail[..<end])
        return scheme + shown(authority, keepsUser: isDatabase) + path
            + shown(query: tail[end...], keepsSome: isDatabase)
    }

    /// Scheme, host and port of a webhook: in the URLs of Slack and others the path is the secret.
    public static func withoutPath(_ url: String) -> String {
        guard let (scheme, authority, tail) = parts(of: url) else { return url }
        return scheme + shown(authority, keepsUser: false) + (["", "/"].contains(tail) ? tail : "/<redacted>")
    }

    private static func parts(of url: String) -> (scheme: String, authority: Substring, tail: Substring)? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        return (String(url[..<scheme.upperBound]), rest[..<end], rest[end...])
    }

    private static func shown(_ authority: Substring, keepsUser: Bool) -> String {
        guard let at = authority.lastIndex(of: "@") else { return String(authority) }
        guard keepsUser else { return "<redacted>" + authority[at...] }
        guard let colon = authority[..<at].firstIndex(of: ":") else { return String(authority) }
        return authority[..<colon] + ":<redacted>" + authority[at...]
    }

    private static func firstPart(of path: Substring) -> String {
        guard let slash = path.dropFirst().firstIndex(of: "/") else { return String(path) }
        let rest = path[slash...]
        return path[..<slash] + (rest.allSatisfy { $0 == "/" } ? String(rest) : "/<redacted>")
    }

    /// The names of a query with hidden values; a fragment is hidden too.
    private static func shown(query: Substring, keepsSome: Bool) -> String {
        guard query.first == "?", !query.contains("#") else {
            return query.isEmpty ? "" : "\(query.prefix(1))<redacted>"
        }
        let values = query.dropFirst().split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let sign = pair.firstIndex(of: "=") else { return "<redacted>" }
            let isPlain = keepsSome && plainParameters.contains(String(pair[..<sign]))
            return isPlain ? String(pair) : String(pair[...sign]) + "<redacted>"
        }
        return "?" + values.joined(separator: "&")
    }
}
