// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import GatewayAdmin
import HostSystem
import SafeText

/// `herald sync`: makes the running gateway sync with the directory.
package struct SyncOrder {
    private let folder: String

    /// - Parameter runtimeFolder: the folder of the control socket.
    package init(runtimeFolder: String) { folder = runtimeFolder }

    /// Waits for the sync and writes its result to standard output.
    ///
    /// - Parameter customer: the customer whose account is synced; nil for the section `directory`.
    /// - Throws: `CommandFailure` when no gateway runs or the sync fails.
    package func run(full: Bool, customer: String? = nil, asJSON: Bool) async throws {
        let progress = ProgressLine.standard
        let start = ContinuousClock.now
        let ticking = Task {
            while !Task.isCancelled {
                progress.show(
                    "syncing with the directory: \(AgeText.text(Int64((ContinuousClock.now - start) / .seconds(1))))")
                try? await Task.sleep(for: .milliseconds(200))
            }
            progress.end()
        }
        defer { ticking.cancel() }
        let sync = try await CommandFailure.reported {
            try await ControlClient(folder: folder).sync(full: full, customer: customer)
        }
        ticking.cancel()
        await ticking.value
        if asJSON { try Output.write(json: sync.json) }
        guard sync.result == .succeeded else {
            throw CommandFailure(TerminalText.visible(sync.error ?? "the sync failed"))
        }
        if !asJSON { Output.write(sync.text) }
    }
}

extension ControlledSync {
    /// The result in a few lines.
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

    /// The result for `--json`.
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
