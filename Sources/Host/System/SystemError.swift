// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Texts of the operating system's errors: `Permission denied`, not the parts of an error value.
public enum SystemError {
    /// Returns the text of an error number.
    public static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// Returns the text of an error of Foundation; nil if it has no error number.
    public static func text(_ error: any Error) -> String? { code(of: error).map { text($0) } }

    /// Returns the error number of an error of Foundation; nil without one.
    public static func code(of error: any Error) -> Int32? {
        var next: (any Error)? = error
        while let current = next {
            if let system = current as? POSIXError { return system.code.rawValue }
            next = (current as? CocoaError)?.underlying
        }
        return nil
    }

    /// Returns the text for an unreadable file or folder, by another try to read it.
    public static func ofReading(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return text(errno) }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) < 0 ? text(errno) : changed
    }

    /// Returns the text for a file that cannot be used, with cause and remedy.
    ///
    /// - Parameter wanted: the content that the file should have, such as `a PEM certificate`.
    public static func ofUsing(_ path: String, as wanted: String) -> String {
        let reason = ofReading(path)
        let cause = reason == changed ? "it is not \(wanted)" : reason
        return "\(path) cannot be used: \(cause); name a readable file with \(wanted)"
    }

    /// The text of `ofReading` for a file that can be read now.
    public static let changed = "it has just changed"
}
