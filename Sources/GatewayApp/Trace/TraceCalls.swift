// SPDX-License-Identifier: Apache-2.0

import CallPath
import GatewayAdmin

/// The calls of running traces, by Call-ID.
///
/// Of each it keeps what later messages do not show: whether the caller withholds the number, the parties, the trunk. Bounded:
/// two generations, of which the older one is dropped when the younger one is full.
struct TraceCalls {
    /// One call.
    struct Call {
        /// False if the trace has not seen its first request from a configured peer: nobody knows if the caller is withheld.
        var isKnown = false
        var isWithheld = false
        /// The users that named the caller.
        var callers: [[UInt8]] = []
        var called: [[UInt8]] = []
        /// The trunks of its messages.
        var trunks: Set<String> = []
    }

    private let most: Int
    private var young: [[UInt8]: Call] = [:]
    private var old: [[UInt8]: Call] = [:]

    init(most: Int = 10_000) { self.most = most }

    /// Changes a call and returns it.
    mutating func update(_ callID: [UInt8], _ change: (inout Call) -> Void) -> Call {
        let key = Array(callID.prefix(512))
        var call = young[key] ?? old[key] ?? Call()
        change(&call)
        if young[key] == nil, young.count >= most {
            old = young
            young.removeAll(keepingCapacity: true)
        }
        young[key] = call
        return call
    }

    /// The call; nil if no trace has seen it.
    func call(_ callID: [UInt8]) -> Call? {
        let key = Array(callID.prefix(512))
        return young[key] ?? old[key]
    }

    /// Forgets all calls.
    mutating func removeAll() { (young, old) = ([:], [:]) }
}

extension TraceCalls.Call {
    /// Adds the facts of a message.
    ///
    /// A request of an unknown peer makes no call known: it could make a withheld caller's call readable.
    mutating func add(_ facts: TraceFacts, isReceived: Bool, isFromPeer: Bool) {
        if facts.asksForPrivacy { isWithheld = true }
        guard isReceived, facts.isInitial, isFromPeer else { return }
        isKnown = true
        for user in facts.callers where !callers.contains(user) && callers.count < 16 { callers.append(user) }
        for user in facts.called where !called.contains(user) && called.count < 16 { called.append(user) }
    }

    /// The parts of its messages that a reader may see.
    func exposure(_ numbers: TraceOrder.Numbers) -> TraceRedaction.Exposure {
        guard isKnown, !isWithheld else { return .withheld }
        return numbers == .full ? .full : .masked
    }

    /// Whether an order includes the call.
    ///
    /// A withheld number matches no order, or an order could find it out.
    func matches(_ order: TraceOrder, callID: [UInt8]) -> Bool {
        if let trunk = order.trunk, !trunks.contains(trunk) { return false }
        if let part = order.callID, callID.firstRange(of: Array(part.utf8)) == nil { return false }
        guard let number = order.number else { return true }
        let wanted = Array(number.utf8)
        return ((isWithheld ? [] : callers) + called).contains { TraceOrder.isSame($0, wanted) }
    }
}
