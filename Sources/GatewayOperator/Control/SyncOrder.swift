// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import GatewayConfiguration
import Host
import Primitives

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
            ? (switched == nil ? "nothing has changed" : "no brand has changed")
            : "\(written ?? 0) written, \(removed ?? 0) removed"
        let lines = (rejected ?? [:]).sorted { $0.key < $1.key }.map {
            "left out: \(TerminalText.visible($0.key)): \($0.value)\n"
        }
        return "\(kind): \(change); \(numbers ?? 0) numbers in use; \(Self.seconds(seconds ?? 0)) s\n" + lines.joined()
            + gateLines
    }

    /// The gates that the sync has switched, and those that are closed, a line each.
    private var gateLines: String {
        let opened = (switched ?? []).filter(\.open).map { "gate \($0.gate): opened by this sync\n" }
        let closings = Set((switched ?? []).filter { !$0.open }.map(\.gate))
        let shut = (closed ?? []).map { gate in
            let event = closings.contains(gate.gate) ? "closed by this sync" : "closed"
            let reason = gate.reason.map { ": \(TerminalText.visible($0))" } ?? ""
            return "gate \(gate.gate): \(event)\(reason)\n"
        }
        let effect =
            shut.isEmpty ? "calls get brands again\n" : "calls pass without a brand until every gate is open\n"
        return (opened + shut).joined() + (opened.isEmpty && shut.isEmpty ? "" : effect)
    }

    /// The result for `--json`.
    var json: [String: JSONValue?] {
        [
            "result": .string(result.rawValue), "full": JSONValue(isFull), "written": JSONValue(written),
            "removed": JSONValue(removed), "numbers": JSONValue(numbers),
            "left_out": rejected.map { .object($0.mapValues(JSONValue.int)) },
            "closed_gates": closed.map { .array($0.map(\.json)) },
            "switched_gates": switched.map { .array($0.map(\.json)) },
            "seconds": seconds.map { .double(($0 * 10).rounded() / 10) }, "error": JSONValue(error),
        ]
    }

    private static func seconds(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension ControlledSync.Gate {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["gate": .string(gate), "open": .bool(open)]
        if let reason { members["reason"] = .string(reason) }
        return .object(members)
    }
}
