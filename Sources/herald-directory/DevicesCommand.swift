// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import DirectoryStore
import Host

/// `herald-directory devices`: the gateways and phones of an account.
struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the gateways and phones of an account, or show the log of one.",
        discussion: """
            Example:
              herald-directory devices --account acme
            """,
        subcommands: [List.self, Show.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the gateways and phones of an account.",
            discussion: """
                Example:
                  herald-directory devices list --account acme
                """)

        @OptionGroup var list: ListOptions

        @OptionGroup var options: AccountOptions

        /// Rows in memory at once.
        private static let pageSize = 1000

        func run() throws {
            let (database, account) = try options.open()
            let stored = DeviceList(database, account: account)
            var devices = try stored.page(after: nil, limit: Self.pageSize)
            guard list.json || !devices.isEmpty else { return Output.write("no devices\n") }
            while !devices.isEmpty {
                try write(devices)
                devices = try stored.page(after: devices.last?.deviceID, limit: Self.pageSize)
            }
        }

        private func write(_ devices: [DeviceList.DeviceRow]) throws {
            if list.json { return try devices.forEach { try Output.write(json: $0) } }
            let rows = devices.map { device in
                [
                    device.deviceID, device.platform, device.deviceType, device.osVersion, device.sdkVersion,
                    device.customerName, device.customerAccountNumber, device.lastSeen, String(device.logLines),
                ]
            }
            Output.write(
                table: ["DEVICE", "PLATFORM", "TYPE", "OS", "SDK", "CUSTOMER", "NUMBER", "SEEN", "LOG"], list.form,
                whole: ["DEVICE"], wideOnly: ["TYPE", "OS", "SDK", "CUSTOMER", "NUMBER"], rows)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the latest lines of a device's log, the newest last.",
            discussion: """
                The directory keeps the latest 50 lines of each device.

                Example:
                  herald-directory devices show 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a --wide
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @OptionGroup var list: ListOptions

        @OptionGroup var options: AccountOptions

        func run() throws {
            let (database, account) = try options.open()
            guard let lines = try DeviceLog(database, account: account).lines(of: device) else {
                throw CommandFailure("there is no such device; see herald-directory devices")
            }
            if list.json { return try lines.forEach { try Output.write(json: $0) } }
            guard !lines.isEmpty else { return Output.write("no lines\n") }
            let rows = try lines.map { line in
                [line.receivedAt, line.level, line.message, try line.meta.map(Output.text)]
            }
            Output.write(
                table: ["RECEIVED", "LEVEL", "MESSAGE", "META"], list.form, whole: ["RECEIVED", "LEVEL"],
                wideOnly: ["META"], rows)
        }
    }
}
