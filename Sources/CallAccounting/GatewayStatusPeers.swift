// SPDX-License-Identifier: Apache-2.0

extension GatewayStatus {
    /// A sentence about listening addresses that are not here, such as `standby: 192.0.2.10 is at another machine`; nil normally.
    package var standbyText: String? {
        guard let standby, !standby.isEmpty else { return nil }
        let hosts = Set(standby.map(Self.host)).sorted()
        let names = hosts.joined(separator: " and ")
        guard !siblings.isEmpty else { return "standby: this machine does not have \(names)" }
        return "standby: \(names) \(hosts.count == 1 ? "is" : "are") at another machine"
    }

    /// The address without its port.
    package static func host(_ address: String) -> String {
        String(address.prefix(upTo: address.lastIndex(of: ":") ?? address.endIndex))
    }

    /// True if the machine has no address to receive calls at, and waits for one to arrive.
    ///
    /// It is as fit for calls as any gateway: whoever moves the address must not take it for a failed one.
    package var isStandby: Bool { !listening.isEmpty && Set(listening) == Set(standby ?? []) }

    /// A trunk, as the status page shows it.
    package struct Trunk: Hashable, Sendable, Codable {
        package var name: String
        /// The PBX its calls go to.
        package var pbx: String
        /// Calls in progress.
        package var calls: Int

        package init(name: String, pbx: String, calls: Int) {
            self.name = name
            self.pbx = pbx
            self.calls = calls
        }
    }

    /// The customers of the gateway and their brands.
    package struct Customers: Hashable, Sendable, Codable {
        package var count: Int
        /// Directory accounts; several customers may have one.
        package var accounts: Int
        /// Sets of brands in memory; accounts with the same brands share one.
        package var brandSets: Int
        /// Of these sets, in bytes.
        package var memory: Int
        /// Customers with a closed gate or a failed sync; nil from an earlier program.
        package var troubled: Int?

        package init(count: Int, accounts: Int, brandSets: Int, memory: Int, troubled: Int = 0) {
            self.count = count
            self.accounts = accounts
            self.brandSets = brandSets
            self.memory = memory
            self.troubled = troubled
        }

        /// The number of customers with a problem as a sentence without its end; nil without a problem.
        package var trouble: String? {
            guard let troubled, troubled > 0 else { return nil }
            return "\(troubled) of \(count) customers \(troubled == 1 ? "has a problem" : "have problems")"
        }

        package enum CodingKeys: String, CodingKey {
            case count, accounts, memory, troubled
            case brandSets = "brand_sets"
        }
    }

    /// A target of calls, as the status page shows it.
    package struct Target: Hashable, Sendable, Codable {
        /// `trunk carrier` or `pbx office`.
        package var group: String
        package var address: String
        /// `up`, `failing` where it still gets calls though its last one failed, `down`, `resting` after a 503 with
        /// Retry-After, `disabled` by the operator, or `standby` while the address it is reached from is at another machine.
        package var state: String
        /// Whether calls are sent there at this moment; a target that is down is tried again now and then.
        package var takesCalls: Bool
        /// When the state began; nil for one that has been up since the start.
        package var since: Int64?
        /// The last failure since its last response; nil for none.
        package var cause: String?
        /// When it last responded to a call or an OPTIONS; nil for never.
        package var lastResponse: Int64?
        /// Calls in progress that were sent there.
        package var calls: Int
        /// Calls sent there since the start, with those that went on to another target.
        package var callsSent: UInt64

        package init(
            group: String, address: String, state: String, takesCalls: Bool, since: Int64? = nil,
            cause: String? = nil, lastResponse: Int64? = nil, calls: Int = 0, callsSent: UInt64 = 0
        ) {
            self.group = group
            self.address = address
            self.state = state
            self.takesCalls = takesCalls
            self.since = since
            self.cause = cause
            self.lastResponse = lastResponse
            self.calls = calls
            self.callsSent = callsSent
        }

        /// True if it gets calls as usual; a target that is down and due for a trial call is not in use.
        package var isInUse: Bool { takesCalls && (state == "up" || state == "failing") }

        /// Such as `pbx office 192.0.2.20:5060 is failing: a call got 503`.
        package var sentence: String { "\(group) \(address) is \(state)" + (cause.map { ": \($0)" } ?? "") }

        package enum CodingKeys: String, CodingKey {
            case group, address, state, since, cause, calls
            case takesCalls = "takes_calls"
            case lastResponse = "last_response"
            case callsSent = "calls_sent"
        }
    }

