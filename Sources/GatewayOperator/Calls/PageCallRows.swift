// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore

// Rows of the ledger as the pages show them.

extension CallFilter {
    /// Selects a caller or called number as people write it, such as +49 (89) 123-456, or by its last digits.
    mutating func setNumber(asWritten text: String) {
        let written = text.filter { !" ()-./".contains($0) }
        number = E164Number(written)
        received = written
        // Fewer than three digits are the end of too many numbers.
        if number == nil { numberEnd = CallQuery.lastDigits(written, fewest: 3) }
    }
}

extension ListedCall {
    init(_ call: LedgerCallRow) {
        self.init(
            row: call.row, at: call.inviteAt, direction: call.direction, trunk: call.trunk, customer: call.customer,
            caller: PageCaller(call), called: call.destination ?? call.subscriber, brand: call.brandName,
            decision: call.decision,
            outcome: call.outcomeShown, ringSeconds: call.ringSeconds, talkSeconds: call.callSeconds)
    }
}

extension PageCaller {
    fileprivate init(_ call: LedgerCallRow) {
        if call.decision == PassThroughReason.privacy.description {
            self = .withheld
        } else if let number = call.caller {
            self = .number(number)
        } else {
            self = call.callerReceived.map { .unclear($0) } ?? .unknown
        }
    }
}

extension CallStory {
    /// The story for a page.
    var page: PageCallStory {
        PageCallStory(
            id: call.callID, decision: call.decision,
            facts: facts.compactMap { fact in
                fact.value.flatMap { value in
                    value.isEmpty ? nil : .init(name: fact.name, value: value, isNumber: fact.isNumber)
                }
            },
            steps: DecisionSteps(call)?.all ?? [],
            timeline: call.timeline.map { .init(at: $0.at, offset: $0.offset, what: $0.what) },
            events: call.events.map { .init(outcome: $0.outcome, fate: $0.fate) }, isInProgress: call.outcome == nil)
    }
}
