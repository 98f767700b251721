// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// Collects the results of the address lookups of one resolution.
struct NextHopAddresses {
    /// The smallest lifetime of the used records.
    private(set) var secondsLeft: Int
    private var hops: Set<ResolvedHop> = []
    private var absences: [NextHopFailure] = []
    /// Failed lookups that may succeed later.
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

    /// Adds a record. Returns false if it is no usable address.
    private mutating func add(_ record: NameRecord, of target: NextHopTarget) -> Bool {
        guard case .address(let address) = record.content, address.isUsableNextHop else { return false }
        hops.insert(
            ResolvedHop(address: address.with(port: target.port), priority: target.priority, weight: target.weight))
        secondsLeft = min(secondsLeft, record.timeToLive)
        return true
    }

    /// Returns the hops in an order independent of the records' order; nil without any.
    func ordered(limit: Int) -> [ResolvedHop]? {
        hops.isEmpty ? nil : Array(hops.sorted { $0.order < $1.order }.prefix(limit))
    }

    /// Returns the most useful failure: a temporary one before a permanent one.
    func failure(of targets: [NextHopTarget]) -> NextHopFailure {
        failures.first ?? absences.first
            ?? NextHopFailure(name: targets.first?.host ?? "", type: .a, reason: .noData)
    }
}

extension ResolvedHop {
    /// Sorts by priority, then by falling weight, then IPv4 before IPv6, then by address.
    fileprivate var order: (Int, Int, Int, UInt64, UInt64, UInt16) {
        (priority, -weight, address.isIPv6 ? 1 : 0, address.high, address.low, address.port)
    }
}

extension PeerAddress {
    /// False for addresses that cannot belong to one peer.
    ///
    /// These are unspecified, multicast and broadcast addresses, link-local IPv6 (it needs an interface), and
    /// IPv4-mapped IPv6 (an IPv6-only socket cannot send to it).
    fileprivate var isUsableNextHop: Bool {
        guard isIPv6 else { return low >> 24 != 0 && low >> 24 < 224 }
        let isMulticast = high >> 56 == 0xFF
        let isLinkLocal = high >> 54 == 0x3FA
        let isFirst96 = high == 0 && (low >> 32 == 0 || low >> 32 == 0xFFFF) && low != 1
        return !isMulticast && !isLinkLocal && !isFirst96
    }
}
