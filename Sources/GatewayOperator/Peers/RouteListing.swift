// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
package import ConfigurationFiles
package import Host
package import Primitives

/// `herald routes list`: lists the routes of a configuration.
package struct RouteListing {
    private let configuration: HeraldConfiguration
    private let customer: String?
    private var routes: HeraldConfiguration.Routes { configuration.routes }
    private var listed: [HeraldConfiguration.Route] {
        routes.table.filter { customer == nil || name(ofCustomer: $0) == customer }
    }

    /// - Parameters:
    ///   - configuration: loaded with the list files.
    ///   - customer: the customer whose routes are listed; nil for all.
    /// - Throws: for an unknown customer.
    package init(_ configuration: HeraldConfiguration, customer: String? = nil) throws(CommandFailure) {
        self.customer = try customer.map { name throws(CommandFailure) in try configuration.customer(named: name).name }
        self.configuration = configuration
    }

    /// Writes the routes to standard output in the order of the configuration.
    package func list(_ form: TableForm, asJSON: Bool) throws {
        guard asJSON else { return Output.write(text(form)) }
        for route in listed { try Output.write(json: json(route)) }
    }

    /// The routes as a table, and the remarks about their entries.
    package func text(_ form: TableForm) -> String {
        guard !routes.table.isEmpty else { return "no routes: each call goes to the pbx of its trunk\n" }
        if let customer, listed.isEmpty {
            return "customer \(customer) has no route: no call is its own; add customer: \(customer) to a route\n"
        }
        var table = TextTable(
            ["ROUTE", "NUMBERS", "PREFIXES", "PBX", "CUSTOMER", "POLICY", "BRANDS", "CALLS/S", "CALLS", "LISTS"], form,
            whole: ["ROUTE"], wideOnly: ["CALLS/S", "CALLS", "LISTS"])
        for route in listed {
            table.add([
                route.name, String(route.numberCount), String(route.prefixCount), pbx(route),
                name(ofCustomer: route),
                route.policy?.rawValue ?? "of the trunk", Self.text(of: route.brands),
                route.limits.callsPerSecond.map(String.init), route.limits.calls.map(String.init),
                route.lists.joined(separator: " "),
            ])
        }
        guard customer == nil else { return table.text }
        table.add([
            "(other)", nil, nil, routes.unmatched == .trunk ? "of the trunk" : "404", nil, nil, nil, nil, nil, nil,
        ])
        let size =
            "\(routes.numbers.numberCount) numbers and \(routes.numbers.prefixCount) prefixes, "
            + "\((routes.numbers.byteCount + 1023) / 1024) KiB of memory\n"
        return table.text + size + routes.remarks.map { "note    \($0)\n" }.joined()
    }

    private static func text(of brands: BrandMode) -> String {
        switch brands {
        case .on: "yes"
        case .shadow: "shadow"
        case .off: "no"
        }
    }

    private func name(ofCustomer route: HeraldConfiguration.Route) -> String? {
        route.customer.map { configuration.customers[$0].name }
    }

    private func pbx(_ route: HeraldConfiguration.Route) -> String {
        route.pbx.map { configuration.pbx[$0].name } ?? "of the trunk"
    }

    /// One route as `--json` shows it.
    func json(_ route: HeraldConfiguration.Route) -> [String: JSONValue?] {
        [
            "route": .string(route.name), "numbers": .int(route.numberCount), "prefixes": .int(route.prefixCount),
            "pbx": JSONValue(route.pbx.map { configuration.pbx[$0].name }), "policy": JSONValue(route.policy?.rawValue),
            "customer": JSONValue(name(ofCustomer: route)),
            "brands": .bool(route.brands == .on), "shadow": .bool(route.brands == .shadow),
            "calls_per_second": JSONValue(route.limits.callsPerSecond),
            "burst": JSONValue(route.limits.burst), "calls": JSONValue(route.limits.calls),
            "lists": .array(route.lists.map(JSONValue.string)),
        ]
    }
}
