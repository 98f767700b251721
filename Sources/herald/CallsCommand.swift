// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import BrandingAPI
import CallAccounting
import Foundation
import GatewayAdmin
import GatewayStore
import UnixSignals

/// `herald calls`: what became of the latest calls, or the whole story of one.
struct CallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "List the latest calls and what became of them, or tell one call's whole story.",
        discussion: """
            Reads the ledger beside a running gateway; the newest call stands last. Times are UTC.

            Examples:
              herald calls --limit 50
              herald calls --number +61255501001 --outcome missed --json
              herald calls --trunk carrier --since 2026-01-31 --until 2026-01-31T12:00:00Z --csv
              herald calls --follow
              herald calls --show a84b4c76e66710@carrier.example
            """)

    @Option(help: "How many of the latest calls.")
    var limit = 20

    @Option(help: "Only calls from or to this number, with + and country code, or from a caller the carrier wrote so.")
    var number: String?

    @Option(help: "Only calls of this trunk.")
    var trunk: String?

    @Option(help: "Only calls that ended so, such as answered or missed; open for calls in progress.")
    var outcome: String?

    @Option(help: ArgumentHelp("Only calls that began then or later: a day or a moment in UTC.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only calls that began then or earlier; of a day all.", valueName: "time"))
    var until: String?

    @Flag(inversion: .prefixedNo, help: "Only calls that left with a brand, or only those without.")
    var branded: Bool?

    @Option(help: ArgumentHelp("Only the call with this SIP Call-ID or call id.", valueName: "id"))
    var callID: String?

    @Option(help: ArgumentHelp("Tell the story of the call with this SIP Call-ID or call id.", valueName: "id"))
    var show: String?

    @Flag(help: "Comma-separated values instead of text.")
    var csv = false

    @Flag(help: "Go on: each call is listed when it has ended, until the command is interrupted.")
    var follow = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
        if let number, !(1...64).contains(number.utf8.count) {
            throw ValidationError(
                "--number must be a number, such as +61255501001, or what the carrier sent instead of one")
        }
        let words = CallOutcome.allCases.map(\.rawValue) + ["OPEN"]
        if let outcome, !words.contains(outcome.uppercased()) {
            let list = words.map { $0.lowercased() }.joined(separator: ", ")
            throw ValidationError("--outcome must be one of \(list)")
        }
        for (name, text) in [("since", since), ("until", until)] {
            if let text, OperatorTime.first(text) == nil {
                throw ValidationError("--\(name) must be a day or a moment in UTC: 2026-01-31 or 2026-01-31T12:00:00Z")
            }
        }
        if csv, options.json { throw ValidationError("--csv and --json exclude each other") }
        if show != nil, csv || follow { throw ValidationError("--show tells one call; --csv and --follow list them") }
    }

    func run() async throws {
        let folder = try options.stateFolder()
        let reader = try CommandFailure.reported { LedgerReader(try HeraldDatabase.ledgerReader(folder: folder)) }
        if let show { return try tell(show, reader) }
        let output = options.json ? CallsOutput.json : csv ? .csv : .table
        // Before the list, so that no call ends unseen between the two.
        let follower = follow ? try CommandFailure.reported { try CallFollower(reader, filter) } : nil
        let calls = try CommandFailure.reported { try reader.calls(matching: filter, limit: limit) }
        if calls.isEmpty, output == .table, !follow { return Output.write("no calls\n") }
        // Newest last: next to the prompt, and as they happened.
        try output.write(follow ? calls.reversed().filter { $0.outcome != nil } : calls.reversed(), titles: true)
        if let follower { try await go(on: follower, output) }
    }

    /// Lists each call when it has ended, until Ctrl-C or SIGTERM.
    private func go(on follower: CallFollower, _ output: CallsOutput) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in signals { return }
            }
            group.addTask {
                var follower = follower
                while true {
                    try await Task.sleep(for: .milliseconds(500))
                    let ended = try CommandFailure.reported { try follower.next() }
                    if !ended.isEmpty { try output.write(ended, titles: false) }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private var filter: LedgerReader.CallFilter {
        var filter = LedgerReader.CallFilter()
        filter.number = number.flatMap { E164Number($0) }
        filter.received = number
        filter.trunk = trunk
        filter.outcome = outcome?.uppercased()
        filter.since = since.flatMap(OperatorTime.first)
        filter.until = until.flatMap(OperatorTime.last)
        filter.isBranded = branded
        filter.callID = callID
        return filter
    }

    private func tell(_ id: String, _ reader: LedgerReader) throws {
        var filter = LedgerReader.CallFilter()
        filter.callID = id
        let calls = try CommandFailure.reported { try reader.calls(matching: filter, limit: limit) }
        guard !calls.isEmpty else {
            throw CommandFailure("there is no call \(TerminalText.visible(id)) in the ledger; see herald calls")
        }
        for call in calls.reversed() {
            if options.json {
                try Output.write(json: call.json.merging(["timeline": call.timelineJSON]) { own, _ in own })
            } else {
                Output.write(CallStory(call).text)
            }
        }
    }
}
