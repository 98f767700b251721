// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import BrandingAPI
import Gateway
import GatewayAdmin
import GatewayStore

/// `herald calls`: what became of the latest calls.
struct CallsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "List the latest calls and what became of them.",
        discussion: """
            Reads the ledger beside a running gateway; the newest call stands last. Times are UTC.

            Examples:
              herald calls --limit 50
              herald calls --number +61255501001 --outcome missed --json
            """)

    @Option(help: "How many of the latest calls.")
    var limit = 20

    @Option(help: "Only calls from or to this number, with + and country code.")
    var number: String?

    @Option(help: "Only calls that ended so, such as answered or missed; open for calls in progress.")
    var outcome: String?

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
        if let number, E164Number(number) == nil {
            throw ValidationError("--number must be written with + and country code, such as +61255501001")
        }
        let words = CallOutcome.allCases.map(\.rawValue) + ["OPEN"]
        if let outcome, !words.contains(outcome.uppercased()) {
            let list = words.map { $0.lowercased() }.joined(separator: ", ")
            throw ValidationError("--outcome must be one of \(list)")
        }
    }

    func run() throws {
        var filter = LedgerReader.CallFilter()
        filter.number = number.flatMap { E164Number($0) }
        filter.outcome = outcome?.uppercased()
        let folder = try options.stateFolder()
        let calls = try CommandFailure.reported {
            try LedgerReader(HeraldDatabase.ledgerReader(folder: folder)).calls(matching: filter, limit: limit)
        }
        // Newest last: next to the prompt, and as they happened.
        if options.json {
            for call in calls.reversed() { try Output.write(json: call.json) }
        } else {
            Output.write(Self.table(calls.reversed()))
        }
    }

    private static func table(_ calls: [LedgerCallRow]) -> String {
        guard !calls.isEmpty else { return "no calls\n" }
        var table = TextTable([
            "TIME", "DIRECTION", "TRUNK", "FROM", "TO", "BRAND", "DECISION", "OUTCOME", "RING", "TALK", "EVENTS",
        ])
        for call in calls {
            let isWithheld = call.caller == nil && call.decision == PassThroughReason.privacy.description
            table.add([
                Timestamp.string(from: call.inviteAt / 1_000_000), call.direction, call.trunk,
                isWithheld ? "withheld" : call.caller, call.destination ?? call.subscriber, call.brandName,
                call.decision, call.outcome ?? "open", call.ringSeconds.map { "\($0)s" },
                call.callSeconds.map { "\($0)s" },
                call.events.map { "\($0.outcome) (\($0.state.word))" }.joined(separator: ", "),
            ])
        }
        return table.text
    }
}

extension LedgerCallRow {
    /// The call as `--json` shows it.
    var json: [String: JSONValue?] {
        [
            "call_id": .string(callID), "sip_call_id": .string(sipCallID), "direction": .string(direction),
            "trunk": JSONValue(trunk), "caller": JSONValue(caller), "destination": JSONValue(destination),
            "subscriber": JSONValue(subscriber), "brand_id": JSONValue(brandID), "brand_name": JSONValue(brandName),
            "carrier_name": JSONValue(carrierName),
            "decision": .string(decision), "invite_at": JSONValue(microseconds: inviteAt),
            "progress_at": JSONValue(microseconds: progressAt), "ringing_at": JSONValue(microseconds: ringingAt),
            "answered_at": JSONValue(microseconds: answeredAt), "cancelled_at": JSONValue(microseconds: cancelledAt),
            "ended_at": JSONValue(microseconds: endedAt), "returned_at": JSONValue(microseconds: returnedAt),
            "sip_status": JSONValue(status), "q850_cause": JSONValue(q850Cause), "attempts": .int(attempts),
            "outcome": JSONValue(outcome), "ring_seconds": JSONValue(ringSeconds),
            "call_seconds": JSONValue(callSeconds),
            "events": .array(events.map { .object($0.json.compactMapValues { $0 }) }),
        ]
    }
}
