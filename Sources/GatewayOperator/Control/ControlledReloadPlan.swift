// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayConfiguration
import Primitives

/// The changes that a reload would make, for `herald reload --dry-run`.
struct ControlledReloadPlan: Hashable, Sendable, Codable {
    /// True if a reload would apply the file.
    var applies: Bool
    /// Why it would be refused; nil for a file that can be applied.
    var problem: String?
    /// In the order of the file.
    var changes: [Change]
    /// Settings that wait for a restart and have no value in the file.
    var waiting: [String] = []

    /// A setting that differs from the one in force.
    struct Change: Hashable, Sendable, Codable {
        /// Such as `trunks[carrier].region`.
        var path: String
        /// Nil where the file in force has none, and the default holds.
        var old: String?
        /// Nil where the file has none any more.
        var new: String?
        /// Elements that a list gets and loses; nil for none.
        var added: [String]?
        var removed: [String]?
        /// True if the setting names the same file, with another content.
        var isContent: Bool?
        /// True if the old value holds until the next start.
        var needsRestart = false

        enum CodingKeys: String, CodingKey {
            case path, old, new, added, removed
            case isContent = "other_content"
            case needsRestart = "restart"
        }
    }
}

extension ControlledReloadPlan {
    init(_ plan: ReloadPlan) {
        applies = plan.problem == nil
        problem = plan.problem
        changes = plan.changes.map { entry in
            let change = entry.change
            return Change(
                path: change.path, old: change.old, new: change.new,
                added: change.added.isEmpty ? nil : change.added,
                removed: change.removed.isEmpty ? nil : change.removed, isContent: change.isContent ? true : nil,
                needsRestart: entry.needsRestart)
        }
        waiting = plan.waiting
    }

    /// A setting a line, or three for long values, then the numbers of settings; escaped for a terminal.
    var text: String {
        guard !changes.isEmpty || !waiting.isEmpty else {
            return applies ? "nothing would change: the configuration in force is that of the file\n" : ""
        }
        let lines =
            changes.map(\.text) + waiting.map { "\(TerminalText.visible($0)): another value, needs a restart\n" }
        let restarts = changes.count(where: \.needsRestart) + waiting.count
        let live = changes.count - restarts + waiting.count
        let liveText = live == 1 ? "1 setting changes with a reload" : "\(live) settings change with a reload"
        let restartText = restarts == 1 ? "1 needs a restart" : "\(restarts) need a restart"
        return lines.joined() + "\(liveText), \(restartText); nothing was changed\n"
    }
}

extension ControlledReloadPlan.Change {
    /// Width of a terminal.
    private static let width = 80

    fileprivate var text: String {
        let path = TerminalText.visible(path)
        let end = needsRestart ? "  (needs a restart)" : ""
        if isContent == true { return "\(path): the file has another content\(end)\n" }
        if added != nil || removed != nil {
            let lines =
                (removed ?? []).map { "  - \(TerminalText.visible($0))\n" }
                + (added ?? []).map { "  + \(TerminalText.visible($0))\n" }
            return "\(path):\(end)\n" + lines.joined()
        }
        let (old, new) = (old.map(TerminalText.visible) ?? "not set", new.map(TerminalText.visible) ?? "not set")
        // Hidden parts, such as the query of a URL, and the order of a list.
        guard old != new else { return "\(path): another value\(end)\n" }
        let line = "\(path): \(old) → \(new)\(end)"
        guard TerminalText.width(line) > Self.width else { return line + "\n" }
        return "\(path):\(end)\n  - \(old)\n  + \(new)\n"
    }
}
