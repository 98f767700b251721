// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator
import Primitives

/// The options of every list and ladder.
struct ListOptions: ParsableArguments {
    @Flag(help: "All columns and whole cells, instead of 80 columns.")
    var wide = false

    @OptionGroup var common: OperatorOptions

    var json: Bool { common.json }
    var form: TableForm { wide ? .wide : .narrow }

    func validate() throws {
        if wide, json { throw ValidationError("--wide and --json exclude each other") }
    }

    func configuration(lists: HeraldConfiguration.Lists = .ignored) throws -> HeraldConfiguration {
        try common.configuration(lists: lists)
    }

    func orders() throws -> GatewayOrders { try common.orders() }
}
