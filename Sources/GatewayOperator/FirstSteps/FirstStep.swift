// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// A step from the installation to the first branded call.
    struct FirstStep: Hashable, Sendable, Codable {
        /// `gateway`, `carrier`, `pbx`, `directory`, `logos` or `call`.
        var step: String
        var done: Bool
        /// The observation; for an open step, cause and remedy.
        var text: String
        /// Lines for `herald.yaml` that end the problem; nil for none.
        var lines: [String]?

        /// The text with its lines, for a terminal.
        var sentence: String { ([text] + (lines ?? [])).joined(separator: ": ") }
    }
}
