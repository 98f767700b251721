// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// The copy of calls and events in the database of several gateways.
    package struct SharedLedger: Hashable, Sendable, Codable {
        /// Seconds since it had all changes of this gateway.
        package var behindSeconds: Double
        /// Changed rows that wait.
        package var waiting: Int
        /// The reason why it is not written; nil normally.
        package var problem: String?
        /// Role and standbys of the server, in words; nil before its first response.
        package var server: String?
        /// Problems of its standbys; nil before its first response.
        package var serverProblems: [String]?

        package init(
            behindSeconds: Double, waiting: Int, problem: String?, server: String? = nil,
            serverProblems: [String]? = nil
        ) {
            (self.behindSeconds, self.waiting, self.problem) = (behindSeconds, waiting, problem)
            (self.server, self.serverProblems) = (server, serverProblems)
        }

        package enum CodingKeys: String, CodingKey {
            case behindSeconds = "behind_seconds"
            case waiting, problem, server
            case serverProblems = "server_problems"
        }
    }
}
