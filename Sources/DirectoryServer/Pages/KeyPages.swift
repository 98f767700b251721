// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import WebPages

/// Lists, adds, rotates and removes the API keys of an account.
struct KeyPages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/keys") { request in
                try await list(request, try await request.account())
            },
            desk.page(.post, "/accounts/:account/keys") { try await add($0) },
            desk.page(.get, "/accounts/:account/keys/:key/rotate") { request in
                try await askRotate(request, hours: "24", problem: nil)
            },
            desk.page(.post, "/accounts/:account/keys/:key/rotate") { try await rotate($0) },
            desk.page(.get, "/accounts/:account/keys/:key/remove") { try await askRemove($0) },
            desk.page(.post, "/accounts/:account/keys/:key/remove") { try await remove($0) },
        ]
    }

    private func keys(
        _ request: OperatorRequest, _ account: OperatorRequest.Account
    ) async throws -> [AccountStore.KeyRow] {
        let (database, id) = (request.database, account.id)
        return try await request.blocking { try AccountStore(database, account: id).keys() }
    }

    private func list(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, form: EntryForm? = nil,
        status: HTTPResponse.Status = .ok
    ) async throws -> PageResult {
        var table = PageTable(
            "API keys", ["Name", "Kind", "State", "Identifier", "Created", "Last used", "Action"],
            empty: "No key yet. A gateway or phone needs one.")
        for key in try await keys(request, account) {
            let state = Self.state(key, request)
            let path = account.path + "/keys/" + key.id
            let isUsable = state.text == "valid"
            let rotate = PageLink(href: path + "/rotate", linkText: "Rotate…")
            let remove = PageLink(href: path + "/remove", linkText: "Remove…")
            table.add(
                .text(key.name), .text(key.kind?.rawValue), .tag(state.text, state.color), .text(key.id),
                request.time(key.created), request.time(key.lastUsed),
                isUsable ? .links(rotate, remove) : state.color == "warn" ? .links(remove) : .text(nil))
        }
        let parts = [
            PagePart(table: table),
            PagePart(
                heading: "New key", texts: ["The key is shown once. The directory keeps only its hash."],
                form: form ?? Self.newForm(account, name: "", kind: KeyKind.gateway.rawValue, problem: nil)),
        ]
        return request.result("Keys", of: account, tab: "/keys", parts: parts, status: status)
    }

    private static func state(_ key: AccountStore.KeyRow, _ request: OperatorRequest) -> (text: String, color: String) {
        if key.revoked != nil { return ("removed", "bad") }
        guard let expires = key.expires else { return ("valid", "good") }
        if let end = Timestamp.seconds(from: expires), end <= request.now { return ("ended", "bad") }
        return ("ends \(request.zone.shown(expires))", "warn")
    }

    private static func newForm(
        _ account: OperatorRequest.Account, name: String, kind: String, problem: String?
    ) -> EntryForm {
        EntryForm(
            account.path + "/keys",
            [
                .text(
                    "name", "Name", name, hint: "such as the gateway's host name", isRequired: true, problem: problem),
                .choice(
                    "kind", "Kind", kind, KeyKind.allCases.map { ($0.rawValue, $0.rawValue) },
                    hint: "a key of phones never gets the limits of a gateway; a registrar's opens CAMARA alone"),
            ], button: "Add key")
    }

    private func add(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (name, kind) = (request.form["name"], request.form["kind"])
        do {
            guard let known = KeyKind(rawValue: kind) else { throw AccountStoreError.badKind }
            let (database, id, now) = (request.database, account.id, request.now)
            let key = try await request.blocking {
                try AccountStore(database, account: id).createKey(name: name, kind: known, now: now)
            }
            return shown(request, account, key, title: "Key \(name)", ends: nil)
        } catch let error as AccountStoreError {
            return try await list(
                request, account,
                form: Self.newForm(account, name: name, kind: kind, problem: PageDesk.sentence(error)),
                status: error == .isClosed ? .conflict : .unprocessableContent)
        }
    }

    /// The only page with the key itself.
    private func shown(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, _ key: String, title: String, ends: String?
    ) -> PageResult {
        var part = PagePart(secret: key)
        part.notices = [.warning("Copy the key now. It is shown only once and cannot be recovered.")]
        part.texts = [
            "On a gateway, write it into the file of directory.api_key_file, usually /etc/herald/api-key, and reload herald."
        ]
        if let ends { part.texts.append("The old key works until \(ends) UTC.") }
        part.linkList = .init(links: [
            PageLink(href: account.path + "/keys", linkText: "I have the key: back to the list")
        ])
        return request.result(title, of: account, tab: "/keys", parts: [part])
    }

    private func find(
        _ request: OperatorRequest
    ) async throws -> (OperatorRequest.Account, AccountStore.KeyRow) {
        let account = try await request.account()
        let reference = request.page.pathPart("key")
        guard let key = try await keys(request, account).first(where: { $0.id == reference }) else {
            throw AccountStoreError.noKey(reference)
        }
        return (account, key)
    }

    private func askRotate(
        _ request: OperatorRequest, hours: String, problem: String?
    ) async throws -> PageResult {
        let (account, key) = try await find(request)
        let form = EntryForm(
            account.path + "/keys/\(key.id)/rotate",
            [
                .text(
                    "hours", "Hours for which the old key still works", hours, hint: "0 to 8760; 0 ends it at once",
                    isRequired: true, problem: problem)
            ], button: "Make the new key", cancel: account.path + "/keys")
        let text = "A new key of the same name is made. Change the gateways one by one while both keys work."
        return request.result(
            "Rotate \(key.name)?", of: account, tab: "/keys", parts: [PagePart(texts: [text], form: form)],
            status: problem == nil ? .ok : .unprocessableContent)
    }

    private func rotate(_ request: OperatorRequest) async throws -> PageResult {
        let hours = request.form["hours"]
        guard let count = Int64(hours), (0...8760).contains(count) else {
            return try await askRotate(request, hours: hours, problem: "Write a whole number from 0 to 8760.")
        }
        let (account, key) = try await find(request)
        let (database, id, now) = (request.database, account.id, request.now)
        let made = try await request.blocking {
            try AccountStore(database, account: id).rotateKey(key.id, grace: count * 3600, now: now)
        }
        return shown(
            request, account, made.key, title: "New key \(key.name)",
            ends: count == 0 ? nil : request.zone.shown(Timestamp.string(from: made.oldEnds)))
    }

    private func askRemove(_ request: OperatorRequest) async throws -> PageResult {
        let (account, key) = try await find(request)
        let form = EntryForm(
            account.path + "/keys/\(key.id)/remove", [], button: "Remove \(key.name)", isDanger: true,
            cancel: account.path + "/keys")
        let text =
            "Requests with this key get 401 from now on. Last used: \(request.zone.shown(key.lastUsed)). This cannot be undone."
        return request.result(
            "Remove \(key.name)?", of: account, tab: "/keys", parts: [PagePart(texts: [text], form: form)])
    }

    private func remove(_ request: OperatorRequest) async throws -> PageResult {
        let (account, key) = try await find(request)
        let (database, id, now) = (request.database, account.id, request.now)
        let isDone = try await request.blocking {
            try AccountStore(database, account: id).revokeKey(name: key.id, now: now)
        }
        let notice =
            isDone
            ? PageNotice(.done, "Key \(key.name) is removed.")
            : PageNotice(.warning, "Key \(key.name) was not valid any more.")
        return .redirect(to: account.path + "/keys", notice: notice)
    }
}
