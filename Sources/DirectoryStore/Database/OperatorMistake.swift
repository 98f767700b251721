// SPDX-License-Identifier: Apache-2.0

/// A request of the operator that cannot be done; its description says why, and what to do.
package protocol OperatorMistake: Error, CustomStringConvertible {
    var kind: OperatorMistakeKind { get }
}

/// What is wrong with a request of the operator.
package enum OperatorMistakeKind: Hashable, Sendable {
    /// A value that cannot be.
    case invalid
    /// It names something that is not there.
    case missing
    /// What is there already stands against it.
    case conflict
}
