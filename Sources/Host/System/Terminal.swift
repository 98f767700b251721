// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The terminal behind an output of the process.
enum Terminal {
    /// The columns of a line; nil if the output is a file or a pipe, or a terminal that shows no escapes.
    static func columns(of descriptor: Int32) -> Int? {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        guard isatty(descriptor) == 1, !terminal.isEmpty, terminal != "dumb" else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
