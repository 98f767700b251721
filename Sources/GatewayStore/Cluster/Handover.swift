// SPDX-License-Identifier: Apache-2.0

/// A row of another gateway, by the columns of its shared table.
package struct ForeignRow: Sendable, Hashable {
    /// The name of the gateway that wrote it.
    package let gateway: String
    package let values: [String: ColumnValue]
    /// That gateway's clock less this one's, in microseconds.
    package let clockOffset: Int64

    package init(gateway: String, values: [String: ColumnValue], clockOffset: Int64 = 0) {
        (self.gateway, self.values, self.clockOffset) = (gateway, values, clockOffset)
    }

    /// The integer of a column; nil for null and for a text.
    package func integer(_ column: String) -> Int64? {
        if case .integer(let value)? = values[column] { value } else { nil }
    }

    /// The text of a column; nil for null and for an integer.
    package func text(_ column: String) -> String? {
        if case .text(let value)? = values[column] { value } else { nil }
    }
}

/// A step that other gateways cause in the ledger of this one: calls and events that move, and waits that end.
package enum Handover: Sendable, Hashable {
    /// An open call of a silent gateway, which goes on here.
    case adopt(ForeignRow)
    /// A call of this gateway that goes on at another, by its identifier.
    case lend(String)
    /// A call of this gateway that has ended at another.
    case close(ForeignRow)
    /// A waiting event of a silent gateway, which this one sends.
    case send(ForeignRow)
    /// A failed call of this gateway whose next attempt passed another one: it goes on there as another call.
    case tryElsewhere(AwaitedRedial.Name, as: AwaitedRedial.Next)
    /// A failed call of this gateway without a further attempt at any gateway.
    case endWithoutRedial(AwaitedRedial.Name)

    /// Whether the step is for a call that waits for another attempt.
    package var isOfRedial: Bool {
        switch self {
        case .tryElsewhere, .endWithoutRedial: true
        case .adopt, .lend, .close, .send: false
        }
    }
}

/// Calls and events that have moved since the start.
package struct HandoverCounts: Hashable, Sendable {
    /// Calls and events taken over from silent gateways.
    package var calls = 0
    package var events = 0
    /// Open calls of this gateway that go on at another.
    package var away = 0
    /// Open calls of other gateways that go on here.
    package var here = 0
    /// Failed calls of this gateway that went on at another after another attempt.
    package var redials = 0

    package init() {}
}
