// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore

/// The database and the account of a command.
struct AccountOptions: ParsableArguments {
    @OptionGroup var state: StateOptions

    @Option(help: ArgumentHelp("The account's name or identifier; the first account by default.", valueName: "account"))
    var account: String?

    /// Opens the database and finds the account.
    ///
    /// - Parameter creates: false for commands that need an existing database.
    func open(creates: Bool = false) throws -> (database: DirectoryDatabase, account: AccountID) {
        let database = try state.open(creates: creates)
        guard let account else { return (database, .first) }
        return (database, try reportingRefusals { try AccountList(database).find(account) })
    }

    /// Opens the settings and keys of the account.
    func openAccount(creates: Bool = false) throws -> AccountStore {
        let (database, account) = try open(creates: creates)
        return AccountStore(database, account: account)
    }
}
