// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// A customer with a directory account of its own.
    package struct Customer: Hashable, Sendable {
        /// Name in routes, ledger, events, metrics and log lines.
        package var name: String
        package var directory: DirectoryAccess
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
            return access.map { HeraldConfiguration.Customer(name: name, directory: $0, subscribers: subscribers) }
        }
        guard let customers, customers.count > HeraldConfiguration.mostCustomers else { return customers ?? [] }
        root.problem("customers", "must have at most \(HeraldConfiguration.mostCustomers) entries")
        return []
    }
}
