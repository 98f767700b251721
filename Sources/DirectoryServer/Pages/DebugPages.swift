// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes
import WebPages

/// Requests debug uploads of devices, and gives the received ones.
struct DebugPages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/debug") { request in
                try await list(request, try await request.account(), form: nil)
            },
            desk.page(.post, "/accounts/:account/debug") { try await ask($0) },
            desk.page(.post, "/accounts/:account/debug/withdraw") { try await withdraw($0) },
            desk.page(.get, "/accounts/:account/debug/:upload/logs") { try await logs($0) },
        ]
    }

    private func list(
        _ request: OperatorRequest, _ account: OperatorRequest.Account, form: EntryForm?
    ) async throws -> PageResult {
        let (database, id, now) = (request.database, account.id, request.now)
        let (open, uploads) = try await request.blocking {
            (
                try DebugRequests(database, account: id).open(now: now),
                try DebugUploads(database, account: id).latest(limit: OperatorRequest.rows)
            )
        }
        var requests = PageTable("Open requests", ["Device", "Ends", "Action"], empty: "No request is open.")
        for asked in open {
            requests.add(
                .text(asked.device ?? "every device"), request.time(Timestamp.string(from: asked.expires)),
                PageTable.Cell(
                    cellForm: .init(
                        account.path + "/debug/withdraw", ["device": asked.device ?? ""], button: "Withdraw")))
        }
        var received = PageTable("Received uploads", ["Device", "Received", "Logs"], empty: "No upload yet.")
        for upload in uploads {
            let hasLogs = upload.logs != nil || upload.logsUploadID != nil
            received.add(
                .text(upload.device), request.time(Timestamp.string(from: upload.received)),
                hasLogs ? .link("Download", account.path + "/debug/\(upload.id)/logs") : .text("none"))
        }
        let parts = [
            PagePart(table: requests), PagePart(table: received),
            PagePart(
                heading: "Ask for uploads",
                texts: ["Logs can have telephone numbers of callers. Ask only for devices that you examine."],
                form: form ?? Self.form(account, device: "", hours: "24", problem: nil)),
        ]
        return request.result(
            "Debug uploads", of: account, tab: "/debug", parts: parts,
            status: form == nil ? .ok : .unprocessableContent)
    }

    private static func form(
        _ account: OperatorRequest.Account, device: String, hours: String, problem: String?,
        deviceProblem: String? = nil
    ) -> EntryForm {
        EntryForm(
            account.path + "/debug",
            [
                .text("device", "Device", device, hint: "empty asks every device, each once", problem: deviceProblem),
                .text("hours", "Hours until the request ends", hours, hint: "1 to 168", problem: problem),
            ], button: "Ask for an upload")
    }

    private func ask(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (device, hours) = (request.form["device"], request.form["hours"])
        let isLong = device.count > 128
        guard let count = Int64(hours), (1...168).contains(count), !isLong else {
            let isWrong = Int64(hours).map { !(1...168).contains($0) } ?? true
            return try await list(
                request, account,
                form: Self.form(
                    account, device: device, hours: hours,
                    problem: isWrong ? "Write a whole number from 1 to 168." : nil,
                    deviceProblem: isLong ? "A device has at most 128 characters." : nil))
        }
        let (database, id, now) = (request.database, account.id, request.now)
        try await request.blocking {
            try DebugRequests(database, account: id).request(
                device: device.isEmpty ? nil : device, expires: now + count * 3600, now: now)
        }
        return .redirect(
            to: account.path + "/debug", notice: PageNotice(.done, "The request goes out with the next sync."))
    }

    private func withdraw(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (database, id, device) = (request.database, account.id, request.form["device"])
        let isWithdrawn = try await request.blocking {
            try DebugRequests(database, account: id).withdraw(device: device.isEmpty ? nil : device)
        }
        return .redirect(
            to: account.path + "/debug",
            notice: isWithdrawn
                ? PageNotice(.done, "The request is withdrawn.")
                : PageNotice(.warning, "The request was not open any more."))
    }

    private func logs(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (database, id, reference) = (request.database, account.id, request.page.pathPart("upload"))
        return try await request.blocking {
            guard let upload = try DebugUploads(database, account: id).find(reference) else {
                throw PageProblem(.notFound, "There is no such debug upload. Open the list again.")
            }
            var bytes = Array((upload.logs ?? "").utf8)
            if let file = upload.logsUploadID {
                let logs = try UploadedLogs(file, of: id, in: database)
                while case let piece = try logs.read(at: bytes.count), !piece.isEmpty { bytes += piece }
            }
            return .file(bytes: bytes, type: "text/plain; charset=utf-8", name: "\(upload.id).log")
        }
    }
}
