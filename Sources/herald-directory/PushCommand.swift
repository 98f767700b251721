// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import ConfigurationFiles
import DirectoryServer
import DirectoryStore
import Host
import Primitives

/// `herald-directory push`: the phones and browsers that get push messages.
struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "List, confirm, invite, test and remove devices for push messages.",
        discussion: """
            Example:
              herald-directory push invite --number +61255501001
              herald-directory push list
            """,
        subcommands: [List.self, Show.self, Confirm.self, Invite.self, Test.self, Remove.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the devices for push messages.",
            discussion: """
                Example:
                  herald-directory push list --number +61255501001
                """)

        @OptionGroup var list: ListOptions

        @Option(parsing: .unconditional, help: "The most rows.")
        var limit = 1000

        @Option(
            help: ArgumentHelp("Only devices of this number.", valueName: "number"), transform: NumberArgument.read)
        var number: E164Number?

        @OptionGroup var options: AccountOptions

        func validate() throws { try PageLimit.check(limit) }

        func run() async throws {
            let (database, account) = try options.open()
            let devices = try await PushDevices(database, account: account).page(
                after: nil, limit: limit, number: number)
            let rows = devices.map(PushDeviceRow.init)
            if list.json { return try rows.forEach { try Output.write(json: $0) } }
            guard !rows.isEmpty else { return Output.write("no devices for push messages\n") }
            Output.write(
                table: ["DEVICE", "PLATFORM", "CONFIRMED", "WAITING", "VERSION", "CREATED"], list.form,
                whole: ["DEVICE", "PLATFORM"], wideOnly: ["VERSION", "CREATED"], rows.map(\.cells))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one device with its numbers and choices.",
            discussion: """
                Example:
                  herald-directory push show 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() async throws {
            let (database, account) = try options.open()
            let found = try await reportingPush {
                try await PushDevices(database, account: account).device(.id(device))
            }
            let row = PushDeviceRow(found)
            if result.json { return try Output.write(json: row) }
            Output.write(row.text)
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirm that the person of a device has its numbers; messages about them are sent from now on.",
            discussion: """
                Example:
                  herald-directory push confirm 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a --number +61255501001
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @Option(
            help: ArgumentHelp("Only this number; by default all of the device.", valueName: "number"),
            transform: NumberArgument.read)
        var number: E164Number?

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() async throws {
            let (database, account) = try options.open()
            let confirmed = try await reportingPush {
                try await PushDevices(database, account: account).confirm(device, number: number, now: secondsNow())
            }
            let numbers = confirmed.map(\.description)
            if result.json { return try Output.write(json: ["confirmed": numbers]) }
            Output.write(
                numbers.isEmpty
                    ? "no number of the device waits\n" : "\(numbers.joined(separator: ", ")) confirmed\n")
        }
    }

    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a one-time link with which a person's browser gets the messages of a number.",
            discussion: """
                Whoever opens the link first gets the messages, so send it to the person alone. It needs public_url and
                push.web in the configuration.

                Example:
                  herald-directory push invite --number +61255501001
                """)

        @Option(
            help: ArgumentHelp("The number of the called person.", valueName: "number"), transform: NumberArgument.read)
        var number: E164Number

        @Option(help: ArgumentHelp("Days for which the link is valid, 1 to 30.", valueName: "days"))
        var days = 7

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func validate() throws {
            guard (1...30).contains(days) else { throw ValidationError("--days must be 1 to 30") }
        }

        func run() async throws {
            guard let file = try options.state.configuration(), let url = file.publicURL, file.push?.web != nil else {
                throw CommandFailure("a link needs public_url and push.web in the configuration; see docs/push.md")
            }
            let (database, account) = try options.open()
            let now = secondsNow()
            let secret = try await reportingPush {
                try await PushInvitations(database).invite(
                    number, of: account, expires: now + Int64(days) * 86_400, now: now)
            }
            // A fragment is in no log of a server or proxy (RFC 9110 §4.2.5).
            let link = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/push#" + secret
            if result.json { return try Output.write(json: ["link": link, "number_e164": "\(number)"]) }
            Output.write("\(link)\n")
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test message to a device, and print the result of its push service.",
            discussion: """
                Example:
                  herald-directory push test 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: AccountOptions

        func run() async throws {
            guard let file = try options.state.configuration(), let push = file.push else {
                throw CommandFailure("the configuration has no push:; name the file with --config")
            }
            let (database, account) = try options.open()
            let found = try await reportingPush {
                try await PushDevices(database, account: account).device(.id(device))
            }
            var gateway = try push.gateway()
            gateway.linkScheme = { file.clients.linkScheme }
            let outcome = await PushTest(gateway: gateway, publicURL: file.publicURL).send(
                to: found, now: secondsNow()
            ).outcome
            await gateway.stop()
            let text = TerminalText.visible(outcome.description)
            guard case .delivered = outcome else { throw CommandFailure("the test message was not taken: \(text)") }
            if result.json { return try Output.write(json: ["result": "delivered"]) }
            Output.write("the push service has the test message\n")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device and its messages.",
            discussion: """
                Example:
                  herald-directory push remove 3f2b8c1e-7d4a-4c55-9e0b-6a1d2f3c4b5a
                """)

        @Argument(help: ArgumentHelp("The device's id.", valueName: "id"))
        var device: String

        @OptionGroup var options: AccountOptions

        func run() async throws {
            let (database, account) = try options.open()
            try await reportingPush { try await PushDevices(database, account: account).remove(.id(device)) }
            Output.write("the device is removed\n")
        }
    }
}

/// Runs `body`, and turns a refusal of a push registration into a `CommandFailure` of one line.
private func reportingPush<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch PushError.unknownDevice {
        throw CommandFailure("there is no such device for push messages; see herald-directory push list")
    } catch PushError.tooManyInvitations {
        throw CommandFailure("the account has too many open invitations; wait until some have expired")
    }
}
