// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import GatewaySync

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
        /// The fetches of certificates; nil where nothing is fetched.
        var fetches: Fetches?
        /// The lists with an address; nil without one.
        var lists: [ListFetch]?

        /// The fetches of a list of authorities or of a revocation list.
        struct ListFetch: Hashable, Sendable, Codable {
            var address: String
            /// `authorities` or `revocations`.
            var kind: String
            /// The names of the regimes with the address.
            var regimes: [String]
            /// The time of the last successful fetch; nil before the first one.
            var fetchedAt: Int64?
            /// The time of the next fetch; nil before the first one.
            var nextAt: Int64?
            /// Failures in a row, with the reason of the last one.
            var failures: Int
            var reason: String?

            enum CodingKeys: String, CodingKey {
                case address, kind, regimes, failures, reason
                case fetchedAt = "fetched_at"
                case nextAt = "next_fetch_at"
            }

            init(_ figures: SignerService.ListFigures) {
                (address, kind) = (figures.list.address, figures.list.kind.rawValue)
                (regimes, failures) = (figures.list.names, figures.state.attempts)
                (fetchedAt, nextAt) = (figures.state.fetchedAt, figures.state.nextAt > 0 ? figures.state.nextAt : nil)
                reason = figures.state.reason.isEmpty ? nil : figures.state.reason
            }

            /// Kind, address and state as text.
            func text(at now: Int64) -> String {
                let fetched = fetchedAt.map { "fetched \(AgeText.text(now - $0)) ago" } ?? "not fetched yet"
                let failed = reason.map { ", \(ListFetchWords.failure(failures, $0))" } ?? ""
                return "\(kind) of \(regimes.joined(separator: ", ")) at \(address) \(fetched)\(failed)"
            }
        }

        /// The fetches of certificates.
        struct Fetches: Hashable, Sendable, Codable {
            /// Fetches since the start: `fetched`, `unchanged`, `skipped`, or the reason of a failure.
            var results: [String: UInt64]
            var waiting: Int
            var running: Int
            /// Hosts that are skipped for a minute, since they have sent no response.
            var skippedHosts: Int

            enum CodingKeys: String, CodingKey {
                case results, waiting, running
                case skippedHosts = "skipped_hosts"
            }

            init(_ figures: SignerService.FetchFigures) {
                (results, waiting, running) = (figures.counts, figures.waiting, figures.running)
                skippedHosts = figures.skippedHosts
            }

            /// Results as text, such as `12 fetched, 1 timeout since the start, 3 waiting`.
            var text: String {
                let counts = results.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                return (counts.isEmpty ? "no fetch" : counts.joined(separator: ", ")) + " since the start, "
                    + "\(waiting) waiting" + (skippedHosts > 0 ? ", \(skippedHosts) hosts without a response" : "")
            }
        }

        enum CodingKeys: String, CodingKey {
            case signers, calls, problem, fetches, lists
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
