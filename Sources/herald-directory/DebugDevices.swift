// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import DirectoryStore
import Host

extension DebugCommand {
    /// `herald-directory debug devices`.
    struct Devices: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "devices", abstract: "List the gateways and phones of an account.",
            discussion: """
                Example:
                  herald-directory debug devices --account acme
                """)

        @OptionGroup var options: AccountOptions

        @Flag(help: "One JSON object per line, with all fields of a device.")
        var json = false

        /// Rows in memory at once.
        private static let pageSize = 1000

        func run() throws {
            let (database, account) = try options.open()
            let list = DeviceList(database, account: account)
            var devices = try list.page(after: nil, limit: Self.pageSize)
            guard !devices.isEmpty else { return Output.write("no devices\n") }
            while !devices.isEmpty {
                try write(devices)
                devices = try list.page(after: devices.last?.deviceID, limit: Self.pageSize)
            }
        }

        private func write(_ devices: [DeviceList.DeviceRow]) throws {
            if json { return try devices.forEach { try Output.write(json: $0) } }
            let rows = devices.map { device in
                [
                    device.deviceID, device.platform, device.deviceType, device.osVersion, device.sdkVersion,
                    device.customerName, device.customerAccountNumber, device.lastSeen, String(device.logLines),
                ]
            }
            Output.write(
                table: ["DEVICE", "PLATFORM", "TYPE", "OS", "SDK", "CUSTOMER", "NUMBER", "SEEN", "LOG"], rows)
        }
    }

    /// `herald-directory debug log`.
    struct DeviceLines: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log", abstract: "Show the latest lines of a device's log, the newest last.",
            discussion: """
                The directory keeps the latest 50 lines of each device.

                Example:
                  herald-directory debug log 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @OptionGroup var options: AccountOptions

        @Flag(help: "One JSON object per line.")
        var json = false

        func run() throws {
            let (database, account) = try options.open()
            guard let lines = try DeviceLog(database, account: account).lines(of: device) else {
                throw CommandFailure("there is no such device; see herald-directory debug devices")
            }
            if json { return try lines.forEach { try Output.write(json: $0) } }
            guard !lines.isEmpty else { return Output.write("no lines\n") }
            let rows = try lines.map { line in
                [line.receivedAt, line.level, line.message, try line.meta.map(Output.text)]
            }
            Output.write(table: ["RECEIVED", "LEVEL", "MESSAGE", "META"], rows)
        }
    }
}
