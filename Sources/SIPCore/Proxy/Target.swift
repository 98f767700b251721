// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives

/// One destination of a group's requests.
public struct Target: Sendable {
    /// Its health; the same object after a reload while group and address stay.
    public let targetState: TargetState
    /// A hash of its name, which differs from those of its group.
    private let identity: UInt64
    public let address: PeerAddress
    /// Position of the local socket used towards it.
    public let socket: Int
    /// Lower ones are tried first.
    public let priority: Int
    /// Share of the calls inside one priority; 0 is tried only after all others of the priority.
    public let weight: Int
    /// Largest datagram in bytes it takes; nil for no limit.
    public let largestDatagram: Int?

    public init(
        targetState: TargetState, address: PeerAddress, socket: Int, priority: Int = 0, weight: Int = 1,
        largestDatagram: Int? = nil
    ) {
        self.targetState = targetState
        var name = SipHash(key0: 0, key1: 0)
        name.combine(Array(targetState.name.utf8).span)
        identity = name.finalizeFirst()
        self.address = address
        self.socket = socket
        self.priority = priority
        self.weight = weight
        self.largestDatagram = largestDatagram
    }

    /// The score of this target for a call by weighted rendezvous hashing, so a lost target moves only its own calls.
    ///
    /// -weight ÷ ln(u), u spread evenly over 0 to 1 by a hash of call and target; the highest score wins.
    fileprivate func score(for key: UInt64) -> Double {
        var hash = key ^ identity &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        let even = (Double(hash >> 11) + 0.5) / Double(1 << 53)
        // Weight 0 follows every other weight, in an order that still depends on the call.
        return weight > 0 ? -Double(weight) / log(even) : -even
    }
}

/// Targets that serve the same calls, by priority and weight as RFC 2782 defines them (RFC 3263 §4.2).
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
public final class TargetGroup: Sendable {
    /// Most targets tried for one call: an attempt is one hexadecimal digit of its branch.
    public static let mostTried = 16

    public let name: String
    /// Of these `mostTried` are tried for one call.
    public let targets: [Target]
    /// True when OPTIONS probe them.
    public let isProbed: Bool
    /// The host names that targets are configured by.
    private let names: [TargetName]

    public init(name: String, targets: [Target], isProbed: Bool = false, names: [TargetName] = []) {
        self.name = name
        self.targets = targets
        self.isProbed = isProbed
        self.names = names
    }

    /// True when one of its targets is configured by a host name.
    public func has(host: ArraySlice<UInt8>) -> Bool { names.contains { HostName.same(host, $0.host[...]) } }

    /// The address of a target that is configured by a host name out of a header; nil for none.
    ///
    /// Of several addresses of the name, the given one; else one with the written port; else the first that is up.
    ///
    /// - Parameters:
    ///   - end: the known address of the dialog there.
    ///   - now: monotonic milliseconds.
    public func address(
        named host: ArraySlice<UInt8>, port: UInt16?, preferring end: PeerAddress?, at now: UInt64
    ) -> PeerAddress? {
        guard !names.isEmpty else { return nil }
        var found: Target?
        var isBetter = false
        for name in names where HostName.same(host, name.host[...]) {
            let target = targets[name.target]
            let fitsPort = port == nil || port == target.address.port
            if let end, end == target.address, fitsPort { return end }
            let fits = fitsPort && target.targetState.isUp(at: now)
            if found == nil || fits && !isBetter { (found, isBetter) = (target, fits) }
        }
        guard let found else { return nil }
        guard let port, port != found.address.port else { return found.address }
        return found.address.with(port: port)
    }

    /// True when one of its targets has the address.
    public func hasTarget(at address: PeerAddress, anyPort: Bool) -> Bool {
        targets.contains { anyPort ? $0.address.with(port: address.port) == address : $0.address == address }
    }

    /// True when one of its targets counts as fit at a monotonic time in milliseconds.
    public func isFit(at now: UInt64) -> Bool { targets.contains { $0.targetState.isFit(at: now) } }

    /// The targets to try for a dialog that has no way to an address: those at the same host first, and those that are up.
    ///
    /// - Parameter orOthers: whether targets at other hosts follow.
    public func order(near address: PeerAddress, orOthers: Bool, at now: Moment) -> TargetOrder {
        var order = TargetOrder()
        for target in targets where orOthers || target.address.hasSameHost(as: address) {
            let isNear = target.address.hasSameHost(as: address)
            let isUp = target.targetState.isUp(at: now.milliseconds)
            order.append(target, score: (isNear ? 2 : 0) + (isUp ? 1 : 0), regardingPriority: false)
        }
        order.holdsDown = true
        return order
    }

    /// The targets for a call, first to last, without those that are down.
    ///
    /// - Parameters:
    ///   - orDown: whether targets are tried all the same if all are down.
    ///   - key: a hash of the Call-ID: the same call gets the same target as long as that is up.
    ///   - now: monotonic milliseconds.
    public func order(for key: UInt64, at now: UInt64, orDown: Bool = false) -> TargetOrder {
        var order = TargetOrder()
        // Most groups have one target, which needs no score.
        if targets.count == 1 {
            if orDown || targets[0].targetState.isUp(at: now) { order.append(targets[0], score: 0) }
            return order
        }
        for target in targets where target.targetState.isUp(at: now) {
            order.append(target, score: target.score(for: key))
        }
        if orDown, order.isEmpty {
            order.holdsDown = true
            for target in targets { order.append(target, score: target.score(for: key)) }
        }
        return order
    }
}

/// A host name of a target in the configuration.
public struct TargetName: Hashable, Sendable {
    let host: [UInt8]
    /// Position in the group's targets.
    let target: Int

    public init(host: String, target: Int) {
        self.host = Array(host.utf8)
        self.target = target
    }
}

/// The targets that one call can still try.
public struct TargetOrder: Sendable {
    private var rest: [(target: Target, score: Double)] = []
    /// True where all are down and each is tried all the same.
    public fileprivate(set) var holdsDown = false

    /// Nothing to try.
    public init() {}

    /// True when no target is left.
    public var isEmpty: Bool { rest.isEmpty }

    /// The first of the targets in their order that a test accepts.
    public func first(where test: (Target) -> Bool) -> Target? { rest.last { test($0.target) }?.target }

    /// Takes the next target: lowest priority, highest score.
    public mutating func next() -> Target? { rest.popLast()?.target }

    /// Inserts a target by its score; the last element is the next to try, and the worst is dropped when there are too many.
    ///
    /// - Parameter regardingPriority: whether the priority comes before the score, else the other way round.
    fileprivate mutating func append(_ target: Target, score: Double, regardingPriority: Bool = true) {
        let place =
            rest.firstIndex { other in
                regardingPriority
                    ? (other.target.priority, -other.score) < (target.priority, -score)
                    : (-other.score, other.target.priority) < (-score, target.priority)
            } ?? rest.count
        // Not `insert` at the end, which is generic code.
        if place == rest.count { rest.append((target, score)) } else { rest.insert((target, score), at: place) }
        if rest.count > TargetGroup.mostTried { rest.removeFirst() }
    }
}
