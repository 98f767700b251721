// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import CallAccounting
import ConfigurationFiles
import GatewayAdmin

/// `herald sync --now`: makes the running gateway sync with the directory.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Make the running gateway sync with the directory at once, and print what came.",
        discussion: """
            Reaches the gateway through the control socket in gateway.runtime, as its user, a member of its group or \
            root. Ends with 0 after a good sync, and with 1 after a failed one, when one runs already, and where no \
            gateway runs. Interrupting the command does not interrupt the sync.

            Examples:
              herald sync --now
              herald sync --now --full --json
            """)

    @Flag(help: "Sync now; the gateway syncs by itself every directory.sync_interval.")
    var now = false

    @Flag(help: "Ask for the whole set instead of what has changed.")
    var full = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard now else { throw ValidationError("say --now to sync at once") }
    }

    func run() throws {
        let folder = try options.configuration().runtime
        let sync = try CommandFailure.reported { try ControlClient(folder: folder).sync(full: full) }
        if options.json { try Output.write(json: sync.json) }
        guard sync.result == .succeeded else {
            throw CommandFailure(TerminalText.visible(sync.error ?? "the sync failed"))
        }
        if !options.json { Output.write(sync.text) }
    }
}

extension ControlledSync {
    /// What came, in a few lines.
    var text: String {
        let kind = isFull == true ? "full sync" : "incremental sync"
        let change =
            (written ?? 0) + (removed ?? 0) == 0
            ? "nothing has changed" : "\(written ?? 0) written, \(removed ?? 0) removed"
        let lines = (rejected ?? [:]).sorted { $0.key < $1.key }.map {
            "left out: \(TerminalText.visible($0.key)): \($0.value)\n"
        }
        return "\(kind): \(change); \(numbers ?? 0) numbers in use; \(Self.seconds(seconds ?? 0)) s\n" + lines.joined()
    }

    /// The same as `--json` shows it.
    var json: [String: JSONValue?] {
        [
            "result": .string(result.rawValue), "full": JSONValue(isFull), "written": JSONValue(written),
            "removed": JSONValue(removed), "numbers": JSONValue(numbers),
            "left_out": rejected.map { .object($0.mapValues(JSONValue.int)) },
            "seconds": seconds.map { .double(($0 * 10).rounded() / 10) }, "error": JSONValue(error),
        ]
    }

    private static func seconds(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
