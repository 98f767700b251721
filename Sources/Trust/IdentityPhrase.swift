// SPDX-License-Identifier: Apache-2.0

/// The phrases of the response codes for signed calls (RFC 8224 §6.2.2).
public enum IdentityPhrase {
    /// The phrase of a code.
    public static func text(of code: UInt16) -> StaticString {
        switch code {
        case 400: "Bad Request"
        case 403: "Stale Date"
        case 428: "Use Identity Header"
        case 436: "Bad Identity Info"
        case 437: "Unsupported Credential"
        case 438: "Invalid Identity Header"
        default: "Identity Error"
        }
    }
}
