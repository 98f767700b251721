// SPDX-License-Identifier: Apache-2.0

/// The Retry-After header field (RFC 3261 §20.33).
public enum RetryAfter {
    /// Its seconds; nil when missing or malformed.
    public static func seconds(of message: SIPMessage) -> Int? {
        guard let field = message.first(.retryAfter) else { return nil }
        let start = field.value.lowerBound
        let digits = message[field.value].prefix { (48...57).contains($0) }.count
        return digits > 6 ? nil : DecimalNumber.read(message.bytes, start..<(start + digits))
    }
}
