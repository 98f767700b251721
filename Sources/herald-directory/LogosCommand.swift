// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Foundation
import Host
import Primitives

/// `herald-directory logos`: the uploaded logos.
struct LogosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logos", abstract: "List, add and remove logos.",
        discussion: """
            Example:
              herald-directory logos add acme-256x256.png
              herald-directory brands set acme --logo acme-256x256.png
            """,
        subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upload a picture; the server serves it at /logos/NAME at once.",
            discussion: """
                PNG, JPEG, WebP, GIF, AVIF or HEIC of at most 5 MiB. It is kept as a PNG or JPEG of at most 1024 pixels \
                a side, upright and without metadata. NAME_thumb has a copy of at most 256 pixels.

                Example:
                  herald-directory logos add pictures/acme.webp --name acme-256x256.png
                """)

        @Argument(help: "The file.")
        var file: String

        @Option(help: "The name for logo_url; by default the name of the file, with the ending of its new format.")
        var name: String?

        @OptionGroup var result: ResultOptions

        @OptionGroup var options: StateOptions

        func run() async throws {
            guard let handle = FileHandle(forReadingAtPath: file),
                let data = try? handle.read(upToCount: LogoIntake.limit + 1)
            else {
                let cause = SystemError.ofReading(file)
                throw CommandFailure("\(file) cannot be read: \(cause == SystemError.changed ? "it is empty" : cause)")
            }
            let picture: LogoIntake.Kept
            do throws(LogoIntakeError) {
                picture = try await LogoIntake().kept(data)
            } catch {
                throw CommandFailure("\(file): \(error)")
            }
            let logos = LogoStore(try options.open(creates: true))
            let name = name ?? LogoRules.name(fromFile: file, type: picture.type)
            let logo = try reportingRefusals {
                try logos.add(picture.data, name: name, thumbnail: picture.thumbnail, now: secondsNow())
            }
            if result.json { return try Output.write(json: logo) }
            Output.write("\(TerminalText.visible(logo.name)) added: \(logo.type), \(logo.size) bytes\n")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List uploaded logos, without the files of the logo folder.",
            discussion: """
                Example:
                  herald-directory logos list
                """)

        @OptionGroup var list: ListOptions

        @OptionGroup var options: StateOptions

        func run() throws {
            let logos = try LogoStore(try options.open()).all()
            if list.json { return try logos.forEach { try Output.write(json: $0) } }
            guard !logos.isEmpty else { return Output.write("no logos\n") }
            Output.write(
                table: ["NAME", "TYPE", "BYTES", "CREATED"], list.form, whole: ["NAME"],
                logos.map { [$0.name, $0.type, "\($0.size)", $0.created] })
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an unused logo.",
            discussion: """
                Example:
                  herald-directory logos remove acme-256x256.png
                """)

        @Argument(help: "The logo's name.")
        var name: String

        @OptionGroup var options: StateOptions

        func run() throws {
            let logos = LogoStore(try options.open())
            try reportingRefusals { try logos.remove(name) }
            Output.write("\(TerminalText.visible(name)) is removed\n")
        }
    }
}
