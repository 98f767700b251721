// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore

/// Which database and which account of it a command is about.
struct AccountOptions: ParsableArguments {
    @OptionGroup var state: StateOptions

    @Option(help: ArgumentHelp("The account's name or identifier; the first one without it.", valueName: "account"))
    var account: String?

    /// Opens the database and finds the account.
    ///
    /// - Parameter creates: false for commands that make no sense on an empty database.
    func open(creates: Bool = false) throws -> (database: DirectoryDatabase, account: AccountID) {
        let database = try state.open(creates: creates)
        guard let account else { return (database, .first) }
        return (database, try explained { try AccountList(database).find(account) })
    }

    /// The account's own settings and keys.
    func openAccount(creates: Bool = false) throws -> AccountStore {
        let (database, account) = try open(creates: creates)
        return AccountStore(database, account: account)
    }
}

/// Does something, and ends the command with one line when it was refused.
func explained<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as any OperatorMistake {
        throw CommandFailure(TerminalText.visible("\(error)"))
    }
}
