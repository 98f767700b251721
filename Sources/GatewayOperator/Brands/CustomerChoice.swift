// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayConfiguration
import Host
import Primitives

/// The names of customers that an operator may use: one rule for all commands and pages.
struct KnownCustomers: Hashable, Sendable {
    /// Names that one line lists.
    private static let mostListed = 10

    let names: [String]

    init(_ names: [String]) { self.names = names.sorted() }

    /// Why a name cannot be used, with the remedy; nil for the name of a customer.
    func problem(of name: String) -> String? {
        guard !names.contains(name) else { return nil }
        let unknown = "no customer is named \(TerminalText.visible(name))"
        guard !names.isEmpty else { return unknown + ": the configuration has no customers" }
        return unknown + NearestName.hint(name, among: names) + "; " + listed
    }

    /// Why no call is a customer's, where these are the customers with a route; nil for one of them.
    func problemOfRoute(to name: String) -> String? {
        guard !names.contains(name) else { return nil }
        return "no route has the customer \(TerminalText.visible(name))" + NearestName.hint(name, among: names)
            + "; herald routes lists the routes with their customers"
    }

    /// Why a question without a customer has no response, with the remedy.
    var choice: String { "the configuration has brands of customers only: give --customer NAME; " + listed }

    private var listed: String {
        let first = names.prefix(Self.mostListed).joined(separator: ", ")
        let rest = names.count - Self.mostListed
        return rest > 0 ? "there are \(first) and \(rest) more, see herald customers" : "there are \(first)"
    }
}

extension HeraldConfiguration {
    /// The names of its customers.
    var knownCustomers: KnownCustomers { KnownCustomers(customers.map(\.name)) }

    /// Whether calls without a customer can have a brand: of the section `directory`, or of a file.
    var hasUsualBrands: Bool { directory != nil || brandsFile != nil || customers.isEmpty }

    /// The customer with a name.
    ///
    /// - Throws: for an unknown name.
    func customer(named name: String) throws(CommandFailure) -> Customer {
        guard let customer = customers.first(where: { $0.name == name }) else {
            throw CommandFailure(knownCustomers.problem(of: name) ?? "")
        }
        return customer
    }

    /// The customer whose brands a question is about; nil for the usual brands.
    ///
    /// - Parameter name: nil without `--customer`.
    /// - Throws: for an unknown name, and without a name where only customers have brands.
    func brandOwner(named name: String?) throws(CommandFailure) -> Customer? {
        if let name { return try customer(named: name) }
        guard hasUsualBrands else { throw CommandFailure(knownCustomers.choice) }
        return nil
    }

    /// The configuration as it is for the calls of a customer: its account and its folder of brands.
    ///
    /// - Parameter customer: nil for calls without a customer.
    func seen(by customer: Customer?) -> HeraldConfiguration {
        guard let customer else { return self }
        var own = self
        (own.directory, own.brandsFile) = (customer.directory, nil)
        own.logos = accounts.first { $0.customers.contains(customer.name) }?.logos
        own.state = CustomerFolders.link(of: customer.name, in: state)
        return own
    }
}
