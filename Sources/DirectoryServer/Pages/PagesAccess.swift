// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import Logging
import WebPages

/// The login of the pages with a key of the operator's API.
///
/// Wrong keys count and wait together with those of the API.
struct PagesAccess: Sendable {
    let database: DirectoryDatabase
    let keys: AdminKeys
    let wrong: WrongKeys
    let now: @Sendable () -> Int64
    let pause: @Sendable (Duration) async throws -> Void
    let logger: Logger

    static let noKey = "There is no admin key yet. Make one with the command below, then log in with it."

    func access(isSecure: Bool) -> PageAccess {
        .login(label: "admin key", isSecure: isSecure) { key, address in try await check(key, address) }
    }

    /// Ends the sessions of a removed key.
    var ticket: LoginTicket {
        LoginTicket(text: AdminKeys.identifier) { [keys] in try await keys.isValid(identifier: $0) }
    }

    /// The notice on the login page: how to make the first key, or the trouble of the database.
    func notice() async -> PageNotice? {
        do {
            if case .noneExist = try await keys.check(nil, now: now()) { return PageNotice(.warning, Self.noKey) }
            return nil
        } catch {
            return PageNotice(.error, database.trouble(of: error) ?? "The database cannot be read: \(error)")
        }
    }

    private func check(_ key: String, _ address: String) async throws -> Bool {
        let verdict: AdminKeys.Verdict
        do {
            verdict = try await keys.check(key.utf8.count <= 200 ? key : "", now: now())
        } catch {
            guard let trouble = database.trouble(of: error) else { throw error }
            throw PageProblem(.serviceUnavailable, trouble)
        }
        switch verdict {
        case .valid: return true
        case .noneExist: throw PageProblem(.forbidden, Self.noKey)
        case .wrong: return try await delayed(address)
        }
    }

    private func delayed(_ address: String) async throws -> Bool {
        let (_, delay) = wrong.add(address, now: now())
        guard wrong.enter() else {
            throw PageProblem(.tooManyRequests, "Too many wrong admin keys. Wait ten seconds and try again.")
        }
        defer { wrong.leave() }
        try await pause(delay)
        return false
    }
}
