// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import Foundation
import HTTPTypes

/// Reads the body that creates or replaces a registration (`CreateOrUpdateRegistrationRequest`).
///
/// A property that the definition does not declare is refused, as its description requires. So is `null`.
struct RegistrationBody {
    private let values: [String: JSONValue]

    private static let known: Set<String> = [
        "phoneNumber", "phoneNumberAlternate", "expiresAt", "displayName", "displayAsset", "customerId",
        "verifyCallerAction", "terminatingCountryCode", "campaignName", "callPurpose", "sink", "sinkCredential",
    ]

    static let actions = ["BLOCK_UNVERIFIED", "DO_NOT_BRAND"]
    static let purposes = [
        "Customer-Service", "Survey", "Telemarketing", "Debt-Collection", "Charity", "Informational", notOriginating,
    ]
    /// The purpose of a number that makes no calls, which a directory cannot enforce.
    static let notOriginating = "Do-Not-Originate"
    static let countries = 1...999

    /// The fields of a body.
    ///
    /// - Parameter today: the day in UTC, such as `2026-01-31`.
    /// - Throws: `CamaraError`.
    static func fields(_ object: [String: JSONValue], today: String) throws -> Registration.Fields {
        if let unknown = object.keys.filter({ !known.contains($0) }).min() {
            throw CamaraError.invalid("Unknown property \(ClientText.clean(unknown, atMost: 64) ?? "")")
        }
        let body = RegistrationBody(values: object)
        let fields = try body.fields(today: today)
        // The shape of the body comes first: a client that sends both mistakes has to mend the first anyway.
        if object["sink"] != nil || object["sinkCredential"] != nil {
            throw CamaraError(
                .badRequest, "INVALID_SINK",
                "This directory sends no notifications; leave sink and sinkCredential out")
        }
        guard fields.purpose != notOriginating else {
            throw CamaraError(
                .unprocessableContent, "SERVICE_NOT_APPLICABLE", "The directory brands calls and blocks none")
        }
        return fields
    }

    private func fields(today: String) throws -> Registration.Fields {
        guard let number = try number("phoneNumber") else { throw Self.missing("phoneNumber") }
        guard let name = try text("displayName", atMost: 32) else { throw Self.missing("displayName") }
        var fields = Registration.Fields(number: number, name: name, country: try country())
        fields.alternate = try self.number("phoneNumberAlternate")
        guard fields.alternate != number else {
            throw CamaraError.invalid("phoneNumberAlternate must differ from phoneNumber")
        }
        fields.expires = try day("expiresAt", after: today)
        fields.asset = try address("displayAsset")
        fields.customer = try text("customerId", atMost: 64)
        fields.action = try word("verifyCallerAction", of: Self.actions)
        fields.campaign = try text("campaignName", atMost: 64)
        fields.purpose = try word("callPurpose", of: Self.purposes)
        return fields
    }

    private static func missing(_ key: String) -> CamaraError { .invalid("The property \(key) is missing") }

    private func string(_ key: String) throws -> String? {
        switch values[key] {
        case nil: nil
        case .string(let text): text
        default: throw CamaraError.invalid("\(key) must be a text")
        }
    }

    /// A text without invisible characters that change the display of the rest.
    private func text(_ key: String, atMost limit: Int) throws -> String? {
        guard let text = try string(key) else { return nil }
        guard text.unicodeScalars.count <= limit else {
            throw CamaraError.invalid("\(key) has more than \(limit) characters")
        }
        if let problem = EntryRules.problem(key, text) { throw CamaraError.invalid(problem) }
        return text
    }

    private func number(_ key: String) throws -> E164Number? {
        guard let text = try string(key) else { return nil }
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (5...15).contains(digits.count),
            digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != UInt8(ascii: "0")
        else {
            throw CamaraError.invalid("\(key) must be a number such as +61491570156")
        }
        // The pattern has five digits at least, and every number of an account has seven.
        guard let number = E164Number(text) else {
            throw CamaraError(
                .notFound, "GENERIC_404_IDENTIFIER_NOT_FOUND",
                "The account does not have the number \(text); the operator of the directory adds numbers")
        }
        return number
    }

    private func country() throws -> Int {
        let key = "terminatingCountryCode"
        let number: Int? =
            switch values[key] {
            case nil: throw Self.missing(key)
            case .int(let number): number
            case .double(let number): Int(exactly: number)
            default: nil
            }
        guard let number, Self.countries.contains(number) else {
            throw CamaraError.invalid("\(key) must be a number from 1 to 999")
        }
        return number
    }

    private func word(_ key: String, of words: [String]) throws -> String? {
        guard let text = try string(key) else { return nil }
        guard words.contains(text) else {
            throw CamaraError.invalid("\(key) must be one of \(words.joined(separator: ", "))")
        }
        return text
    }

    private func day(_ key: String, after today: String) throws -> String? {
        guard let text = try string(key) else { return nil }
        guard Self.isDay(text) else { throw CamaraError.invalid("\(key) must be a date such as 2027-01-31") }
        guard text > today else { throw CamaraError.invalid("\(key) must be after \(today), the present day in UTC") }
        return text
    }

    /// True for a date of the calendar such as `2027-01-31`.
    static func isDay(_ text: String) -> Bool {
        text.utf8.count == 10 && Timestamp.seconds(from: text + "T00:00:00Z") != nil
    }

    /// A URI, perhaps with parameters behind semicolons; nobody fetches it.
    private func address(_ key: String) throws -> String? {
        guard let text = try text(key, atMost: 2048) else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let scheme = URL(string: text)?.scheme, !scheme.isEmpty
        else { throw CamaraError.invalid("\(key) must be a URI such as https://example.com/logo.png;purpose=icon") }
        return text
    }
}
