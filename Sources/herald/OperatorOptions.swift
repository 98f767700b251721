// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import ConfigurationFiles
import Foundation

/// What every operator's command takes.
struct OperatorOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    @Flag(help: "One JSON object a line instead of text.")
    var json = false

    /// The configuration without its secrets, which an operator may not be allowed to read.
    func configuration() throws -> HeraldConfiguration {
        try CommandFailure.reported { try HeraldConfiguration.load(path: config, secrets: .ignored) }
    }
}

extension OperatorOptions {
    /// The gateway's state folder, for commands that need nothing else.
    func stateFolder() throws -> String { try configuration().state }
}

/// Where the results of a command go.
enum Output {
    /// Writes to standard output; a reader that went away ends the command, as SIGPIPE would.
    static func write(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            exit(1)
        }
    }

    /// Writes one JSON object and a line end; keys in alphabetical order, unknown values left out.
    static func write(json members: [String: JSONValue?]) throws { write(try line(json: members)) }

    /// The same as text.
    static func line(json members: [String: JSONValue?]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let object = JSONValue.object(members.compactMapValues { $0 })
        return String(decoding: try encoder.encode(object), as: UTF8.self) + "\n"
    }
}

extension JSONValue {
    init?(_ text: String?) {
        guard let text else { return nil }
        self = .string(text)
    }

    init?(_ number: Int?) {
        guard let number else { return nil }
        self = .int(number)
    }

    init?(_ flag: Bool?) {
        guard let flag else { return nil }
        self = .bool(flag)
    }

    /// Microseconds since 1970 as ISO 8601 with milliseconds.
    init?(microseconds: Int64?) {
        guard let microseconds else { return nil }
        let milliseconds = String(microseconds / 1000 % 1000)
        let fraction = String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
        self = .string(Timestamp.string(from: microseconds / 1_000_000).dropLast() + "." + fraction + "Z")
    }

    /// Seconds since 1970 as ISO 8601.
    init?(seconds: Int64?) {
        guard let seconds else { return nil }
        self = .string(Timestamp.string(from: seconds))
    }
}
