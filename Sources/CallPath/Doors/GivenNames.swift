// SPDX-License-Identifier: Apache-2.0

public import Branding
import Synchronization

/// The names of brands that doors gave of late, in bounded memory.
///
/// A PBX's report of a call is joined with them by number and time. They end with the process. Any thread; the call path has
/// no part in it.
public final class GivenNames: Sendable {
    /// A name that a door gave.
    public struct Name: Hashable, Sendable {
        /// The brand's name, as the door gave it.
        public let text: String
        /// The directory's identifier of the brand.
        public let brandID: String
        /// The mark of the customer whose brand it is; 0 for none.
        public let customer: UInt32

        public init(text: String, brandID: String, customer: UInt32 = 0) {
            (self.text, self.brandID, self.customer) = (text, brandID, customer)
        }
    }

    private struct State {
        /// The numbers alone, so that a search reads little memory.
        var numbers: [UInt64] = []
        var names: [(name: Name, at: Int64)] = []
        /// The place that the next name takes once the table is full.
        var next = 0
    }

    private let state = Mutex(State())
    private let most: Int
    /// Microseconds since 1970 at which the memory began: names before it are not known.
    public let began: Int64

    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - most: names that are kept, of some 150 bytes; the oldest give way.
    ///   - now: microseconds since 1970.
    public init(most: Int = 131_072, now: @escaping @Sendable () -> Int64) {
        (self.most, self.now, began) = (max(1, most), now, now())
    }

    /// Keeps a name that a door gives for a number now.
    public func add(_ name: Name, of number: E164Number) {
        let time = now()
        state.withLock { state in
            guard state.numbers.count == most else {
                state.numbers.append(number.digits)
                return state.names.append((name, time))
            }
            state.numbers[state.next] = number.digits
            state.names[state.next] = (name, time)
            state.next = (state.next + 1) % most
        }
    }

    /// The newest name that a door gave for a number within a span of time; nil for none.
    ///
    /// - Parameter customer: the mark of the called number's customer. Without a name of its brands, one that a client got
    ///   without a called number counts, and never one of another customer.
    public func newest(of number: E164Number, in span: ClosedRange<Int64>, for customer: UInt32 = 0) -> Name? {
        state.withLock { state in
            var found: (own: (name: Name, at: Int64)?, any: (name: Name, at: Int64)?)
            for place in state.numbers.indices where state.numbers[place] == number.digits {
                let given = state.names[place]
                guard span.contains(given.at) else { continue }
                if given.name.customer == customer, given.at >= found.own?.at ?? .min { found.own = given }
                if given.name.customer == 0, given.at >= found.any?.at ?? .min { found.any = given }
            }
            return (found.own ?? found.any)?.name
        }
    }
}
