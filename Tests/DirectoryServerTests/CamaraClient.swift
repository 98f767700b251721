// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import TestFixtures
import Testing

/// A customer that registers brands by the interface of CAMARA.
struct CamaraClient: Sendable {
    static let registrations = "/brand-registration/vwip/registrations"
    static let acme = "+61491570156"
    static let second = "+61491570157"

    let directory: RunningDirectory
    let id: String
    let secret: String

    /// Runs a directory with the brands `Acme Bank` and `Acme Claims`, two numbers of the first, and a registrar's key.
    static func run(_ body: @escaping @Sendable (CamaraClient) async throws -> Void) async throws {
        try await RunningDirectory.run(edit: { $0.offersRegistrations = true }) { directory in
            try directory.put(try entry(acme), try entry(second))
            var change = BrandList.Change()
            change.name = "Acme Claims"
            _ = try BrandList(directory.database).create(id: "claims", change, now: directory.time.now)
            try await body(try CamaraClient(directory))
        }
    }

    init(_ directory: RunningDirectory, account: AccountID = .first) throws {
        self.directory = directory
        let accounts = AccountStore(directory.database, account: account)
        secret = try accounts.createKey(name: "shop", kind: .registrar, now: 0)
        id = try #require(try accounts.keys().last { $0.name == "shop" }).id
    }

    /// The HTTP Basic authentication of the client.
    var basic: String { "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString() }

    /// A request for a token, to the letter.
    func tokenRequest(
        _ form: String, authorization: String?, type: String = "application/x-www-form-urlencoded"
    ) async throws -> ReceivedResponse {
        var headers: [(name: String, value: String)] = [("Content-Type", type)]
        if let authorization { headers.append(("Authorization", authorization)) }
        return try await LoopbackClient.ask(
            RawRequest(method: "POST", path: "/oauth2/token", headers: headers, body: Array(form.utf8)),
            port: directory.port)
    }

    func token(_ scope: String = "") async throws -> String {
        let form = "grant_type=client_credentials" + (scope.isEmpty ? "" : "&scope=" + scope)
        let response = try await tokenRequest(form, authorization: basic)
        try #require(response.status == 200, "\(response.text)")
        return try #require(response.object["access_token"]?.asText)
    }

    /// A request with this token, or without one.
    func ask(
        _ method: String, _ path: String = registrations, _ body: String = "", token: String?,
        correlator: String? = "b4333c46-49c0-4f62-80d7-f0ef930f1c46"
    ) async throws -> ReceivedResponse {
        var headers: [(name: String, value: String)] = [("Content-Type", "application/json")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        if let correlator { headers.append(("x-correlator", correlator)) }
        return try await LoopbackClient.ask(
            RawRequest(method: method, path: path, headers: headers, body: Array(body.utf8)), port: directory.port)
    }

    /// A request with a new token of all scopes.
    func ask(_ method: String, _ path: String = registrations, _ body: String = "") async throws -> ReceivedResponse {
        try await ask(method, path, body, token: try await token())
    }

    /// A registration's body: the required properties, unless `more` has them, and others behind a comma.
    static func body(_ number: String = acme, name: String = "Acme Claims", more: String = "") -> String {
        let required = [
            ("phoneNumber", "\"\(number)\""), ("displayName", "\"\(name)\""), ("terminatingCountryCode", "61"),
        ]
        let kept = required.filter { !more.contains("\"\($0.0)\":") }
        return "{" + kept.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + more + "}"
    }

    /// Makes a registration; its path.
    func register(_ body: String = body()) async throws -> String {
        let made = try await ask("POST", Self.registrations, body)
        try #require(made.status == 201, "\(made.text)")
        return Self.registrations + "/" + (try #require(made.object["registrationId"]?.asText))
    }

    /// The status of a registration.
    func status(_ path: String) async throws -> String? { try await ask("GET", path).object["status"]?.asText }

    /// The names that gateways have of the numbers of an account.
    func names(_ account: AccountID = .first) throws -> [String: String] {
        let items = try BrandEntries(directory.database, account: account).active(limit: 9)
        return Dictionary(items.map { ($0.phoneNumber, $0.brandName ?? "") }, uniquingKeysWith: { $1 })
    }
}

extension ReceivedResponse {
    /// True for an error of the shape `ErrorInfo` with this code, and a text for people.
    func isErrorInfo(_ status: Int, _ code: String) -> Bool {
        self.status == status && object["status"] == .int(status) && object["code"] == .string(code)
            && object["message"]?.asText?.isEmpty == false && object.count == 3
            && headers["content-type"] == "application/json"
    }
}

extension JSONValue {
    var asText: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
