// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why the operating system refused something, in its own words: `Permission denied`, not the parts of an error.
package enum SystemReason {
    /// The words for an error number.
    package static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// The words for what Foundation throws; nil when no error number is in it.
    package static func text(_ error: any Error) -> String? {
        var next: (any Error)? = error
        while let current = next {
            if let system = current as? POSIXError { return text(system.code.rawValue) }
            next = (current as? CocoaError)?.underlying
        }
        return nil
    }

    /// The words for a file or folder that could not be read; asked of the system again.
    package static func ofReading(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return text(errno) }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) < 0 ? text(errno) : "it has just changed"
    }
}
