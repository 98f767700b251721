// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Directory

/// `herald-directory account`: the gates that every gateway obeys.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Show or change what the account may do.",
        discussion: """
            Gateways obey with their next sync or event answer. Without options it only shows.

            Example:
              herald-directory account --disable-branding
              herald-directory account --cap 10000
            """)

    @OptionGroup var options: StateOptions

    @Flag(inversion: .prefixedEnableDisable, help: "Let gateways brand calls, or stop them.")
    var branding: Bool?

    @Flag(inversion: .prefixedEnableDisable, help: "Let SIP elements brand calls, or have them pass calls through.")
    var voip: Bool?

    @Option(help: ArgumentHelp("active and trial let gateways brand, any other word stops them.", valueName: "word"))
    var status: String?

    @Option(help: ArgumentHelp("Counted events a month; -1 for no cap.", valueName: "number"))
    var cap: Int?

    func validate() throws {
        if let status,
            !(1...32).contains(status.count) || !status.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "_") })
        {
            throw ValidationError("--status takes a word of letters, such as active or suspended")
        }
    }

    func run() throws {
        let account = AccountStore(try options.open())
        var change = AccountStore.Change()
        (change.brandingEnabled, change.voipDialerEnabled, change.status, change.cap) = (branding, voip, status, cap)
        try account.change(change)
        try Output.write(json: try account.config(now: secondsNow()))
    }
}
