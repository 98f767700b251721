// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many files and sockets the process may have open, next to how many it can come to need.
///
/// Shells and systemd start a program with 1,024, for old programs that cannot count further, and leave it to the program
/// to take more, up to the hard limit (systemd.exec(5), LimitNOFILE=).
package struct OpenFiles: Hashable, Sendable {
    /// What connections of clients and peers can need.
    package let connections: Int
    /// What the process may have open in all.
    package let allowed: Int

    /// What a program needs besides connections of its clients and peers: databases, logs, sockets of its own.
    static let others = 1024

    package init(connections: Int, allowed: Int) {
        self.connections = connections
        self.allowed = allowed
    }

    /// Raises the limit of this process to what it can need, as far as the hard limit goes; never lowers it.
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

    /// Connections that leave room for everything else, at most as many as were asked for.
    package var connectionsWithRoom: Int { min(connections, max(allowed - Self.others, allowed / 2)) }

    /// What an operator should know; nil when there is room for all.
    package var shortage: String? {
        guard connectionsWithRoom < connections else { return nil }
        return """
            only \(connectionsWithRoom) of \(connections) connections are taken: the system allows \(allowed) open files, \
            \(connections + Self.others) are needed; raise LimitNOFILE= of the unit, or the hard limit (ulimit -Hn)
            """
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
