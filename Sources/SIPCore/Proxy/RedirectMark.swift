// SPDX-License-Identifier: Apache-2.0

/// The mark in the Contact of a redirection, by which the request is recognised when it comes back.
///
/// A URI parameter without value, which the sender repeats in the Request-URI. It needs no key: a caller who writes it loses
/// the own brand. A sender may change Call-ID, tags and host, so it depends on none of them. Source: RFC 3261 §8.3 forbids a
/// redirection to the URI that was requested.
public enum RedirectMark {
    static let parameter: StaticString = "herald-redirect"

    /// Whether a Request-URI has the mark, of this gateway or another one.
    public static func isPresent(in uri: SIPURI) -> Bool {
        (uri.scheme == .tel ? uri.userParameter(parameter) : uri.parameter(parameter)) != nil
    }

    /// Writes the mark behind a URI without headers.
    static func append(to out: inout [UInt8]) {
        out.append(";")
        out.append(parameter)
    }
}
