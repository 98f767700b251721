// SPDX-License-Identifier: Apache-2.0

import GatewayStore

extension GatewayStatus {
    /// One customer of a running gateway, for its operator: never without login.
    struct Customer: Hashable, Sendable, Codable {
        var name: String
        /// The URL of its directory.
        var directory: String?
        /// Numbers that its calls can be branded from.
        var numbers: Int
        var brands: Int
        /// Another customer with the same directory account; nil for none.
        var sharesAccountOf: String?
        /// The closed gate of its account; nil when its calls may be branded.
        var gate: String?
        /// Why its calls get no brands, or those of an old sync; nil normally.
        var problem: String?
        /// Seconds since the last good sync of its account; nil before the first.
        var syncAge: Int64?
        /// Its events that wait for the directory, and those that the directory refused.
        var outbox = EventBacklog()
        /// Calls from trunks since the start.
        var calls: UInt64 = 0
        /// Of those, calls that went on with a brand.
        var branded: UInt64 = 0

        enum CodingKeys: String, CodingKey {
            case name, directory, numbers, brands, gate, problem, outbox, calls, branded
            case sharesAccountOf = "shares_account_of"
            case syncAge = "sync_age_seconds"
        }

        /// The branded share of its calls in percent; nil without calls.
        var brandedPercent: UInt64? { calls == 0 ? nil : branded * 100 / calls }
    }

    /// The customers of the gateway and their brands.
    struct Customers: Hashable, Sendable, Codable {
        var count: Int
        /// Directory accounts; several customers may have one.
        var accounts: Int
        /// Sets of brands in memory; accounts with the same brands share one.
        var brandSets: Int
        /// Of these sets, in bytes.
        var memory: Int
        /// Customers with a closed gate or a failed sync; nil from an earlier program.
        var troubled: Int? = 0

        /// The number of customers with a problem as a sentence without its end; nil without a problem.
        var trouble: String? {
            guard let troubled, troubled > 0 else { return nil }
            return "\(troubled) of \(count) customers \(troubled == 1 ? "has a problem" : "have problems")"
        }

        enum CodingKeys: String, CodingKey {
            case count, accounts, memory, troubled
            case brandSets = "brand_sets"
        }
    }
}
