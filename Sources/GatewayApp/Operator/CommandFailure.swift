// SPDX-License-Identifier: Apache-2.0

/// Why a command ends with exit code 1; printed as one line to standard error.
package struct CommandFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Runs a piece of work and turns whatever it throws into a failure of the command.
    package static func reported<Value>(_ work: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try work()
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
