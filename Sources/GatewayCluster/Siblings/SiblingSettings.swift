// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The addresses and keys of a cluster as one of its gateways sees them.
package struct SiblingSettings: Equatable, Sendable {
    package var keys: SiblingKeys
    /// The addresses that the siblings send from and receive on.
    package var siblings: [SocketAddress]

    package init(keys: SiblingKeys, siblings: [SocketAddress]) {
        self.keys = keys
        self.siblings = siblings
    }
}

/// The state of the exchange with one sibling.
package struct SiblingStanding: Hashable, Sendable {
    /// Whether a sibling takes part.
    package enum State: String, Hashable, Sendable {
        case reachable
        /// No response to a report of the last five seconds.
        case silent
        /// Its datagrams have a seal of another secret.
        case otherSecret = "other_secret"
    }

    package var address: String
    package var state: State
    /// The sibling's clock less this gateway's, in microseconds; nil before the first response.
    package var clockOffset: Int64?
    /// Updates that the sibling has not stored yet.
    package var waiting = 0
    package var counts = SiblingLink.Counts()
}

extension SiblingLink {
    /// The standing at a time.
    func standing(_ address: SocketAddress, at now: Now) -> SiblingStanding {
        func isRecent(_ time: Int64?) -> Bool { time.map { now.milliseconds - $0 < Self.silence } ?? false }
        let state: SiblingStanding.State =
            if isRecent(livedAt) { .reachable } else if isRecent(unverifiedAt) { .otherSecret } else { .silent }
        return SiblingStanding(
            address: address.endpointText, state: state, clockOffset: clockOffset, waiting: waiting, counts: counts)
    }
}

extension SocketAddress {
    /// `host:port`, IPv6 in brackets.
    package var endpointText: String {
        let host = ipAddress ?? ""
        return host.contains(":") ? "[\(host)]:\(port ?? 0)" : "\(host):\(port ?? 0)"
    }
}
