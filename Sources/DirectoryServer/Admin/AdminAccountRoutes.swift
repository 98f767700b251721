// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Hummingbird

/// `/admin/v1/accounts` and the API keys of each.
struct AdminAccountRoutes: Sendable {
    let now: @Sendable () -> Int64

    private struct Settings: Decodable {
        var name: String?
        var branding_enabled: Bool?
        var voip_dialer_enabled: Bool?
        var status: String?
        var mode: String?
        /// -1 for no cap.
        var cap_this_month: Int?
        var included_imprints_monthly: Int?
        var card_enabled: Bool?

        static let fields: Set = [
            "branding_enabled", "voip_dialer_enabled", "status", "mode", "cap_this_month",
            "included_imprints_monthly", "card_enabled",
        ]

        var change: AccountStore.Change {
            var change = AccountStore.Change()
            (change.brandingEnabled, change.voipDialerEnabled) = (branding_enabled, voip_dialer_enabled)
            (change.status, change.mode) = (status, mode)
            (change.cap, change.includedImprints) = (cap_this_month, included_imprints_monthly)
            change.hasCards = card_enabled
            return change
        }
    }

    private struct KeyBody: Decodable {
        var name: String
        var kind: String?
    }

    private struct GraceBody: Decodable {
        var grace_seconds: Int64?
    }

    private struct NewKey: Encodable {
        var success = true
        /// Not stored; this response is the only one with it.
        let key: String
        var old_key_ends_at: String?
    }

    func list(_ admin: AdminRequest) async throws -> Response {
        let now = now()
        return try JSONBody.response(
            AdminPage(try await admin.blocking { try AccountList(admin.database).all(now: now) }))
    }

    func create(_ admin: AdminRequest) async throws -> Response {
        let body = try await JSONBody.read(Settings.self, of: admin.request, fields: Settings.fields.union(["name"]))
        guard let name = body.name else { throw Refusal.badRequest("Missing field name") }
        let (now, change) = (now(), body.change)
        let created = try await admin.blocking {
            let accounts = AccountList(admin.database)
            return try accounts.summary(of: accounts.create(name: name, change, now: now), now: now)
        }
        return try JSONBody.response(created, created.version, status: .created)
    }

    func show(_ admin: AdminRequest) async throws -> Response {
        let account = try await summary(admin, try await admin.account())
        return try JSONBody.response(account, account.version, to: admin.request)
    }

    func change(_ admin: AdminRequest) async throws -> Response {
        let (account, condition) = (try await admin.account(), try VersionCondition(admin.request))
        let change = try await JSONBody.read(Settings.self, of: admin.request, fields: Settings.fields).change
        try await admin.blocking { try AccountStore(admin.database, account: account).change(change, if: condition) }
        return try await changed(admin, account)
    }

    func close(_ admin: AdminRequest) async throws -> Response {
        let (account, condition, now) = (try await admin.account(), try VersionCondition(admin.request), now())
        try await admin.blocking { try AccountList(admin.database).close(account, if: condition, now: now) }
        return try await changed(admin, account)
    }

    func keys(_ admin: AdminRequest) async throws -> Response {
        let account = try await admin.account()
        return try JSONBody.response(
            AdminPage(try await admin.blocking { try AccountStore(admin.database, account: account).keys() }))
    }

    func createKey(_ admin: AdminRequest) async throws -> Response {
        let (account, now) = (try await admin.account(), now())
        let body = try await JSONBody.read(KeyBody.self, of: admin.request, fields: ["name", "kind"])
        guard let kind = KeyKind(rawValue: body.kind ?? KeyKind.gateway.rawValue) else {
            throw AccountStoreError.badKind
        }
        let key = try await admin.blocking {
            try AccountStore(admin.database, account: account).createKey(name: body.name, kind: kind, now: now)
        }
        return try secret(NewKey(key: key))
    }

    func rotateKey(_ admin: AdminRequest) async throws -> Response {
        let (account, now, reference) = (try await admin.account(), now(), try admin.pathPart("key"))
        let body = try await JSONBody.read(GraceBody.self, of: admin.request, fields: ["grace_seconds"])
        let grace = body.grace_seconds ?? AccountStore.grace
        guard (0...31_536_000).contains(grace) else {
            throw Refusal.badRequest("grace_seconds must be 0 to 31536000")
        }
        let made = try await admin.blocking {
            try AccountStore(admin.database, account: account).rotateKey(reference, grace: grace, now: now)
        }
        return try secret(NewKey(key: made.key, old_key_ends_at: Timestamp.string(from: made.oldEnds)))
    }

    func revokeKey(_ admin: AdminRequest) async throws -> Response {
        let (account, now, reference) = (try await admin.account(), now(), try admin.pathPart("key"))
        let isDone = try await admin.blocking {
            try AccountStore(admin.database, account: account).revokeKey(name: reference, now: now)
        }
        guard isDone else { throw AccountStoreError.noKey(reference) }
        return try JSONBody.response(AdminDone())
    }

    private func changed(_ admin: AdminRequest, _ account: AccountID) async throws -> Response {
        let account = try await summary(admin, account)
        return try JSONBody.response(account, account.version)
    }

    private func summary(_ admin: AdminRequest, _ account: AccountID) async throws -> AccountList.Summary {
        let now = now()
        return try await admin.blocking { try AccountList(admin.database).summary(of: account, now: now) }
    }

    /// No cache may store a key.
    private func secret(_ key: NewKey) throws -> Response {
        var response = try JSONBody.response(key, status: .created)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
