// SPDX-License-Identifier: Apache-2.0

/// The reason why a command ends with exit code 1, as one line for standard error.
public struct CommandFailure: Error, CustomStringConvertible {
    /// The line.
    public let description: String

    /// A failure with a reason and, where there is one, a remedy.
    public init(_ description: String) { self.description = description }

    /// Runs `work` and turns every error into a failure of the command.
    public static func reported<Value>(_ work: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try work()
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// The same for asynchronous work.
    public static func reported<Value>(_ work: () async throws -> Value) async throws(CommandFailure) -> Value {
        do {
            return try await work()
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
