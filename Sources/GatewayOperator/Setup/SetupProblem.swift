// SPDX-License-Identifier: Apache-2.0

/// The reason why a value of `herald setup` is not used. Nothing was written.
package struct SetupProblem: Error, Hashable, CustomStringConvertible {
    /// Cause and remedy; may have foreign text as it was typed.
    package let description: String
    /// True if the person ended the input instead of an chosen.
    package let isEnd: Bool

    init(_ description: String, isEnd: Bool = false) { (self.description, self.isEnd) = (description, isEnd) }
}
