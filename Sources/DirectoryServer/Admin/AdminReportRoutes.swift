// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import Foundation
import Hummingbird

/// Serves events, devices and device logs of an account, and monthly reports.
struct AdminReportRoutes: Sendable {
    private struct Reports: Encodable {
        var success = true
        let reports: [MonthReport]
    }

    func events(_ admin: AdminRequest) async throws -> Response {
        let (account, limit) = (try await admin.account(), try admin.limit())
        var filter = EventLedger.Filter()
        filter.number = try admin.number("number")
        (filter.outcome, filter.deviceID) = (admin.text("outcome"), admin.text("device_id"))
        filter.counted = try admin.flag("counted")
        (filter.since, filter.until) = (try admin.time("since"), try admin.time("until"))
        var after: EventLedger.Position?
        if let text = admin.text("after") {
            guard let position = EventLedger.Position(text) else {
                throw Refusal.badRequest("after must be the next of the page before")
            }
            after = position
        }
        let (asked, from) = (filter, after)
        let page = try await admin.blocking {
            try EventLedger(admin.database, account: account).page(asked, after: from, limit: limit)
        }
        return try JSONBody.response(AdminPage(page.events, next: page.next?.description))
    }

    func devices(_ admin: AdminRequest) async throws -> Response {
        let (account, after, limit) = (try await admin.account(), admin.text("after"), try admin.limit())
        let devices = try await admin.blocking {
            try DeviceList(admin.database, account: account).page(after: after, limit: limit)
        }
        return try JSONBody.response(AdminPage(devices, next: devices.count == limit ? devices.last?.deviceID : nil))
    }

    /// Serves the latest lines of a device's log, the newest last.
    func deviceLog(_ admin: AdminRequest) async throws -> Response {
        let (account, device) = (try await admin.account(), try admin.pathPart("device"))
        let lines = try await admin.blocking { try DeviceLog(admin.database, account: account).lines(of: device) }
        guard let lines else { throw Refusal.notFound("There is no such device") }
        return try JSONBody.response(AdminPage(lines))
    }

    /// Serves reports of all accounts, or of the one in the query, as JSON or CSV.
    func report(_ admin: AdminRequest) async throws -> Response {
        enum Format: String, CaseIterable { case json, csv }
        let (month, reference) = (try admin.pathPart("month"), admin.text("account"))
        let format: Format = try admin.choice("format") ?? .json
        let reports = try await admin.longWork { _ in
            let account = try reference.map { try AccountList(admin.database).find($0) }
            return try MonthReports(admin.database).reports(month: month, account: account)
        }
        if format == .json { return try JSONBody.response(Reports(reports: reports)) }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/csv; charset=utf-8",
                .contentDisposition: "attachment; filename=\"report-\(month).csv\"",
            ],
            body: .init(byteBuffer: ByteBuffer(string: MonthReport.csv(reports))))
    }
}
