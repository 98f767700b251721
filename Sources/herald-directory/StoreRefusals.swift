// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import Host
import Primitives

/// Runs `body`, and turns a refusal into a `CommandFailure` of one line.
func reportingRefusals<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as any OperatorError {
        throw CommandFailure(TerminalText.visible("\(error)"))
    }
}
