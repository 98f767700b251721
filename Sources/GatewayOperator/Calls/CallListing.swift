// SPDX-License-Identifier: Apache-2.0

import CallPath
package import ConfigurationFiles
import GatewayConfiguration
import GatewayStore
import Host
import Primitives
import SIPCore
import UnixSignals

/// `herald calls`: lists calls of the ledger, follows those that end, or prints the timeline of one call.
package struct CallListing {
    private let reader: LedgerReader
    private let shared: SharedCalls?
    private let query: CallQuery
    private let output: CallsOutput
    private let hasCustomers: Bool
    /// Nil if the command may not read it: calls of withheld callers are then not found by their Call-ID.
    private let secret: Secret?

    /// Opens the ledger for reading, beside a running gateway.
    ///
    /// - Throws: `CommandFailure` when the ledger cannot be read, and for a name that no customer and no call has.
    package init(
        _ configuration: HeraldConfiguration, _ query: CallQuery, _ output: CallsOutput, shared: SharedCalls? = nil
    ) throws {
        self.shared = shared
        reader = try CommandFailure.reported {
            LedgerReader(try HeraldDatabase.ledgerReader(folder: configuration.state))
        }
        self.query = query
        self.output = output
        hasCustomers = !configuration.customers.isEmpty
        secret = configuration.storedSecret
        guard let customer = query.customer, let problem = configuration.knownCustomers.problem(of: customer) else {
            return
        }
        // Calls of a removed customer are found by its name.
        var filter = CallFilter()
        filter.customer = customer
        guard try !read(filter, limit: 1).isEmpty else { throw CommandFailure(problem) }
    }

    /// Writes the selected calls, the newest last.
    package func list() throws {
        let calls = try found()
        if calls.isEmpty, output == .table { return Output.write("no calls\n") }
        try write(calls, titles: true)
    }

    /// Writes the selected calls that have ended, then each call when it ends, until SIGINT or SIGTERM.
    package func follow() async throws {
        // Opened before the list, so that a call that ends between the two is not missed.
        let follower = try CommandFailure.reported { try CallFollower(reader, query.filter) }
        try write(try found().filter { $0.outcome != nil }, titles: true)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        try await firstOf(
            { for await _ in signals { return } },
            { [output, hasCustomers] in
                var follower = follower
                while true {
                    try await Task.sleep(for: .milliseconds(500))
                    let ended = try CommandFailure.reported { try follower.next() }
                    if !ended.isEmpty { try output.write(ended, titles: false, hasCustomers: hasCustomers) }
                }
            })
    }

    /// Writes every selected call with its timeline.
    ///
    /// - Throws: `CommandFailure` when the ledger has no such call.
    package func show() throws {
        var calls = try found()
        if calls.isEmpty { calls = try foundByPart() }
        for call in calls {
            if output == .json {
                try Output.write(
                    json: call.json.merging(["evidence": call.evidenceJSON, "timeline": call.timelineJSON]) { own, _ in
                        own
                    })
            } else {
                Output.write(CallStory(call).text)
            }
        }
    }

    private func write(_ calls: [LedgerCallRow], titles: Bool) throws {
        try output.write(calls, titles: titles, hasCustomers: hasCustomers)
    }

    /// The one call with a part of its Call-ID.
    private func foundByPart() throws -> [LedgerCallRow] {
        var filter = CallFilter()
        filter.callIDPart = query.callID
        filter.customer = query.customer
        let calls = try read(filter, limit: 2)
        let id = TerminalText.visible(query.callID ?? "")
        guard !calls.isEmpty else { throw CommandFailure("there is no call \(id) in the ledger; see herald calls") }
        guard calls.count == 1 else {
            throw CommandFailure("several calls have \(id) in their Call-ID; see herald calls --call-id '\(id)'")
        }
        return calls
    }

    /// The selected calls, the newest last: next to the prompt.
    private func found() throws -> [LedgerCallRow] {
        try read(query.filter, limit: query.limit).reversed()
    }

    /// Calls of all gateways, or of this one if the shared ledger cannot be read.
    private func read(_ filter: CallFilter, limit: Int) throws -> [LedgerCallRow] {
        let calls = try readAsWritten(filter, limit: limit)
        guard calls.isEmpty, let secret else { return calls }
        for filter in filter.ofWithheldCallers(secret) {
            let calls = try readAsWritten(filter, limit: limit)
            if !calls.isEmpty { return calls }
        }
        return []
    }

    private func readAsWritten(_ filter: CallFilter, limit: Int) throws -> [LedgerCallRow] {
        if let calls = shared?.calls(matching: filter, limit: limit) { return calls }
        return try CommandFailure.reported { try reader.calls(matching: filter, limit: limit) }
    }
}

extension CallFilter {
    /// The same search for the Call-ID of a withheld caller, of which the ledger has a keyed hash; none without a Call-ID.
    func ofWithheldCallers(_ secret: Secret) -> [CallFilter] {
        guard let callID = callID ?? callIDPart else { return [] }
        return WithheldCallID.names(of: callID, secret).map { name in
            var filter = self
            (filter.callID, filter.callIDPart) = (name, nil)
            return filter
        }
    }
}
