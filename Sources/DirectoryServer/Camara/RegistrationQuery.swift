// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Hummingbird

/// The page and the conditions of `GET /registrations`; all conditions must hold.
struct RegistrationQuery {
    let page: Int
    let size: Int
    var filter = Registrations.Filter()

    /// - Throws: `CamaraError` for a value that the definition excludes.
    init(_ request: Request) throws {
        guard let values = FormBody.parameters(request.uri.query ?? "") else {
            throw CamaraError.invalid("The query has a parameter twice, or one that cannot be read")
        }
        func text(_ name: String) -> String? { values[name] }
        func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
            guard let text = text(name) else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw CamaraError.invalid("\(name) must be \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        page = try number("page", in: 1...Int(Int32.max)) ?? 1
        size = try number("perPage", in: 1...100) ?? 20
        (filter.customer, filter.name) = (text("customerId"), text("displayName"))
        filter.country = try number("terminatingCountryCode", in: RegistrationBody.countries)
        filter.expires = text("expiresAt")
        if let day = filter.expires, !RegistrationBody.isDay(day) {
            throw CamaraError.invalid("expiresAt must be a date such as 2027-01-31")
        }
        filter.purpose = text("callPurpose")
        if let purpose = filter.purpose, !RegistrationBody.purposes.contains(purpose) {
            throw CamaraError.invalid("callPurpose must be one of \(RegistrationBody.purposes.joined(separator: ", "))")
        }
        guard let status = text("status") else { return }
        guard let known = Registration.Status(rawValue: status) else {
            let all = Registration.Status.allCases.map(\.rawValue).joined(separator: ", ")
            throw CamaraError.invalid("status must be one of \(all)")
        }
        filter.status = known
    }
}
