// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator
import Host

/// The options that every operator's command has.
struct OperatorOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = "/etc/herald/herald.yaml"

    @Flag(help: "One JSON object a line instead of text.")
    var json = false

    /// The configuration without its secrets, which the operator may not be permitted to read.
    ///
    /// - Parameter lists: `.read` for commands that need the called numbers of routes.
    func configuration(lists: HeraldConfiguration.Lists = .ignored) throws -> HeraldConfiguration {
        try CommandFailure.reported { try HeraldConfiguration.load(path: config, secrets: .ignored, lists: lists) }
    }

    /// The configuration with its secrets, or without them for an operator who may not read them.
    func configurationWithSecrets() throws -> HeraldConfiguration {
        if let configuration = try? HeraldConfiguration.load(path: config) { return configuration }
        return try configuration()
    }

    /// The orders to the running gateway.
    func orders() throws -> GatewayOrders {
        GatewayOrders(runtimeFolder: try configuration().runtime, asJSON: json)
    }

    /// The customers of the running gateway.
    func customers() throws -> CustomerListing {
        CustomerListing(runtimeFolder: try configuration().runtime, asJSON: json)
    }

    /// Reads a time such as `90s`, `10m` or `2h`.
    static func duration(_ text: String, of option: String) throws -> Duration {
        guard let duration = DurationText.read(text), duration >= .seconds(1) else {
            throw ValidationError("\(option) takes a whole number with a unit, such as 90s, 10m or 2h")
        }
        return duration
    }

    /// Checks the `--limit` of a list.
    static func check(limit: Int) throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
    }
}
