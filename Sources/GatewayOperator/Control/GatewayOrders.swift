// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import Foundation
import Host
package import Primitives

/// The commands for a running gateway: `herald status`, `reload`, `drain`, `log-level`, `targets` and
/// `logos fetch`.
///
/// Each waits for the gateway's response and writes it to standard output.
package struct GatewayOrders: Sendable {
    private let client: ControlClient
    private let asJSON: Bool

    /// - Parameter runtimeFolder: the folder of the control socket.
    package init(runtimeFolder: String, asJSON: Bool) {
        client = ControlClient(folder: runtimeFolder)
        self.asJSON = asJSON
    }

    /// Writes the state of the gateway.
    package func status() async throws {
        let state = try await ordered { try await client.state() }
        if asJSON { return try Output.write(json: state) }
        Output.write(sentences: StatusText(state).text, behind: StatusText.columns)
    }

    /// Reads the configuration again.
    ///
    /// - Throws: `CommandFailure` with the problems of a refused file.
    package func reload() async throws {
        let reload = try await ordered { try await client.reload() }
        if asJSON { try Output.write(json: reload) }
        guard reload.applied else {
            throw CommandFailure(
                "the gateway refused the configuration and keeps the old one:\n"
                    + Self.visibleLines(reload.problem ?? "no reason given"))
        }
        if !asJSON { Output.write(reload.text) }
    }

    /// Writes what a reload would change.
    ///
    /// - Throws: `CommandFailure` with the problems of a file that would be refused.
    package func planReload() async throws {
        let plan = try await ordered { try await client.planReload() }
        try write(plan, plan.text)
        guard let problem = plan.problem else { return }
        throw CommandFailure("the gateway would refuse the configuration:\n" + Self.visibleLines(problem))
    }

    /// Rejects new calls, or takes them again.
    ///
    /// - Parameters:
    ///   - waits: returns when no call is in progress any more.
    ///   - longest: the longest wait; nil for no end.
    /// - Throws: `CommandFailure` when calls remain after the longest wait, or when somebody ends the drain meanwhile.
    package func drain(_ isOn: Bool, waits: Bool = false, longest: Duration? = nil) async throws {
        var state = try await ordered { try await client.drain(isOn) }
        if isOn, waits {
            let progress = ProgressLine.standard
            defer { progress.end() }
            let deadline = longest.map { ContinuousClock.now + $0 }
            while state.callsInProgress > 0 {
                progress.show("draining: \(state.callsInProgress) calls in progress")
                if let deadline, ContinuousClock.now >= deadline {
                    progress.end()
                    throw CommandFailure(
                        "\(state.callsInProgress) calls are still in progress; the gateway goes on draining, "
                            + "herald drain --off takes calls again")
                }
                try await Task.sleep(for: .milliseconds(500))
                state = try await ordered { try await client.state() }
                guard state.gateway.isDraining else {
                    progress.end()
                    throw CommandFailure("somebody ended the drain: the gateway takes new calls again")
                }
            }
        }
        try write(state, state.drainText)
    }

    /// Writes the level of the log.
    package func logLevel() async throws {
        let level = try await ordered { try await client.logLevel() }
        try write(level, level.text)
    }

    /// Sets the level of the log.
    ///
    /// - Parameters:
    ///   - level: nil returns to that of the configuration.
    ///   - time: the time until it returns by itself; nil for no end.
    package func setLogLevel(_ level: String?, for time: Duration?) async throws {
        let seconds = time.map { Int($0 / .seconds(1)) }
        let result = try await ordered { try await client.setLogLevel(level, seconds: seconds) }
        try write(result, result.text)
    }

    /// Writes the targets of calls.
    package func targets(_ form: TableForm) async throws {
        let targets = try await ordered { try await client.targets() }
        if asJSON {
            for target in targets { try Output.write(json: target) }
        } else {
            Output.write(Self.table(of: targets, form, at: Int64(Date().timeIntervalSince1970)))
        }
    }

    /// Takes a target out of service or back, and writes its state.
    package func setTarget(_ name: String, isDisabled: Bool) async throws {
        let target = try await ordered { try await client.setTarget(name, isDisabled: isDisabled) }
        try write(target, Self.table(of: [target], .narrow, at: Int64(Date().timeIntervalSince1970)))
    }

    /// Fetches logos again, and writes how many.
    ///
    /// - Parameters:
    ///   - url: the only logo; nil for all.
    ///   - clears: removes their copies first.
    ///   - customer: the customer whose brands name them; nil for those of calls without a customer.
    package func renewLogos(_ url: String?, clears: Bool, customer: String?) async throws {
        let result = try await ordered { try await client.renewLogos(url, clears: clears, customer: customer) }
        try write(result, result.text)
    }

    static func table(of targets: [GatewayStatus.Target], _ form: TableForm, at now: Int64) -> String {
        var table = TextTable(
            ["GROUP", "ADDRESS", "STATE", "SINCE", "LAST RESPONSE", "CALLS", "CALLS SENT", "CAUSE"], form,
            whole: ["ADDRESS", "STATE"], wideOnly: ["LAST RESPONSE", "CALLS SENT"])
        for target in targets {
            table.add([
                target.group, target.address, target.state == "up" && !target.takesCalls ? "down" : target.state,
                target.since.map { "\(AgeText.text(now - $0)) ago" } ?? "the start",
                target.lastResponse.map { "\(AgeText.text(now - $0)) ago" } ?? "never",
                "\(target.calls)", "\(target.callsSent)", target.cause,
            ])
        }
        return table.text
    }

    private func ordered<Value>(_ order: () async throws -> Value) async throws(CommandFailure) -> Value {
        do {
            return try await order()
        } catch {
            throw CommandFailure(Self.visibleLines("\(error)"))
        }
    }

    private func write(_ value: some Encodable, _ text: String) throws {
        if asJSON { try Output.write(json: value) } else { Output.write(text) }
    }

    private static func visibleLines(_ text: String) -> String {
        text.split(separator: "\n").map { TerminalText.visible(String($0)) }.joined(separator: "\n")
    }
}

extension ControlledLogos {
    /// The result in a line.
    var text: String {
        let count = logos == 1 ? "1 logo is" : "\(logos) logos are"
        return (cleared ? "copies removed; " : "") + "\(count) fetched again; herald logos shows the result\n"
    }
}

extension ControlledReload {
    /// The result in a line.
    var text: String {
        guard applied else { return "refused: \(TerminalText.visible(problem ?? ""))\n" }
        guard !waiting.isEmpty else { return "the configuration is in force\n" }
        return
            "the configuration is in force, except for \(waiting.joined(separator: ", ")): restart herald for these\n"
    }
}

extension ControlledState {
    /// The state of the drain in a line.
    var drainText: String {
        let calls = "\(callsInProgress) call\(callsInProgress == 1 ? "" : "s") in progress"
        return gateway.isDraining
            ? "draining: new calls get 503 except emergency calls; \(calls)\n"
            : "not draining: new calls are taken; \(calls)\n"
    }
}

extension ControlledLogLevel {
    /// The level and its end in a line.
    var text: String {
        guard level != configured || until != nil else { return "\(level)\n" }
        let end = until.map { " until \(OperatorTime.text($0))" } ?? " until the next start"
        return "\(level)\(end), then \(configured)\n"
    }
}
