// SPDX-License-Identifier: Apache-2.0

/// A request of the operator that is refused; its description has the cause and the remedy.
package protocol OperatorError: Error, CustomStringConvertible {
    var kind: OperatorMistakeKind { get }
}

/// The kind of a refusal.
package enum OperatorMistakeKind: Hashable, Sendable {
    /// A value is invalid.
    case invalid
    /// The named object does not exist.
    case missing
    /// The request conflicts with the present state.
    case conflict
    /// The directory cannot do it now.
    case unavailable
}
