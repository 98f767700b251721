// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CallPath
import SIPCore

/// The calls of running traces, by Call-ID.
///
/// Of each it keeps what later messages do not show: whether the caller withholds the number, the parties, the trunk. Bounded:
/// two generations, of which the older one is dropped when the younger one is full. The marks of a call take 32 bytes and stay
/// longer than its parties, so that a long call of a busy gateway stays readable.
struct TraceCalls {
    /// The facts that decide which parts of a message a reader may see.
    struct Marks: OptionSet {
        let rawValue: UInt8
        /// A trace has seen the first request, from a configured peer.
        ///
        /// Otherwise nobody knows if the caller is withheld.
        static let known = Marks(rawValue: 1)
        static let withheld = Marks(rawValue: 2)
    }

    /// The users that named a party, the trunks of the messages, and the customer of each first request.
    struct Parties {
        var callers: [[UInt8]] = []
        var called: [[UInt8]] = []
        var trunks: Set<String> = []
        var customers: Set<String> = []
    }

    /// A Call-ID as far as records keep it, as two hashes with the process's random seed.
    struct Key: Hashable {
        private let high: Int
        private let low: Int

        init(_ callID: ArraySlice<UInt8>) {
            (high, low) = callID.prefix(CallTexts.limits.sipCallID).withUnsafeBytes { bytes in
                var (one, other) = (Hasher(), Hasher())
                one.combine(bytes: bytes)
                other.combine(1 as UInt8)
                other.combine(bytes: bytes)
                return (one.finalize(), other.finalize())
            }
        }
    }

    private var marks: Generations<Key, Marks>
    private var parties: Generations<Key, Parties>
    /// Call-IDs of withheld callers by the name that records have for them.
    private var withheld: Generations<Key, [UInt8]>

    /// - Parameters:
    ///   - most: calls of a generation.
    ///   - mostParties: calls of a generation whose parties are kept.
    init(most: Int = 250_000, mostParties: Int = 10_000) {
        marks = Generations(most: most)
        parties = Generations(most: mostParties)
        withheld = Generations(most: mostParties)
    }

    /// Adds the facts of a message, and returns the marks of its call.
    ///
    /// A request of an unknown peer makes no call known: it could make a withheld caller's call readable.
    ///
    /// - Parameter customer: the customer of a call that begins with the message.
    mutating func add(
        _ facts: TraceFacts, _ key: Key, isReceived: Bool, peer: GatewayTopology.TracedPeer?, keepsTrunk: Bool,
        customer: @autoclosure () -> String? = nil
    ) -> Marks {
        let before = marks.use(key)
        var after = before ?? []
        if facts.asksForPrivacy { after.insert(.withheld) }
        if isReceived, facts.isInitial, peer != nil {
            after.insert(.known)
            addParties(facts, key, customer())
        }
        if after != before { marks[key] = after }
        if let peer, peer.isTrunk, keepsTrunk || facts.isInitial { addTrunk(peer.name, key) }
        return after
    }

    /// Marks the call of a decision.
    mutating func add(isWithheld: Bool, _ key: Key) -> Marks {
        let before = marks.use(key)
        var after = before ?? []
        if isWithheld { after.insert(.withheld) }
        if after != before { marks[key] = after }
        return after
    }

    private mutating func addParties(_ facts: TraceFacts, _ key: Key, _ customer: String?) {
        var call = parties.use(key) ?? Parties()
        for user in facts.callers where !call.callers.contains(user) && call.callers.count < 16 {
            call.callers.append(user)
        }
        for user in facts.called where !call.called.contains(user) && call.called.count < 16 {
            call.called.append(user)
        }
        if let customer { call.customers.insert(customer) }
        parties[key] = call
    }

    private mutating func addTrunk(_ name: String, _ key: Key) {
        var call = parties.use(key) ?? Parties()
        guard call.trunks.insert(name).inserted else { return }
        parties[key] = call
    }

    /// The marks of a call; nil if no trace has seen it.
    func marks(of key: Key) -> Marks? { marks[key] }

    /// The parties of a call; nil if no trace has seen them, or not lately.
    mutating func parties(of key: Key) -> Parties? { parties.use(key) }

    /// Keeps the Call-ID of a withheld caller under the name that records have for it.
    mutating func nameWithheld(_ callID: ArraySlice<UInt8>, _ secret: Secret) {
        let key = Key(WithheldCallID.name(of: callID, secret)[...])
        if withheld.use(key) == nil { withheld[key] = Array(callID.prefix(512)) }
    }

    /// The Call-ID of a record's name; nil if the name is the Call-ID.
    mutating func callID(named key: Key) -> ArraySlice<UInt8>? { withheld.use(key)?[...] }

    /// Forgets all calls.
    mutating func removeAll() {
        marks.removeAll()
        parties.removeAll()
        withheld.removeAll()
    }
}

extension TraceCalls.Marks {
    /// The parts of its messages that a reader may see.
    func exposure(_ numbers: TraceOrder.Numbers) -> TraceRedaction.Exposure {
        guard contains(.known), !contains(.withheld) else { return .withheld }
        return numbers == .full ? .full : .masked
    }
}

extension TraceOrder {
    /// Whether an order selects by the parties of a call.
    var asksForParties: Bool { number != nil || trunk != nil || customer != nil }

    /// Whether an order includes a call; a withheld number matches no order, or an order could find it out.
    func matches(_ marks: TraceCalls.Marks, callID: ArraySlice<UInt8>, _ parties: TraceCalls.Parties?) -> Bool {
        if let trunk, parties?.trunks.contains(trunk) != true { return false }
        if let customer, parties?.customers.contains(customer) != true { return false }
        let part = self.callID.map { Array($0.utf8.prefix(CallTexts.limits.sipCallID)) }
        if let part, callID.firstRange(of: part) == nil { return false }
        guard let number else { return true }
        guard let parties else { return false }
        let wanted = Array(number.utf8)
        return ((marks.contains(.withheld) ? [] : parties.callers) + parties.called)
            .contains { TraceOrder.isSame($0, wanted) }
    }
}

/// A dictionary that drops its older half when the younger one is full.
struct Generations<Key: Hashable, Value> {
    private let most: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// - Parameter most: entries of a generation.
    init(most: Int) { self.most = most }

    subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            if young.count >= most, young[key] == nil {
                old = young
                young = [:]
            }
            young[key] = newValue
        }
    }

    /// The value of a key, which belongs to the younger generation from then on.
    mutating func use(_ key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        self[key] = value
        return value
    }

    /// Drops all entries.
    mutating func removeAll() { (young, old) = ([:], [:]) }
}
