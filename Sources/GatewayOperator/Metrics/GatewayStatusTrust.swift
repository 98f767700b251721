// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// The verification of signed calls.
    struct Trust: Hashable, Sendable, Codable {
        /// Signers with a certificate, with those that no regime accepts.
        var signers: Int
        /// Addresses that tokens have named and that have no certificate.
        var unknownAddresses: Int
        /// Calls with signed header fields since the start: `none`, `passed_a`, `passed_b`, `passed_c`, `passed`, `failed`.
        var calls: [String: UInt64]
        /// Seconds by which the tokens of most signers are ahead of this machine's clock; nil with too few signers.
        var clockOffset: Int64?
        /// The time of the last decision on all signers; nil before the first one.
        var decidedAt: Int64?
        /// The reason why signed calls find no signers, or those of an earlier time; nil normally.
        var problem: String?

        enum CodingKeys: String, CodingKey {
            case signers, calls, problem
            case unknownAddresses = "unknown_addresses"
            case clockOffset = "clock_offset_seconds"
            case decidedAt = "decided_at"
        }

        /// Calls with a result as text, such as `12 passed_a, 1 failed`.
        var callsText: String {
            let counts = calls.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return (counts.isEmpty ? "no signed call" : counts.joined(separator: ", ")) + " since the start"
        }
    }
}
