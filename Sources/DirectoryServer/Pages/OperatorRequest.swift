// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Foundation
import HTTPTypes
import Host
import Hummingbird
import Primitives
import WebPages

/// A request for a page of the operator, with access to the operations of the API.
struct OperatorRequest: Sendable {
    let page: PageRequest
    let admin: AdminRequest
    /// Seconds since 1970.
    let now: Int64
    /// The zone of the times on pages.
    let zone: LocalZone

    var database: DirectoryDatabase { admin.database }
    var form: PageForm { page.form }

    /// The account in the path.
    struct Account: Sendable {
        let id: AccountID
        let summary: AccountList.Summary

        var name: String { summary.name }
        /// The path of its pages.
        var path: String { "/accounts/\(PagePath.encoded(name))" }
    }

    func account() async throws -> Account {
        let id = try await admin.account()
        let (database, now) = (database, now)
        return Account(
            id: id, summary: try await blocking { try AccountList(database).summary(of: id, now: now) })
    }

    /// Runs blocking work outside the event loops.
    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await admin.blocking(body)
    }

    /// Runs work of seconds or minutes below all other threads, in rounds with other such work.
    func longWork<Value: Sendable>(_ body: @escaping @Sendable (WorkTurn) throws -> Value) async throws -> Value {
        try await admin.longWork(body)
    }

    /// A telephone number as this session may see it.
    func shown(_ number: String) -> String { page.showsNumbers ? number : NumberMask.masked(number) }

    /// A time in a cell of a table, local with UTC below.
    func time(_ time: String?) -> PageTable.Cell { zone.cell(time) }

    /// A text in which telephone numbers appear as this session may see them.
    func shownText(_ text: String) -> String { page.showsNumbers ? text : NumberMask.masked(text) }

    /// The rows of a page of a list.
    static let rows = 50

    /// A page of an account, with the navigation between its pages.
    func result(
        _ title: String, of account: Account, tab: String = "", parts: [PagePart],
        live: String? = nil, status: HTTPResponse.Status = .ok, notice: PageNotice? = nil
    ) -> PageResult {
        let tabs = [
            ("", "Account"), ("/brands", "Brands"), ("/numbers", "Numbers"), ("/import", "Import"), ("/keys", "Keys"),
            ("/devices", "Devices"), ("/events", "Events"), ("/debug", "Debug"),
        ]
        let content = PageContent(
            account: account.name,
            tabs: tabs.map { PageLink(href: account.path + $0.0, linkText: $0.1, isCurrent: $0.0 == tab) },
            parts: parts, live: live)
        return .page(template: "content", title: title, content: content, status: status, notice: notice)
    }

    /// A page of the whole directory.
    static func result(
        _ title: String, parts: [PagePart], live: String? = nil, status: HTTPResponse.Status = .ok
    ) -> PageResult {
        .page(template: "content", title: title, content: PageContent(parts: parts, live: live), status: status)
    }
}
