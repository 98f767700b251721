// SPDX-License-Identifier: Apache-2.0

/// A header field of the gateway's own responses beside those of the request.
public enum ResponseField: Hashable, Sendable {
    /// RFC 3261 §20.33.
    case retryAfter(seconds: Int)
    /// Unsupported option tags, separated by commas (RFC 3261 §20.40).
    case unsupported(options: [UInt8])
    /// The methods that are forwarded (RFC 3261 §20.5).
    case allow
    /// Whole header fields, each behind the line end of the line above it.
    case lines([UInt8])

    /// Writes the field with the end of the line above it.
    func append(to out: inout [UInt8]) {
        switch self {
        case .retryAfter(let seconds):
            out.append("\r\nRetry-After: ")
            out.append(decimal: seconds)
        case .unsupported(let options):
            out.append("\r\nUnsupported: ")
            out.append(contentsOf: options)
        case .allow:
            out.append(
                "\r\nAllow: INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, PRACK, INFO, REFER, NOTIFY, SUBSCRIBE, MESSAGE")
        case .lines(let lines): out.append(contentsOf: lines)
        }
    }
}
