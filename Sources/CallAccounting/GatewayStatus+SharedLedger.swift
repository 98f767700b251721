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
        /// Open calls of silent gateways that go on here.
        package var adopted: Int?
        /// Open calls of this gateway that another one goes on with.
        package var away: Int?
        /// The reason why the gateway's own ledger stores nothing, so that call updates wait before it; nil normally.
        package var ledgerProblem: String?

        package init(
            behindSeconds: Double, waiting: Int, problem: String?, server: String? = nil,
            serverProblems: [String]? = nil, adopted: Int? = nil, away: Int? = nil,
            ledgerProblem: String? = nil
        ) {
            (self.behindSeconds, self.waiting, self.problem) = (behindSeconds, waiting, problem)
            (self.server, self.serverProblems) = (server, serverProblems)
            (self.adopted, self.away, self.ledgerProblem) = (adopted, away, ledgerProblem)
        }

        package enum CodingKeys: String, CodingKey {
            case behindSeconds = "behind_seconds"
            case waiting, problem, server, adopted, away
            case serverProblems = "server_problems"
            case ledgerProblem = "ledger_problem"
        }
    }
}
