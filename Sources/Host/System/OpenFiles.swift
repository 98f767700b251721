// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The limit of open files and sockets of the process, with the number that it may need.
///
/// Shells and systemd start programs with a soft limit of 1,024. A program may raise it up to the hard limit
/// (systemd.exec(5), LimitNOFILE=).
public struct OpenFiles: Hashable, Sendable {
    /// Descriptors that connections of clients and peers may need.
    public let connections: Int
    /// The limit of all descriptors.
    public let allowed: Int

    /// Connections that the HTTP ports may need.
    public let http: Int

    /// Descriptors beside those connections: databases, logs, sockets of its own, HTTP ports.
    static let others = 1024
    /// Descriptors without which no program works: libraries end a process that gets none.
    static let least = 200

    public init(connections: Int, http: Int = 0, allowed: Int) {
        (self.connections, self.http, self.allowed) = (connections, http, allowed)
    }

    /// Raises the limit of this process to its need, at most to the hard limit.
    ///
    /// Never lowers it.
    ///
    /// - Parameters:
    ///   - connections: of SIP peers, or of the clients of a directory.
    ///   - http: connections of the HTTP ports beside these.
    public static func allow(connections: Int, http: Int = 0) -> OpenFiles {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else {
            return OpenFiles(connections: connections, http: http, allowed: .max)
        }
        let wanted = min(rlim_t(connections + others), limit.rlim_max)
        if wanted > limit.rlim_cur {
            let usual = limit.rlim_cur
            limit.rlim_cur = wanted
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = usual }
        }
        return OpenFiles(connections: connections, http: http, allowed: Int(clamping: limit.rlim_cur))
    }

    /// Connections that leave enough descriptors for the rest, at most the requested number.
    public var allowedConnections: Int {
        min(connections, max(allowed - Self.others, (allowed - min(http, allowed)) / 2))
    }

    /// Describes a limit that is too small for a start, for the operator; nil for a sufficient one.
    public var refusal: String? {
        guard allowed < Self.least else { return nil }
        return """
            the system allows \(allowed) open files, and a start needs at least \(Self.least); raise LimitNOFILE= of the unit, \
            or the limits of the shell (ulimit -Hn, ulimit -Sn)
            """
    }

    /// Describes a shortage for the operator; nil without one.
    public var shortage: String? {
        guard allowedConnections < connections else { return nil }
        return """
            only \(allowedConnections) of \(connections) connections are taken: the system allows \(allowed) open files, \
            \(connections + Self.others) are needed; raise LimitNOFILE= of the unit, or the hard limit (ulimit -Hn)
            """
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
