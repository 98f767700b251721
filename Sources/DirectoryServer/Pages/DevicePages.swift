// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryStore
import HTTPTypes
import WebPages

/// Lists the gateways and phones of an account, and the latest lines of a device's log.
struct DevicePages: Sendable {
    let desk: PageDesk

    var pages: [Page] {
        [
            desk.page(.get, "/accounts/:account/devices") { try await list($0) },
            desk.page(.get, "/accounts/:account/device") { try await log($0) },
        ]
    }

    private func list(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let (database, id, after) = (request.database, account.id, request.page.query("after"))
        let devices = try await request.blocking {
            try DeviceList(database, account: id).page(after: after, limit: OperatorRequest.rows)
        }
        var table = PageTable(
            "Gateways and phones",
            ["Device", "Platform", "Version", "Registered", "Last seen", "Last sync", "#Log lines"],
            empty: "No device has registered yet.")
        for device in devices {
            let versions = [
                device.appVersion, device.sdkVersion.map { "SDK \($0)" }, device.osVersion.map { "OS \($0)" },
            ]
            table.add(
                PageTable.Cell(
                    cellLink: PageLink(
                        href: PagePath.with(account.path + "/device", ["id": device.deviceID]),
                        linkText: device.deviceID),
                    cellDetail: device.customerName), .text(device.platform, detail: device.deviceType),
                .text(versions.compactMap { $0 }.joined(separator: ", ")), request.time(device.registered),
                request.time(device.lastSeen), request.time(device.lastSynced), .count(device.logLines))
        }
        var part = PagePart(table: table)
        if devices.count == OperatorRequest.rows, let last = devices.last {
            let next = PagePath.with(account.path + "/devices", ["after": last.deviceID])
            part.linkList = .init(links: [PageLink(href: next, linkText: "Next page")])
        }
        let push = try await after == nil ? self.push(request, of: account.id) : []
        return request.result("Devices", of: account, tab: "/devices", parts: [part] + push)
    }

    /// The devices for push messages with their numbers; empty without any.
    private func push(_ request: OperatorRequest, of account: AccountID) async throws -> [PagePart] {
        let devices = try await PushDevices(request.database, account: account).page(
            after: nil, limit: OperatorRequest.rows)
        if devices.isEmpty { return [] }
        var table = PageTable(
            "Push messages", ["Device", "Platform", "Confirmed numbers", "Numbers that wait", "Registered"],
            empty: "No device is registered for push messages.")
        for device in devices {
            func numbers(_ isConfirmed: Bool) -> String {
                device.numbers.filter { ($0.confirmed != nil) == isConfirmed }.map(\.number.description)
                    .joined(separator: ", ")
            }
            table.add(
                .text(request.shownText(device.id)), .text(device.platform.rawValue),
                .text(request.shownText(numbers(true))),
                .text(request.shownText(numbers(false))), request.time(Timestamp.string(from: device.created)))
        }
        return [PagePart(table: table)]
    }

    private func log(_ request: OperatorRequest) async throws -> PageResult {
        let account = try await request.account()
        let device = request.page.query("id") ?? ""
        let (database, id) = (request.database, account.id)
        let found = try await request.blocking { try DeviceLog(database, account: id).lines(of: device) }
        guard let lines = found else {
            throw PageProblem(.notFound, "There is no such device in this account. Open the list of devices again.")
        }
        var table = PageTable(
            "The latest lines, the newest first", ["Received", "Level", "Message"],
            empty: "This device has sent no line.")
        for line in lines.reversed() {
            table.add(
                request.time(line.receivedAt),
                .tag(line.level, line.level == "error" ? "bad" : line.level == "warning" ? "warn" : "soft"),
                .text(request.shownText(line.message)))
        }
        let parts = [
            PagePart(table: table),
            PagePart(
                heading: "Debug upload",
                texts: ["Asks this device for its logs with its next sync; they appear on the page Debug."],
                form: EntryForm(
                    account.path + "/debug", [.hidden("device", device), .hidden("hours", "24")],
                    button: "Ask for a debug upload")),
            .links(PageLink(href: account.path + "/devices", linkText: "All devices")),
        ]
        return request.result("Device \(device)", of: account, tab: "/devices", parts: parts)
    }
}
