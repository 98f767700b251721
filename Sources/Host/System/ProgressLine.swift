// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// One line on a terminal that shows how far a long command is; silent elsewhere.
///
/// It writes to standard error, at most ten times a second, and never past the width of the terminal, where a line could
/// not be overwritten. `end` clears it. Ctrl-C leaves it as it is, and the shell goes on in the next line. Any thread.
public final class ProgressLine: Sendable {
    private struct State {
        var isShown = false
        var lastAt: UInt64 = 0
    }

    /// The line of standard error; silent if that is no terminal, or one without cursor control.
    public static let standard = ProgressLine(
        width: { Terminal.columns(of: STDERR_FILENO) },
        now: { DispatchTime.now().uptimeNanoseconds / 1_000_000 },
        write: { FileHandle.standardError.write(Data($0.utf8)) })

    private static let interval: UInt64 = 100

    private let width: @Sendable () -> Int?
    private let now: @Sendable () -> UInt64
    private let write: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: columns of the terminal; nil without one.
    ///   - now: milliseconds of a monotonic clock.
    public init(
        width: @escaping @Sendable () -> Int?, now: @escaping @Sendable () -> UInt64,
        write: @escaping @Sendable (String) -> Void
    ) {
        (self.width, self.now, self.write) = (width, now, write)
    }

    /// Shows a text of ASCII in place of the last one.
    public func show(_ text: @autoclosure () -> String) {
        guard let width = width(), isDue() else { return }
        write("\r" + String(text().prefix(max(1, width - 1))) + "\u{1B}[K")
    }

    /// Shows a bar with a share of the work.
    ///
    /// - Parameters:
    ///   - done: units that are done; more than `total` counts as all.
    ///   - total: all units; 0 if that is not known, which shows no bar.
    ///   - unit: the plural of the unit, such as `lines`.
    public func show(_ title: String, done: Int, of total: Int, unit: String) {
        guard let width = width(), isDue() else { return }
        write("\r" + Self.bar(title, done: done, of: total, unit: unit, width: width - 1) + "\u{1B}[K")
    }

    /// Clears the line; a later text begins a new one.
    public func end() {
        let isShown = state.withLock { state in
            defer { state = State() }
            return state.isShown
        }
        if isShown { write("\r\u{1B}[K") }
    }

    static func bar(_ title: String, done: Int, of total: Int, unit: String, width: Int) -> String {
        guard total > 0 else { return String("\(title): \(done) \(unit)".prefix(max(1, width))) }
        let done = min(done, total)
        let percent = String(done * 100 / total)
        let text =
            "\(title) " + String(repeating: " ", count: 3 - percent.count) + "\(percent) %  \(done) of \(total) \(unit)"
        let cells = min(40, width - text.utf8.count - 4)
        guard cells >= 8 else { return String(text.prefix(max(1, width))) }
        let full = cells * done / total
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: cells - full)
        return "\(text)  [\(bar)]"
    }

    private func isDue() -> Bool {
        let now = now()
        return state.withLock { state in
            guard !state.isShown || now >= state.lastAt + Self.interval else { return false }
            (state.isShown, state.lastAt) = (true, now)
            return true
        }
    }
}
