// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The limit of open files and sockets of the process, with the number that it may need.
///
/// Shells and systemd start programs with a soft limit of 1,024. A program may raise it up to the hard limit
/// (systemd.exec(5), LimitNOFILE=).
package struct OpenFiles: Hashable, Sendable {
    /// Descriptors that connections of clients and peers may need.
    package let connections: Int
    /// The limit of all descriptors.
    package let allowed: Int

    /// Descriptors beside those connections: databases, logs, sockets of its own.
    static let others = 1024

    package init(connections: Int, allowed: Int) {
        self.connections = connections
        self.allowed = allowed
    }

    /// Raises the limit of this process to its need, at most to the hard limit.
    ///
    /// Never lowers it.
    package static func allow(connections: Int) -> OpenFiles {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return OpenFiles(connections: connections, allowed: .max) }
        let wanted = min(rlim_t(connections + others), limit.rlim_max)
        if wanted > limit.rlim_cur {
            let usual = limit.rlim_cur
            limit.rlim_cur = wanted
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = usual }
        }
        return OpenFiles(connections: connections, allowed: Int(clamping: limit.rlim_cur))
    }

    /// Connections that leave enough descriptors for the rest, at most the requested number.
    package var allowedConnections: Int { min(connections, max(allowed - Self.others, allowed / 2)) }

    /// Describes a shortage for the operator; nil without one.
    package var shortage: String? {
        guard allowedConnections < connections else { return nil }
        return """
            only \(allowedConnections) of \(connections) connections are taken: the system allows \(allowed) open files, \
            \(connections + Self.others) are needed; raise LimitNOFILE= of the unit, or the hard limit (ulimit -Hn)
            """
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
