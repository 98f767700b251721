// SPDX-License-Identifier: Apache-2.0

package import CallAccounting
import CallPath
package import ConfigurationFiles
package import GatewayStore
import Host

extension HeraldConfiguration {
    /// Trunk names by the mark that call updates carry.
    ///
    /// - Throws: `CommandFailure` when two names have the same mark.
    func trunkNames() throws -> [UInt16: String] {
        var names: [UInt16: String] = [:]
        for trunk in trunks {
            if let other = names.updateValue(trunk.name, forKey: TrunkPeer.mark(of: trunk.name)) {
                throw CommandFailure(
                    "the trunks \(other) and \(trunk.name) have the same mark in the ledger; rename one of them")
            }
        }
        return names
    }

    /// Customer names by the mark that call updates and cookies carry.
    ///
    /// - Throws: `CommandFailure` when two names have the same mark.
    func customerNames() throws -> CustomerNames {
        var names: [UInt32: String] = [:]
        for customer in customers {
            if let other = names.updateValue(customer.name, forKey: CallCustomer.mark(of: customer.name)) {
                throw CommandFailure(
                    "the customers \(other) and \(customer.name) have the same mark; rename one of them")
            }
        }
        return CustomerNames(names)
    }

    /// The rule by which calls of a PBX are calls back.
    package var returnPolicy: ReturnPolicy {
        var policy = ReturnPolicy(
            window: outcomes.returnedWindow.components.seconds,
            originals: .init(outcomes.returnedOriginals), groups: outcomes.subscribers)
        policy.customers = customers.reduce(into: [:]) { $0[$1.name] = $1.subscribers }
        return policy
    }

    /// How the recorder stores calls and which events it creates.
    package func recorderSettings() throws -> OutcomeRecorder.Settings {
        var settings = OutcomeRecorder.Settings()
        settings.vocabulary = outcomes.eventVocabulary
        settings.returns = returnPolicy
        settings.limits = CallStateMachine.Limits(
            answered: outcomes.maxCallDuration.components.seconds, timerC: timers.c.components.seconds)
        settings.limits.redial = Int64(outcomes.retryWindow / .microseconds(1))
        // Without PostgreSQL for longer, a further attempt at another gateway is a call of its own.
        if cluster?.ledger != nil, settings.limits.redial > 0 { settings.limits.sharedRedial = 60_000_000 }
        // Siblings repeat a report after two seconds.
        if cluster != nil { settings.limits.siblingReport = 4_000_000 }
        settings.trunks = try trunkNames()
        settings.customers = try customerNames()
        settings.isShared = cluster?.ledger != nil
        settings.maxBytes = outcomes.maxSize
        settings.outputs = outcomes.outputs
        settings.hasDirectory = directory != nil || !customers.isEmpty
        // Retention is in whole days, rounded up.
        settings.retentionDays = Int((outcomes.retention / .seconds(86_400)).rounded(.up))
        return settings
    }
}

extension HeraldConfiguration.Outcomes {
    /// The operator's own outputs of ended calls.
    var outputs: [CallOutputSink] {
        (recordFile == nil ? [] : [.file]) + (webhook == nil ? [] : [.webhook]) + (kafka == nil ? [] : [.kafka])
    }

    /// The words that events use.
    fileprivate var eventVocabulary: EventVocabulary {
        var words = EventVocabulary()
        words.surface = surface
        words.noMatchShare = noMatchShare
        words.displayed = vocabulary["displayed"] ?? words.displayed
        words.callSeen = vocabulary["call_seen"] ?? words.callSeen
        words.missed = vocabulary["missed"] ?? words.missed
        words.returned = vocabulary["returned"] ?? words.returned
        words.brandingDisabled = vocabulary["branding_disabled"] ?? words.brandingDisabled
        words.error = vocabulary["error"] ?? words.error
        words.noMatch = vocabulary["no_match"] ?? words.noMatch
        return words
    }
}

extension ReturnPolicy.Originals {
    fileprivate init(_ originals: HeraldConfiguration.Originals) {
        switch originals {
        case .unanswered: self = .unanswered
        case .any: self = .any
        }
    }
}
