// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A text about a call with its telephone numbers marked, so that a page can mask them.
///
/// Names in it come from the wire: escape the text before it reaches a terminal or a page.
public struct StoryText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A part of the text.
    public enum Part: Hashable, Sendable {
        case text(String)
        /// A number, or the text of the carrier instead of one; pages may mask it.
        case number(String)
    }

    public let parts: [Part]

    public init(_ parts: [Part]) { self.parts = parts }

    public init(number: String) { parts = [.number(number)] }

    /// A name that a carrier or a signer chose: many write the number as the name.
    public init(foreign text: String) { parts = NumberMask.holdsNumber(text) ? [.number(text)] : [.text(text)] }

    public init(stringLiteral text: String) { parts = [.text(text)] }

    public init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// The whole text.
    ///
    /// - Parameter shown: the form in which the reader may see a number.
    public func text(shown: (String) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .number(let number): shown(number)
            }
        }.joined()
    }

    public static func + (one: StoryText, other: StoryText) -> StoryText { StoryText(one.parts + other.parts) }

    /// Collects the parts of `"\(name) rang \(number: number)"`.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        public init(literalCapacity: Int, interpolationCount: Int) {}

        public mutating func appendLiteral(_ text: String) { if !text.isEmpty { parts.append(.text(text)) } }

        public mutating func appendInterpolation(_ text: String) { appendLiteral(text) }

        public mutating func appendInterpolation(_ number: Int) { appendLiteral("\(number)") }

        public mutating func appendInterpolation(number: String) { parts.append(.number(number)) }

        public mutating func appendInterpolation(_ text: StoryText) { parts += text.parts }
    }
}
