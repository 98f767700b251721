// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Primitives

/// An error that ends a command with exit code 1; one line on standard error.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Runs `body`, and turns a refusal into a `CommandFailure` of one line.
func reportingRefusals<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as any OperatorError {
        throw CommandFailure(TerminalText.visible("\(error)"))
    }
}
