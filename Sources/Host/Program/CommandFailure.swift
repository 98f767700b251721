// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reason why a command ends with exit code 1, as one line for standard error.
public struct CommandFailure: Error, CustomStringConvertible {
    /// The line.
    public let description: String

    /// A failure with a reason and, where there is one, a remedy.
    public init(_ description: String) { self.description = description }

    /// The text of an error: of one of Foundation's, the file and the text of the operating system.
    private static func text(_ error: any Error) -> String {
        guard let error = error as? CocoaError, let cause = SystemError.text(error) else { return "\(error)" }
        return error.filePath.map { "\($0): \(cause)" } ?? cause
    }

    /// Runs `work` and turns every error into a failure of the command.
    public static func reported<Value>(_ work: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try work()
        } catch {
            throw CommandFailure(text(error))
        }
    }

    /// The same for asynchronous work.
    public static func reported<Value>(_ work: () async throws -> Value) async throws(CommandFailure) -> Value {
        do {
            return try await work()
        } catch {
            throw CommandFailure(text(error))
        }
    }
}
