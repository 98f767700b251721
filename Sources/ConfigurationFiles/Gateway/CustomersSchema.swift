// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// A customer with a directory account of its own.
    package struct Customer: Hashable, Sendable {
        /// Name in routes, ledger, events, metrics and log lines.
        package var name: String
        package var directory: DirectoryAccess
        /// Hosts of its logos, in the form of `logos.hosts`; nil where no copies of them are kept.
        package var logoHosts: [String]?
        /// Its subscribers that belong together: PBX user or `+number` → name of the group.
        package var subscribers: [String: String]
    }

    /// Largest number of customers.
    package static let mostCustomers = 1_000
}

// Reads the section `customers` of `herald.yaml`.

extension HeraldSchema {
    /// - Parameter usual: the section `directory`, whose values hold for customers without a URL of their own.
    func customers(_ usual: HeraldConfiguration.DirectoryAccess?) -> [HeraldConfiguration.Customer] {
        var names: Set<String> = []
        let customers = root.sections("customers") { position, section -> HeraldConfiguration.Customer? in
            if !section.has("name") { section.missing("name", "acme") }
            let name = section.string("name", form: WordForm.name, WordForm.isName) ?? "customer\(position + 1)"
            if !names.insert(name).inserted { section.problem("name", "an earlier entry is named \"\(name)\"") }
            if !section.has("directory") { section.missing("directory", "{api_key_file: keys/\(name)}") }
            let access = section.section("directory") { directoryAccess($0, usual) }
            let subscribers = subscribers(section)
            guard let access else { return nil }
            return HeraldConfiguration.Customer(
                name: name, directory: access, logoHosts: hostsOfCopies(section, access), subscribers: subscribers)
        }
        guard let customers, customers.count > HeraldConfiguration.mostCustomers else { return customers ?? [] }
        root.problem("customers", "must have at most \(HeraldConfiguration.mostCustomers) entries")
        return []
    }

    /// Reads the section `logos` of a customer; nil without one.
    private func hostsOfCopies(
        _ customer: ConfigurationSection, _ access: HeraldConfiguration.DirectoryAccess
    ) -> [String]? {
        if customer.has("logos"), !root.has("logos") {
            customer.problem("logos", "needs the section logos, which serves the copies to phones")
        }
        return customer.section("logos") { logoHosts($0, access) }
    }
}
