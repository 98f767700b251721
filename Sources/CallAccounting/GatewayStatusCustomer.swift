// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// One customer of a running gateway, for its operator: never without login.
    package struct Customer: Hashable, Sendable, Codable {
        package var name: String
        /// The URL of its directory.
        package var directory: String?
        /// Numbers that its calls can be branded from.
        package var numbers: Int
        package var brands: Int
        /// Another customer with the same directory account; nil for none.
        package var sharesAccountOf: String?
        /// The closed gate of its account; nil when its calls may be branded.
        package var gate: String?
        /// Why its calls get no brands, or those of an old sync; nil normally.
        package var problem: String?
        /// Seconds since the last good sync of its account; nil before the first.
        package var syncAge: Int64?
        /// Its events that wait for the directory, and those that the directory refused.
        package var outbox: Outbox
        /// Calls from trunks since the start.
        package var calls: UInt64
        /// Of those, calls that went on with a brand.
        package var branded: UInt64

        package init(
            name: String, directory: String? = nil, numbers: Int, brands: Int, sharesAccountOf: String? = nil,
            gate: String? = nil, problem: String? = nil, syncAge: Int64? = nil, outbox: Outbox = .init(),
            calls: UInt64 = 0, branded: UInt64 = 0
        ) {
            self.name = name
            self.directory = directory
            self.numbers = numbers
            self.brands = brands
            self.sharesAccountOf = sharesAccountOf
            self.gate = gate
            self.problem = problem
            self.syncAge = syncAge
            self.outbox = outbox
            self.calls = calls
            self.branded = branded
        }

        package enum CodingKeys: String, CodingKey {
            case name, directory, numbers, brands, gate, problem, outbox, calls, branded
            case sharesAccountOf = "shares_account_of"
            case syncAge = "sync_age_seconds"
        }

        /// The branded share of its calls in percent; nil without calls.
        package var brandedPercent: UInt64? { calls == 0 ? nil : branded * 100 / calls }
    }
}