    /// Another gateway of the cluster.
    package struct Sibling: Hashable, Sendable, Codable {
        /// Its address for reports.
        package var address: String
        /// `reachable`, `silent`, or `other_secret`.
        package var state: String
        /// Its clock less this gateway's, in seconds; nil before its first datagram.
        package var clockOffset: Double?
        /// True if the clocks differ by a second or more; NTP keeps them within milliseconds.
        package var hasOtherTime: Bool { abs(clockOffset ?? 0) >= 1 }
        /// Call updates that it has not stored yet.
        package var waiting: Int
        /// Call updates that were dropped because it was away for too long.
        package var dropped: UInt64

        package init(address: String, state: String, clockOffset: Double?, waiting: Int, dropped: UInt64) {
            self.address = address
            self.state = state
            self.clockOffset = clockOffset
            self.waiting = waiting
            self.dropped = dropped
        }

        package enum CodingKeys: String, CodingKey {
            case address, state
            case clockOffset = "clock_offset"
            case waiting, dropped
        }
    }

    /// A sender whose messages were rejected or dropped.
    package struct Rejected: Hashable, Sendable, Codable {
        package var address: String
        package var transport: String
        /// `trunk carrier` or `pbx office`; nil for an unknown sender.
        package var peer: String?
        /// The method of the last message, with unprintable bytes as escapes.
        package var method: String
        /// The status of Herald's response; nil for a dropped message.
        package var status: Int?
        package var cause: String
        package var count: UInt64
        package var first: Int64
        package var last: Int64

        package init(
            address: String, transport: String, peer: String?, method: String, status: Int?, cause: String,
            count: UInt64, first: Int64, last: Int64
        ) {
            self.address = address
            self.transport = transport
            self.peer = peer
            self.method = method
            self.status = status
            self.cause = cause
            self.count = count
            self.first = first
            self.last = last
        }
    }

    /// Unknown peers whose INVITEs were rejected or dropped in the last ten minutes, such as a carrier with a new address.
    package struct UnknownCallers: Hashable, Sendable, Codable {
        /// An address and its INVITEs.
        package struct Caller: Hashable, Sendable, Codable {
            /// Without a port.
            package var address: String
            package var invites: UInt64
            package var last: Int64
            package var cause: String
            /// The line of `herald.yaml` that admits the address; nil if sources list it already.
            package var line: String?

            package init(address: String, invites: UInt64, last: Int64, cause: String, line: String?) {
                (self.address, self.invites, self.last) = (address, invites, last)
                (self.cause, self.line) = (cause, line)
            }

            /// Cause and remedy in two sentences, without numbers that change.
            package var advice: String {
                let remedy =
                    line.map { "If it is your carrier, add it to its trunk in herald.yaml, then reload: \($0)" }
                    ?? "List the address without a port, or compare certificate_names of the trunk"
                return "\(cause). \(remedy)"
            }
        }

        package var invites: UInt64
        package var addresses: Int
        /// True if more addresses than `addresses` sent INVITEs.
        package var isMore: Bool
        /// Those that came most often first; at most five.
        package var callers: [Caller]

        package init(invites: UInt64, addresses: Int, isMore: Bool, callers: [Caller]) {
            (self.invites, self.addresses, self.isMore, self.callers) = (invites, addresses, isMore, callers)
        }

        /// Numbers, cause and remedy, for a terminal.
        package var sentence: String {
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

        package enum CodingKeys: String, CodingKey {
            case invites, addresses, callers
            case isMore = "more"
        }
    }
}
