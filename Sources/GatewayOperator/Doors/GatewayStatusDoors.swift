// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// The doors for systems that ask for names.
    struct Doors: Hashable, Sendable, Codable {
        /// Names by HTTP; nil where that door is closed.
        var names: Names?

        /// A door and its requests.
        struct Names: Hashable, Sendable, Codable {
            /// The address that it listens on.
            var listen: String
            /// The trunk whose rules apply.
            var trunk: String
            /// Requests since the start: `matched`, a reason not to brand, `not_allowed`, `invalid` or `crowded`.
            var requests: [String: UInt64]

            /// The address, and the results as text, such as `12 matched, 3 no_match`.
            var text: String {
                let counts = requests.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                return "http://\(listen) by the rules of trunk \(trunk); "
                    + (counts.isEmpty ? "no request" : counts.joined(separator: ", ")) + " since the start"
            }
        }
    }
}
