// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConfigurationFiles
import GatewayOperator
import Host

/// `herald test-call`.
struct TestCallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-call",
        abstract: "Place one call through the running gateway to the PBX, and show what the phone got.",
        discussion: """
            The command is the caller. The call takes the way of a carrier's call, by the rules of a trunk, to the PBX \
            alone. It has no record, no event, no webhook and no count, and no emergency number is called. The ladder \
            appears as it grows. Below it are the INVITE with its changed lines, the decision and the outcome. Uses the \
            control socket in gateway.runtime. One test runs at a time; Ctrl-C ends the call.

            The exit code is 0 for the expected outcome, 2 for another one, and 130 for a call that was ended early. \
            Without --expect it is 0 when a phone rang or somebody answered.

            --sipp writes scripts of a carrier and a PBX for SIPp with the addresses of the configuration. It places no \
            call.

            Examples:
              herald test-call --to +61255502000
              herald test-call --to 2001 --from +61255501001 --trunk carrier --expect answered
              herald test-call --to 2001 --expect returned --wait 2m
              herald test-call --to 2001 --sipp ./sipp
            """)

    @Option(help: ArgumentHelp("The called number, as the carrier writes it.", valueName: "number"))
    var to: String

    @Option(help: ArgumentHelp("The caller; by default the lowest number with a brand.", valueName: "number"))
    var from: String?

    @Option(help: ArgumentHelp("The trunk whose rules hold; by default the first.", valueName: "name"))
    var trunk: String?

    @Option(help: ArgumentHelp("What the carrier attests of the caller.", valueName: "none|A|B|C|failed"))
    var attestation = Attestation.none

    @Option(
        help: ArgumentHelp("The outcome to end with 0.", valueName: "answered|missed|declined|returned"))
    var expect: TestCallWish.Expectation?

    @Option(help: ArgumentHelp("Ringing time before the caller gives up.", valueName: "time"))
    var ring = "15s"

    @Option(help: ArgumentHelp("Time from the 2xx to the BYE.", valueName: "time"))
    var talk = "3s"

    @Option(help: ArgumentHelp("Time for the call back of --expect returned.", valueName: "time"))
    var wait = "60s"

    @Option(help: ArgumentHelp("Write scripts for SIPp into this new folder instead.", valueName: "folder"))
    var sipp: String?

    @OptionGroup var options: ListOptions

    func validate() throws {
        if let problem = try wish().problem { throw ValidationError(problem) }
    }

    func run() async throws {
        let wish = try wish()
        if let sipp {
            let scripts = try SIPpScripts(try options.configuration(), wish)
            return try scripts.write(to: sipp)
        }
        let isJSON = options.json
        let call = TestCallRun(runtimeFolder: try options.configuration().runtime, wish, options.form) { text in
            if !isJSON { Output.write(text) }
        }
        let report = try await call.run()
        if isJSON { try Output.write(json: report.json) } else { Output.write(report.text) }
        if report.exitStatus != 0 { throw ExitCode(report.exitStatus) }
    }

    private func wish() throws -> TestCallWish {
        var wish = TestCallWish(to: to)
        (wish.trunk, wish.from, wish.attestation, wish.expectation) = (trunk, from, attestation, expect)
        wish.ring = try Self.seconds(ring, of: "--ring")
        wish.talk = try Self.seconds(talk, of: "--talk")
        wish.wait = try Self.seconds(wait, of: "--wait")
        return wish
    }

    private static func seconds(_ text: String, of option: String) throws -> Int {
        Int(clamping: try OperatorOptions.duration(text, of: option).components.seconds)
    }
}

extension TestCallWish.Expectation: ExpressibleByArgument {}
