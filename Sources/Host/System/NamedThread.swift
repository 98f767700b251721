// SPDX-License-Identifier: Apache-2.0

import CLinux

/// The name of a thread, as `top -H` and `ps -L` show it.
package enum NamedThread {
    /// Names the calling thread, which must not go back to a pool.
    ///
    /// - Parameter name: at most 15 bytes.
    package static func begin(_ name: String) { herald_name_thread(name) }
}
