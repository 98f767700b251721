// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Primitives

/// The form of a list.
struct ListOptions: ParsableArguments {
    @Flag(help: "All columns and whole cells, instead of 80 columns.")
    var wide = false

    @Flag(help: "One JSON object a line instead of a table.")
    var json = false

    var form: TableForm { wide ? .wide : .narrow }

    func validate() throws {
        if wide, json { throw ValidationError("--wide and --json exclude each other") }
    }
}

/// The form of a result that is one thing.
struct ResultOptions: ParsableArguments {
    @Flag(help: "One JSON object instead of text.")
    var json = false
}
