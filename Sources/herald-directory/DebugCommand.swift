// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import DirectoryStore
import Host
import Primitives

/// `herald-directory debug`: requests for the logs of gateways and phones, and the received logs.
struct DebugCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug", abstract: "List devices, read their logs, and request debug uploads.",
        discussion: """
            Example:
              herald-directory debug request --hours 48
              herald-directory debug list
            """,
        subcommands: [Request.self, Withdraw.self, List.self, Devices.self, DeviceLines.self])

    struct Request: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Request an upload of a device, or without --device of every device, with its next sync.",
            discussion: """
                Example:
                  herald-directory debug request --device 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a --hours 48
                """)

        @OptionGroup var options: AccountOptions

        @Option(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String?

        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("How long the request stays open, 1 to 168.", valueName: "hours"))
        var hours = 24

        func validate() throws {
            guard (1...168).contains(hours) else { throw ValidationError("--hours must be 1 to 168") }
        }

        func run() throws {
            let (database, account) = try options.open()
            let now = secondsNow()
            try DebugRequests(database, account: account)
                .request(device: device, expires: now + Int64(hours) * 3600, now: now)
            let whom = device.map { "device \(TerminalText.visible($0))" } ?? "every device"
            Output.write("\(whom) is asked until \(Timestamp.string(from: now + Int64(hours) * 3600))\n")
        }
    }

    struct Withdraw: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Withdraw a request.",
            discussion: """
                Example:
                  herald-directory debug withdraw
                """)

        @OptionGroup var options: AccountOptions

        @Option(help: ArgumentHelp("The device's id; without it the request for every device.", valueName: "id"))
        var device: String?

        func run() throws {
            let (database, account) = try options.open()
            guard try DebugRequests(database, account: account).withdraw(device: device) else {
                throw CommandFailure("no such request is open\(device == nil ? "; name its --device" : "")")
            }
            Output.write("withdrawn\n")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the latest uploads, or show the newest of a device.",
            discussion: """
                Logs longer than 200,000 characters are a file of their own, kept for 30 days. --show writes them after
                the line of JSON; for an archive it writes the path.

                Example:
                  herald-directory debug list --show 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a
                """)

        @OptionGroup var options: AccountOptions

        @Option(help: ArgumentHelp("Show the newest upload of this device.", valueName: "id"))
        var show: String?

        func run() throws {
            let (database, account) = try options.open()
            let stored = DebugUploads(database, account: account)
            if let show {
                guard let upload = try stored.newest(of: show) else {
                    throw CommandFailure("there is no upload of that device; see herald-directory debug list")
                }
                try Output.write(json: upload)
                guard let file = upload.logsUploadID else { return }
                return try Self.write(reportingRefusals { try UploadedLogs(file, of: account, in: database) })
            }
            let uploads = try stored.latest(limit: 1000)
            guard !uploads.isEmpty else { return Output.write("no uploads\n") }
            Output.write(
                table: ["RECEIVED", "DEVICE", "ID"],
                uploads.map { [Timestamp.string(from: $0.received), $0.device, $0.id] })
        }

        /// Writes logs piece by piece, in constant memory.
        private static func write(_ logs: UploadedLogs) throws {
            guard logs.isText else { return Output.write("the logs are \(logs.type): \(logs.path)\n") }
            var (text, offset) = (TerminalStream(), 0)
            while case let piece = try logs.read(at: offset), !piece.isEmpty {
                Output.write(text.next(piece))
                offset += piece.count
            }
            Output.write(text.end())
        }
    }
}
