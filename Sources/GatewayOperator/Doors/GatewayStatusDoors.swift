// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// The doors for systems that ask for names or verifications.
    struct Doors: Hashable, Sendable, Codable {
        /// Names by HTTP; nil where that door is closed.
        var names: Names?
        /// Calling names by ENUM; nil where that door is closed.
        var callingNames: CallingNames?
        /// Names by SIP redirection; nil where that door is closed.
        var redirect: Redirect?
        /// Verifications of signed calls; nil where that door is closed.
        var verification: Verification?
        /// Reports of calls; nil where that door is closed.
        var outcomes: Outcomes?

        /// A door and its requests.
        struct Names: Hashable, Sendable, Codable {
            /// The address that it listens on.
            var listen: String
            /// The trunk whose rules apply.
            var trunk: String
            /// Requests since the start: `matched`, a reason not to brand, `not_allowed`, `invalid` or `crowded`.
            var requests: [String: UInt64]

            /// The address, and the results as text, such as `12 matched, 3 no_match`.
            var text: String { "http://\(listen) by the rules of trunk \(trunk); " + Doors.text(requests, "request") }
        }

        /// The name server of calling names and its queries.
        struct CallingNames: Hashable, Sendable, Codable {
            /// The address that it listens on.
            var listen: String
            /// The trunk whose rules apply.
            var trunk: String
            var zone: String
            /// Queries since the start: `named`, `unavailable`, `empty`, `refused`, `malformed`, `limited`, `dropped`,
            /// `not_allowed` or `ignored`.
            var requests: [String: UInt64]

            /// Zone and address, and the results as text, such as `12 named, 3 empty`.
            var text: String {
                "zone \(zone) on \(listen) by the rules of trunk \(trunk); " + Doors.text(requests, "query")
            }
        }

        /// The redirect door and its requests.
        struct Redirect: Hashable, Sendable, Codable {
            /// The address that it listens on.
            var listen: String
            /// The trunk whose rules apply.
            var trunk: String
            /// Requests since the start: `matched`, a reason not to brand, or another result of `RedirectEvent`.
            var requests: [String: UInt64]

            /// The address, and the results as text, such as `12 matched, 3 no_match`.
            var text: String { "\(listen) by the rules of trunk \(trunk); " + Doors.text(requests, "request") }
        }

        /// The door for verifications and its requests.
        struct Verification: Hashable, Sendable, Codable {
            /// The address that it listens on.
            var listen: String
            /// The path of its requests.
            var path: String
            /// The trunk whose rules apply.
            var trunk: String
            /// Requests since the start: `passed`, a cause, `not_ready`, `not_allowed`, `invalid` or `crowded`.
            var requests: [String: UInt64]

            /// The URL, and the results as text, such as `12 passed, 3 stale`.
            var text: String {
                "http://\(listen)\(path) by the rules of trunk \(trunk); " + Doors.text(requests, "request")
            }
        }

        /// The door for reports of calls.
        struct Outcomes: Hashable, Sendable, Codable {
            /// The address that it listens on.
            var listen: String
            /// The trunk whose rules apply.
            var trunk: String
            /// Reports since the start: `shown`, `matched`, `unbranded`, `known`, `ignored`, `not_allowed`, `invalid`,
            /// `limited`, `not_stored` or `crowded`.
            var requests: [String: UInt64]

            /// The URL, and the results as text, such as `12 shown, 3 unbranded`.
            var text: String {
                "http://\(listen)/outcome by the rules of trunk \(trunk); " + Doors.text(requests, "report")
            }
        }

        private static func text(_ requests: [String: UInt64], _ noun: String) -> String {
            let counts = requests.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return (counts.isEmpty ? "no \(noun)" : counts.joined(separator: ", ")) + " since the start"
        }
    }
}
