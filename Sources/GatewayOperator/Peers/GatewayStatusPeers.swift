// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// A sentence about listening addresses that are not here, such as `standby: 192.0.2.10 is at another machine`; nil normally.
    var standbyText: String? {
        guard let standby, !standby.isEmpty else { return nil }
        let hosts = Set(standby.map(Self.host)).sorted()
        let names = hosts.joined(separator: " and ")
        guard !siblings.isEmpty else { return "standby: this machine does not have \(names)" }
        return "standby: \(names) \(hosts.count == 1 ? "is" : "are") at another machine"
    }

    /// The address without its port.
    static func host(_ address: String) -> String {
        String(address.prefix(upTo: address.lastIndex(of: ":") ?? address.endIndex))
    }

    /// True if the machine has no address to receive calls at, and waits for one to arrive.
    ///
    /// It is as fit for calls as any gateway: whoever moves the address must not take it for a failed one.
    var isStandby: Bool { !listening.isEmpty && Set(listening) == Set(standby ?? []) }

    /// A trunk, as the status page shows it.
    struct Trunk: Hashable, Sendable, Codable {
        var name: String
        /// The PBX its calls go to.
        var pbx: String
        /// Calls in progress.
        var calls: Int
    }

    /// A target of calls, as the status page shows it.
    struct Target: Hashable, Sendable, Codable {
        /// `trunk carrier` or `pbx office`.
        var group: String
        var address: String
        /// `up`, `failing`, `down`, `resting`, `disabled` or `standby`.
        ///
        /// A failing target still gets calls, though its last one failed. A resting one sent a 503 with Retry-After. The
        /// operator has disabled a target. For a standby one, the address that it is reached from is at another machine.
        var state: String
        /// Whether calls are sent there at this moment; a target that is down is tried again now and then.
        var takesCalls: Bool
        /// When the state began; nil for one that has been up since the start.
        var since: Int64?
        /// The last failure since its last response; nil for none.
        var cause: String?
        /// When it last responded to a call or an OPTIONS; nil for never.
        var lastResponse: Int64?
        /// Calls in progress that were sent there.
        var calls: Int = 0
        /// Calls sent there since the start, with those that went on to another target.
        var callsSent: UInt64 = 0

        /// True if it gets calls as usual; a target that is down and due for a trial call is not in use.
        var isInUse: Bool { takesCalls && (state == "up" || state == "failing") }

        /// Such as `pbx office 192.0.2.20:5060 is failing: a call got 503`.
        var sentence: String { "\(group) \(address) is \(state)" + (cause.map { ": \($0)" } ?? "") }

        enum CodingKeys: String, CodingKey {
            case group, address, state, since, cause, calls
            case takesCalls = "takes_calls"
            case lastResponse = "last_response"
            case callsSent = "calls_sent"
        }
    }

    /// Another gateway of the cluster.
    struct Sibling: Hashable, Sendable, Codable {
        /// Its address for reports.
        var address: String
        /// `reachable`, `silent`, or `other_secret`.
        var state: String
        /// Its clock less this gateway's, in seconds; nil before its first datagram.
        var clockOffset: Double?
        /// True if the clocks differ by a second or more; NTP keeps them within milliseconds.
        var hasOtherTime: Bool { abs(clockOffset ?? 0) >= 1 }
        /// Call updates that it has not stored yet.
        var waiting: Int
        /// Call updates that were dropped because it was away for too long.
        var dropped: UInt64

        enum CodingKeys: String, CodingKey {
            case address, state
            case clockOffset = "clock_offset"
            case waiting, dropped
        }
    }

    /// A sender whose messages were rejected or dropped.
    struct Rejected: Hashable, Sendable, Codable {
        var address: String
        var transport: String
        /// `trunk carrier` or `pbx office`; nil for an unknown sender.
        var peer: String?
        /// The method of the last message, with unprintable bytes as escapes.
        var method: String
        /// The status of Herald's response; nil for a dropped message.
        var status: Int?
        var cause: String
        var count: UInt64
        var first: Int64
        var last: Int64
    }

    /// Unknown peers whose INVITEs were rejected or dropped in the last ten minutes, such as a carrier with a new address.
    struct UnknownCallers: Hashable, Sendable, Codable {
        /// An address and its INVITEs.
        struct Caller: Hashable, Sendable, Codable {
            /// Without a port.
            var address: String
            var invites: UInt64
            var last: Int64
            var cause: String
            /// The line of `herald.yaml` that admits the address; nil if sources list it already.
            var line: String?

            /// Cause and remedy in two sentences, without numbers that change.
            var advice: String { "\(cause). \(remedy)" }

            /// One sentence without a full stop.
            var remedy: String {
                line.map { "If it is your carrier, add it to its trunk in herald.yaml, then reload: \($0)" }
                    ?? "List the address without a port, or compare certificate_names of the trunk"
            }
        }

        var invites: UInt64
        var addresses: Int
        /// True if more addresses than `addresses` sent INVITEs.
        var isMore: Bool
        /// Those that came most often first; at most five.
        var callers: [Caller]

        /// Numbers, cause and remedy, for a terminal.
        var sentence: String {
            let invites = "\(invites) INVITE\(invites == 1 ? "" : "s")"
            guard let first = callers.first, addresses > 1 || isMore else {
                return callers.first.map {
                    "\(invites) of the unknown peer \($0.address) rejected in the last ten minutes: \($0.advice)"
                } ?? "\(invites) of unknown peers rejected in the last ten minutes"
            }
            let count = isMore ? "more than \(addresses)" : "\(addresses)"
            return "\(invites) of \(count) unknown peers rejected in the last ten minutes, most often of "
                + "\(first.address): \(first.advice)"
        }

        enum CodingKeys: String, CodingKey {
            case invites, addresses, callers
            case isMore = "more"
        }
    }
}

extension GatewayStatus {
    /// Calls of trunks and PBXs that were rejected in the last ten minutes: one sentence for each peer and cause, the newest
    /// first.
    ///
    /// Such a call is in no ledger. Unknown peers are in `unknownCallers`.
    ///
    /// - Parameter now: seconds since 1970.
    func rejectedCalls(at now: Int64) -> [String] {
        var known: Set<String> = []
        return rejected.compactMap { sender in
            guard sender.method == "INVITE", let peer = sender.peer, let status = sender.status,
                (0...600).contains(now - sender.last), known.insert("\(peer) \(sender.cause)").inserted
            else { return nil }
            return "a call of \(peer) got \(status) \(AgeText.text(now - sender.last)) ago: \(sender.cause)"
        }
    }
}
