// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The folders of accounts in the state folder.
package enum CustomerFolders {
    /// The folder of an account.
    package static func path(ofAccount account: String, in state: String) -> String {
        state + "/customers/account-" + account
    }

    /// The link to the folder of a customer's account, for commands.
    package static func link(of customer: String, in state: String) -> String {
        state + "/customers/by-name/" + customer
    }

    /// Makes the links of customers and removes all others; folders of accounts stay for a later configuration.
    ///
    /// The links are relative, so they hold for a relative `gateway.state`, and after the state folder has moved.
    package static func link(_ accounts: [(customer: String, folder: String)], in state: String) throws {
        let folder = state + "/customers/by-name"
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: folder)
        where !accounts.contains(where: { $0.customer == name }) {
            try files.removeItem(atPath: folder + "/" + name)
        }
        for account in accounts {
            let path = link(of: account.customer, in: state)
            let destination = "../" + URL(fileURLWithPath: account.folder).lastPathComponent
            if (try? files.destinationOfSymbolicLink(atPath: path)) == destination { continue }
            try? files.removeItem(atPath: path)
            try files.createSymbolicLink(atPath: path, withDestinationPath: destination)
        }
    }
}
