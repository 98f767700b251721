// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
package import ConfigurationFiles
package import Logging
import Primitives

/// Logs a line for each ended call, with its Call-ID and its outcome.
///
/// A queue writes the lines, so the recorder waits for no terminal and no journal.
package final class EndedCallLog: Sendable {
    /// Largest number of lines that wait.
    static let most = 10_000

    private let logger: Logger
    private let numbers: LogSettings.Numbers
    private let links: CallLinks
    private let queue: LogQueue

    /// Nil where `log.calls` or `log.level` excludes the lines.
    ///
    /// - Parameter links: the addresses of the calls' pages.
    package init?(_ settings: LogSettings, links: CallLinks, logger: Logger = Logger(label: "herald.calls")) {
        guard settings.hasCalls, logger.logLevel <= .info else { return nil }
        self.logger = logger
        numbers = settings.numbers
        self.links = links
        queue = LogQueue(label: "herald.calls", most: Self.most) { leftOut in
            logger.warning(
                "lines of ended calls were left out: they come faster than they can be written; see log.calls",
                metadata: ["calls": "\(leftOut)"])
        }
    }

    /// Adds ended calls; any thread, does not wait.
    package func append(_ calls: [CallRecord]) {
        queue.append(calls.count) { [logger, numbers, links] taken in
            for call in calls.prefix(taken) {
                logger.info("call ended", metadata: Self.metadata(call, numbers, links))
            }
        }
    }

    /// The fields of a line; text from the network is escaped.
    static func metadata(
        _ call: CallRecord, _ numbers: LogSettings.Numbers, _ links: CallLinks
    ) -> Logger.Metadata {
        var line: Logger.Metadata = [
            "call_id": "\(TerminalText.visible(call.sipCallID))",
            "direction": call.direction == .inbound ? "inbound" : "outbound",
            "decision": "\(call.decision)", "outcome": "\(call.outcome?.rawValue ?? "OPEN")",
        ]
        if let trunk = call.trunk { line["trunk"] = "\(trunk)" }
        if let customer = call.customer { line["customer"] = "\(customer)" }
        if let seconds = call.ringSeconds { line["ring"] = "\(seconds)" }
        if let seconds = call.callSeconds { line["talk"] = "\(seconds)" }
        if call.status > 0 { line["status"] = "\(call.status)" }
        if let from = from(call, numbers) { line["from"] = "\(TerminalText.visible(from))" }
        let called = call.destination?.description ?? (call.direction == .inbound ? call.subscriber : "")
        if let to = shown(called, numbers) { line["to"] = "\(TerminalText.visible(to))" }
        if let link = links.link(call.call.description) { line["link"] = "\(link)" }
        return line
    }

    private static func from(_ call: CallRecord, _ numbers: LogSettings.Numbers) -> String? {
        // The record of a withheld caller has no number; the line has the word.
        if call.reason == .privacy { return "withheld" }
        return shown(call.caller?.description ?? call.callerReceived ?? "", numbers)
    }

    /// A number in the form of `log.numbers`; nil where it is left out.
    static func shown(_ number: String, _ numbers: LogSettings.Numbers) -> String? {
        NumberDisplay(numbers).shown(number)
    }
}

extension NumberDisplay {
    /// The form that `log.numbers` names.
    init(_ numbers: LogSettings.Numbers) {
        switch numbers {
        case .masked: self = .masked
        case .full: self = .full
        case .none: self = .none
        }
    }
}
