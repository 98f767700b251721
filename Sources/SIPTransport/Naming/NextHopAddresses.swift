// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// What the address lookups of one answer brought so far.
struct NextHopAddresses {
    /// The smallest time of the records used.
    private(set) var secondsLeft: Int
    private var hops: Set<ResolvedHop> = []
    private var absences: [NextHopFailure] = []
    /// Lookups that may succeed another time.
    private(set) var failures: [NextHopFailure] = []

    init(secondsLeft: Int) { self.secondsLeft = secondsLeft }

    mutating func add(_ outcome: NameLookupOutcome, of target: NextHopTarget, type: NameRecordType) {
        switch outcome {
        case .success(let records):
            let usable = records.filter { add($0, of: target) }
            if usable.isEmpty { absences.append(NextHopFailure(name: target.host, type: type, reason: .malformed)) }
        case .failure(let reason):
            let failure = NextHopFailure(name: target.host, type: type, reason: reason)
            if reason.isAbsence { absences.append(failure) } else { failures.append(failure) }
        }
    }

    /// False when the record is no address to send to.
    private mutating func add(_ record: NameRecord, of target: NextHopTarget) -> Bool {
        guard case .address(let address) = record.content, address.isUsableNextHop else { return false }
        hops.insert(
            ResolvedHop(address: address.with(port: target.port), priority: target.priority, weight: target.weight))
        secondsLeft = min(secondsLeft, record.timeToLive)
        return true
    }

    /// The hops in the order that does not depend on the records'; nil when there are none.
    func ordered(limit: Int) -> [ResolvedHop]? {
        hops.isEmpty ? nil : Array(hops.sorted { $0.order < $1.order }.prefix(limit))
    }

    /// The failure that says most: one that may pass before one that is certain.
    func failure(of targets: [NextHopTarget]) -> NextHopFailure {
        failures.first ?? absences.first
            ?? NextHopFailure(name: targets.first?.host ?? "", type: .a, reason: .noData)
    }
}

extension ResolvedHop {
    /// Sorts by priority, then the heavier first, then IPv4 before IPv6, then the address.
    fileprivate var order: (Int, Int, Int, UInt64, UInt64, UInt16) {
        (priority, -weight, address.isIPv6 ? 1 : 0, address.high, address.low, address.port)
    }
}

extension PeerAddress {
    /// False for addresses no datagram to one peer goes to, whatever a name server says.
    ///
    /// Unspecified, multicast and broadcast ones; link-local IPv6, which means nothing without an interface; and IPv4
    /// written as IPv6, which a socket for IPv6 alone cannot send to.
    fileprivate var isUsableNextHop: Bool {
        guard isIPv6 else { return low >> 24 != 0 && low >> 24 < 224 }
        let isMulticast = high >> 56 == 0xFF
        let isLinkLocal = high >> 54 == 0x3FA
        let isFirst96 = high == 0 && (low >> 32 == 0 || low >> 32 == 0xFFFF) && low != 1
        return !isMulticast && !isLinkLocal && !isFirst96
    }
}
