// SPDX-License-Identifier: Apache-2.0

/// Names of customers by the mark in updates.
///
/// A removed customer keeps its name, because it may still have calls. A mark that no configuration of this process has
/// named becomes a name of its own. So a call of a removed customer never counts as another's.
package struct CustomerNames: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var names: [UInt32: String]

    package init(_ names: [UInt32: String] = [:]) { self.names = names }

    package init(dictionaryLiteral elements: (UInt32, String)...) {
        names = Dictionary(elements) { _, last in last }
    }

    /// The customer of a mark; nil for 0, which is a call without a customer.
    package func name(of mark: UInt32) -> String? {
        guard mark != 0 else { return nil }
        return names[mark] ?? "(removed \(String(mark, radix: 16)))"
    }

    /// Adds the names of another configuration.
    package mutating func merge(_ other: CustomerNames) { names.merge(other.names) { _, new in new } }
}
