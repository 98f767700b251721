// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator

/// `herald trust`.
struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Keep the certificates of signers, and check signed tokens by hand.",
        discussion: """
            Signers live in signers.sqlite of the state folder. Each change is one transaction and works with the gateway \
            running or stopped. Nothing uses the network. Calls are verified by signatures of a trunk.

            Examples:
              herald trust import chains.pem sti-pa.jwt sti-pa.crl
              herald trust list
              herald trust check TOKEN --caller +12025551000 --called +12025551001 --at 2026-11-29T12:00:00Z
            """,
        subcommands: [
            TrustListCommand.self, TrustShowCommand.self, TrustImportCommand.self, TrustRemoveCommand.self,
            TrustCheckCommand.self, TrustRegimesCommand.self,
        ], defaultSubcommand: TrustListCommand.self)
}

/// `herald trust import`.
struct TrustImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take in certificate chains, lists of authorities, revocation lists and addresses.",
        discussion: """
            A file is PEM, one certificate or revocation list in DER, the response of the STI-PA or its JWT, addresses, \
            one a line, or a tar of such files. A line x5u: https://… before a chain names its address; a chain without \
            it is found in tokens alone. Prints each change and each refused part. With a refused part it ends with 1, \
            and everything else is stored. Without a file it decides all signers anew by the files that the regimes name.

            Examples:
              herald trust import chains.pem sti-pa.jwt sti-pa.crl
              herald trust import all.tar
              herald trust import
            """)

    @Argument(help: "Files in any order.")
    var files: [String] = []

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await TrustImport(options.configuration()).run(files, asJSON: options.json) }
}

/// `herald trust list`.
struct TrustListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the signers with their standing under each regime, and the lists in force.",
        discussion: """
            Examples:
              herald trust list
              herald trust list --unknown --json
              herald trust list --calls --wide
            """)

    @Flag(help: "Addresses without a certificate.")
    var unknown = false

    @Flag(help: "Calls of the last 30 days by signer and outcome, and signers new to a brand's number.")
    var calls = false

    @OptionGroup var options: ListOptions

    func validate() throws {
        if unknown && calls { throw ValidationError("list takes --unknown or --calls") }
    }

    func run() async throws {
        let configuration = try options.configuration()
        if calls { return try SignedCallsListing(configuration).list(options.form, asJSON: options.json) }
        try TrustListing(configuration).list(unknown: unknown, options.form, asJSON: options.json)
    }
}

/// `herald trust show`.
struct TrustShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a signer, and why its tokens count or not under each regime.",
        discussion: """
            Examples:
              herald trust show 123A
              herald trust show +12025551000
              herald trust show https://cert.example.net/spc.pem
            """)

    @Argument(help: "A provider code, a telephone number, an address, or a # of herald trust list.")
    var signer: String

    @OptionGroup var options: OperatorOptions

    func run() async throws { try await TrustListing(options.configuration()).show(signer, asJSON: options.json) }
}

/// `herald trust remove`.
struct TrustRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove signers, or the list of authorities of a regime.",
        discussion: """
            Tokens of a removed signer are signer_not_yet_known. Without its list a regime has the anchors of its files \
            alone, and a list with any sequence can be imported.

            Examples:
              herald trust remove https://cert.example.net/spc.pem
              herald trust remove --list us
            """)

    @Argument(help: "An address, a provider code, a telephone number, or a # of herald trust list.")
    var signer: String?

    @Option(help: ArgumentHelp("Remove the list of authorities of this regime.", valueName: "regime"))
    var list: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        if (signer == nil) == (list == nil) { throw ValidationError("remove needs a signer or --list") }
    }

    func run() async throws {
        let change = try TrustImport(options.configuration())
        if let signer { try await change.remove(signer, asJSON: options.json) }
        if let list { try await change.removeList(of: list, asJSON: options.json) }
    }
}

/// `herald trust check`.
struct TrustCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verify tokens of a call as the call path would, and show each step.",
        discussion: """
            A token is the value of an Identity header field, or its three parts alone. Several tokens are those of one \
            call, such as a forwarded one. A chain inside a token is judged at once; a gateway judges it aside. The exit \
            status is 0 if the number passed, and 1 if it failed or there is no evidence.

            Examples:
              herald trust check TOKEN --caller +12025551000 --called +12025551001
              herald trust check TOKEN DIV-TOKEN --caller 12025551000 --called 12025551009 --at 1471375428 --regime fr
            """)

    @Argument(help: "Values of Identity, in the order of the call.")
    var tokens: [String]

    @Option(help: ArgumentHelp("The caller's number with its country code.", valueName: "number"))
    var caller: String

    @Option(help: ArgumentHelp("The called number with its country code.", valueName: "number"))
    var called: String

    @Option(
        help: ArgumentHelp(
            "The number in To with its country code, if the call was retargeted; the called one by default.",
            valueName: "number"))
    var to: String?

    @Option(
        help: ArgumentHelp("The time of the call, such as 2026-11-29T12:00:00Z; now by default.", valueName: "time"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "The only regime, by name or file; those of the configuration by default.", valueName: "name"))
    var regime: String?

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        let call = TrustCheck.Call(caller: caller, called: called, to: to, at: at)
        let check = try TrustCheck(call, regime: regime, options.configuration(), path: options.config)
        guard try await check.run(tokens, asJSON: options.json) else { throw ExitCode(1) }
    }
}
