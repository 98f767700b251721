// SPDX-License-Identifier: Apache-2.0

/// The numbers of the status line in `systemctl status herald`.
struct StatusLine: Equatable, Sendable {
    var calls = 0
    var numbers = 0
    /// Nil where no directory is configured, or before the first sync.
    var syncAge: Int64?
    var isDraining = false

    /// The line; the age of the last sync is in minutes, so that an idle gateway sends few lines.
    var text: String {
        var parts = ["\(calls) \(calls == 1 ? "call" : "calls") in progress", "\(numbers) branded numbers"]
        if let syncAge { parts.append(syncAge < 60 ? "in sync" : "last sync \(syncAge / 60) min ago") }
        return (isDraining ? "draining: " : "") + parts.joined(separator: ", ")
    }
}
