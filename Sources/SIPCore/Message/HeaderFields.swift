// SPDX-License-Identifier: Apache-2.0

extension SIPMessage {
    /// The header fields of a message in the order received, which counts for fields of one name: RFC 3261 §7.3.1.
    public struct Headers: RandomAccessCollection {
        fileprivate let message: SIPMessage

        public var startIndex: Int { 0 }
        public var endIndex: Int { message.fieldCount }
        public subscript(position: Int) -> HeaderField { message.field(at: position) }
        // The general ones go through tables of the protocol.
        public var first: HeaderField? { isEmpty ? nil : message.field(at: 0) }
        public var isEmpty: Bool { message.fieldCount == 0 }
        public func makeIterator() -> Iterator { Iterator(message: message) }

        public struct Iterator: IteratorProtocol {
            fileprivate let message: SIPMessage
            private var position = 0

            fileprivate init(message: SIPMessage) { self.message = message }

            public mutating func next() -> HeaderField? {
                guard position < message.fieldCount else { return nil }
                defer { position += 1 }
                return message.field(at: position)
            }
        }
    }

    /// A walk over the header fields of one name.
    public struct NamedFields: Sequence, IteratorProtocol {
        fileprivate let message: SIPMessage
        fileprivate let name: HeaderName
        fileprivate var position: Int
        fileprivate let end: Int

        public mutating func next() -> HeaderField? {
            while position < end {
                let field = message.field(at: position)
                position += 1
                if field.name == name { return field }
            }
            return nil
        }
    }

    /// The header fields in the order received.
    public var headers: Headers { Headers(message: self) }

    /// The fields of a name, first to last, found without a walk over the others where there is one or none.
    public func fields(_ name: HeaderName) -> NamedFields {
        let first = position(of: name) ?? 0
        let end = repeats(name) ? fieldCount : has(name) ? first + 1 : first
        return NamedFields(message: self, name: name, position: first, end: end)
    }
}
