// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator

/// `herald trace`.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Show calls of the running gateway as they happen: messages, decision, outcome.",
        discussion: """
            Draws each call as a ladder with the trunk at the left and the PBX at the right, for UDP, TCP and TLS. Under \
            an INVITE stands the branding decision with its evidence. Uses the control socket in gateway.runtime, as the \
            gateway's user, a member of its group or root. Numbers are masked. A withheld number never appears.

            Examples:
              herald trace --number +61255501001
              herald trace --trunk carrier --for 30m --pcap carrier.pcap
              herald trace --customer acme
              herald trace --call-id a84b4c76e66710 --numbers full --json
            """)

    @Option(help: "Only calls from or to this number, with or without country code.")
    var number: String?

    @Option(help: ArgumentHelp("Only calls whose SIP Call-ID contains this text.", valueName: "text"))
    var callID: String?

    @Option(help: "Only calls of this trunk.")
    var trunk: String?

    @Option(help: ArgumentHelp("Only calls of this customer.", valueName: "name"))
    var customer: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "duration"))
    var duration = "5m"

    @Option(help: ArgumentHelp("Write the messages to this new file, for Wireshark or sngrep.", valueName: "file"))
    var pcap: String?

    @Option(help: ArgumentHelp("Show numbers masked or full.", valueName: "masked|full"))
    var numbers = TraceOrder.Numbers.masked

    @Flag(help: "Show health checks too: OPTIONS outside of calls. --call-id shows them without this.")
    var probes = false

    @OptionGroup var options: ListOptions

    func validate() throws {
        if let problem = query.problem { throw ValidationError(problem) }
    }

    func run() async throws {
        let folder = try options.configuration().runtime
        try await TraceListing(runtimeFolder: folder, query).run(options.form, asJSON: options.json, pcap: pcap)
    }

    private var query: TraceQuery {
        var query = TraceQuery()
        query.number = number
        query.callID = callID
        query.trunk = trunk
        query.customer = customer
        query.duration = duration
        query.numbers = numbers
        query.hasProbes = probes
        return query
    }
}

extension TraceOrder.Numbers: ExpressibleByArgument {}
