// SPDX-License-Identifier: Apache-2.0

package import Branding

/// The name that a customer has registered for one of the account's numbers.
///
/// Source: CAMARA Brand Registration, `RegistrationRecord`.
package struct Registration: Hashable, Sendable {
    /// A UUID.
    package let id: String
    package var fields: Fields
    package var status: Status

    /// The effect of a registration on the calls of its number.
    package enum Status: String, Codable, Hashable, Sendable, CaseIterable {
        /// No registration of this directory waits: one that cannot take effect is refused.
        case pending
        /// Gateways get the numbers with the registered name.
        case active
        /// The operator has taken a number out of use, held it back, or given it another brand or name.
        case inactive
        case expired
    }

    /// The values that the customer chooses.
    package struct Fields: Hashable, Sendable {
        package var number: E164Number
        /// A second number of the same caller, which gets the same name.
        package var alternate: E164Number?
        /// The name of a brand of the account, to the letter.
        package var name: String
        /// The calling code of the callees; stored and returned alone.
        package var country: Int
        /// The first day (UTC) without the registration, such as `2026-01-31`; nil for none.
        package var expires: String?
        package var asset: String?
        package var customer: String?
        package var action: String?
        package var campaign: String?
        package var purpose: String?

        package init(number: E164Number, name: String, country: Int) {
            (self.number, self.name, self.country) = (number, name, country)
        }

        /// The numbers that get the name.
        var numbers: [E164Number] { [number] + (alternate.map { [$0] } ?? []) }
    }
}

extension Registration {
    /// Reads a row of `Registrations.found`.
    init(_ row: SQLRow) throws {
        func number(_ digits: Int64) throws -> E164Number {
            guard let number = E164Number(digits: UInt64(clamping: digits)) else {
                throw InconsistentStore(description: "a registration has the number \(digits)")
            }
            return number
        }
        id = row["id"]
        status = Status(rawValue: row["status"]) ?? .inactive
        fields = Fields(number: try number(row["number"]), name: row["name"], country: row["country"])
        fields.alternate = try (row["alternate"] as Int64?).map(number)
        fields.expires = row["expires"]
        fields.asset = row["asset"]
        fields.customer = row["customer"]
        fields.action = row["action"]
        fields.campaign = row["campaign"]
        fields.purpose = row["purpose"]
    }
}

/// Refusals of a registration.
package enum RegistrationError: Error, Hashable {
    /// The account has no registration of this identifier.
    case unknown
    /// The account does not have this number.
    case unknownNumber(E164Number)
    /// The operator has taken the number out of use, or holds it back.
    case unusableNumber(E164Number)
    /// Another registration has the number.
    case taken(E164Number)
    /// The account has no brand of this name whose owner is active.
    case unknownName
}
