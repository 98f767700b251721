// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import DirectoryStore
import Host
import Primitives

/// `herald-directory uploads`: debug uploads of gateways and phones, and requests for them.
struct UploadsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uploads", abstract: "List and show debug uploads of devices, and request them.",
        discussion: """
            Example:
              herald-directory uploads request --hours 48
              herald-directory uploads
            """,
        subcommands: [List.self, Show.self, Request.self, Withdraw.self], defaultSubcommand: List.self)

    struct Request: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Request an upload of a device, or without --device of every device, with its next sync.",
            discussion: """
                Example:
                  herald-directory uploads request --device 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a --hours 48
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
                  herald-directory uploads withdraw
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
            abstract: "List the latest 1000 uploads.",
            discussion: """
                Example:
                  herald-directory uploads list
                """)

        @OptionGroup var list: ListOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            let uploads = try DebugUploads(database, account: account).latest(limit: 1000)
            if list.json { return try uploads.forEach { try Output.write(json: $0) } }
            guard !uploads.isEmpty else { return Output.write("no uploads\n") }
            Output.write(
                table: ["RECEIVED", "DEVICE", "ID"], list.form, whole: ["DEVICE"], wideOnly: ["ID"],
                uploads.map { [Timestamp.string(from: $0.received), $0.device, $0.id] })
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the newest upload of a device with its logs.",
            discussion: """
                Logs longer than 200,000 characters are a file of their own, kept for 30 days. They follow the facts of the
                upload; for an archive the path follows. --json has short logs alone.

                Example:
                  herald-directory uploads show 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            guard let upload = try DebugUploads(database, account: account).newest(of: device) else {
                throw CommandFailure("there is no upload of that device; see herald-directory uploads list")
            }
            if result.json { return try Output.write(json: upload) }
            Output.write(facts: [
                ("received", Timestamp.string(from: upload.received)), ("device", upload.device), ("id", upload.id),
                ("state", try upload.state.map(Output.text) ?? "none"),
            ])
            if let logs = upload.logs { Output.write("\n" + TerminalText.visibleLines(logs) + "\n") }
            guard let file = upload.logsUploadID else { return }
            try Self.write(reportingRefusals { try UploadedLogs(file, of: account, in: database) })
        }

        /// Writes logs piece by piece, in constant memory.
        private static func write(_ logs: UploadedLogs) throws {
            Output.write("\n")
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
