// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayConfiguration

/// Names a directory account over reloads.
package enum AccountKey: Hashable, Sendable {
    /// That of the section `directory`, for calls without a customer.
    case usual
    /// That of the customers with these settings.
    case customers(HeraldConfiguration.DirectoryAccess)
}

/// The settings of a directory account, by which a reload finds changed ones.
package struct AccountSettings: Equatable, Sendable {
    package let key: AccountKey
    package let access: HeraldConfiguration.DirectoryAccess
    /// Those that share the account; empty for the section `directory`, and once the last one is removed.
    package var customers: [String]
    /// Nil where no copies of logos are kept.
    package let logos: HeraldConfiguration.Logos?
    /// The contents of the files of `tls`.
    private let files: [Data?]

    init(
        _ key: AccountKey, _ access: HeraldConfiguration.DirectoryAccess, customers: [String] = [],
        logos: HeraldConfiguration.Logos? = nil
    ) {
        self.key = key
        self.access = access
        self.customers = customers
        self.logos = logos
        files = access.tls.contents
    }
}

extension HeraldConfiguration {
    /// Every directory account: that of the section `directory` first, those of customers in the order of the file.
    package var accounts: [AccountSettings] {
        let usual = directory.map { AccountSettings(.usual, $0, logos: logos) }
        let members = Dictionary(grouping: customers, by: \.directory)
        var seen: Set<DirectoryAccess> = []
        return (usual.map { [$0] } ?? [])
            + customers.map(\.directory).filter { seen.insert($0).inserted }.map {
                let members = members[$0] ?? []
                return AccountSettings(
                    .customers($0), $0, customers: members.map(\.name), logos: logos(of: members))
            }
    }

    /// The section `logos` as it is for the customers of one account; nil where none of them has logos.
    ///
    /// The paths of an account's files begin with the name of the first of them.
    private func logos(of members: [Customer]) -> Logos? {
        let members = members.filter { $0.logoHosts != nil }
        guard var logos, let first = members.first else { return nil }
        logos.hosts = members.flatMap { $0.logoHosts ?? [] }
        logos.publicURL += PhonePaths.prefix(of: first.name)
        return logos
    }
}
