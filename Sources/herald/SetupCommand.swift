// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GatewayOperator
import Host

/// `herald setup`.
struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Write the first configuration: ask for carrier, PBX, country and directory, then run the doctor.",
        discussion: """
            Asks what no option gives. A default is in brackets, and a wrong value is asked again with its reason. Nothing \
            is written before the last reply, and a file that is there never changes. A directory on this machine makes \
            the key. At the end the doctor runs, and the steps to the first branded call are listed.

            Without a terminal, and with --yes, nothing is asked. Run it as root, who may write to /etc/herald.

            Examples:
              sudo herald setup
              sudo herald setup --carrier 203.0.113.0/24 --next-hop 203.0.113.5 \\
                  --pbx 192.0.2.20 --country AU --vouches --yes
              herald setup --print --carrier 203.0.113.5 --pbx 192.0.2.20 \\
                  --country AU --no-vouches --directory none
            """)

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Where the carrier's INVITEs come from: addresses, networks or a name, with commas or repeated.",
            valueName: "address"))
    var carrier: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where the PBX's calls go. Default: the carrier's first address that is no network.", valueName: "address"))
    var nextHop: String?

    @Option(help: ArgumentHelp("The PBX, such as 192.0.2.20 or pbx.example:5080.", valueName: "address"))
    var pbx: String?

    @Option(help: ArgumentHelp("How national numbers are read: AU, Australia or +61.", valueName: "country"))
    var country: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the carrier vouches for its callers. Without that no call gets a brand.")
    var vouches: Bool?

    @Option(
        help: ArgumentHelp(
            "The gateway's address towards the carrier. Default: the address that routes to it.", valueName: "address"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The gateway's address towards the PBX, where it is another one.", valueName: "address"))
    var pbxListen: String?

    @Option(
        help: ArgumentHelp(
            "The branding directory, or none. Default: the one on this machine.", valueName: "url"))
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "The file of the directory's API key. Default: api-key beside the configuration.", valueName: "file"))
    var keyFile: String?

    @Flag(name: .shortAndLong, help: "Ask nothing; take the defaults.")
    var yes = false

    @Flag(help: "Print the configuration instead of writing it, also where a file is there.")
    var print = false

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = SetupOptions.packagedPath

    func run() async throws {
        var options = SetupOptions(config: config)
        options.carrier = carrier
        options.nextHop = nextHop
        (options.pbx, options.country, options.vouches) = (pbx, country, vouches)
        (options.listen, options.pbxListen) = (listen, pbxListen)
        (options.directory, options.keyFile) = (directory, keyFile)
        (options.yes, options.print) = (yes, print)
        do {
            try await Setup(options).run()
        } catch let problem as SetupProblem {
            if problem.isEnd { throw CommandFailure("\(problem)") }
            throw ValidationError("\(problem)")
        }
    }
}
