// SPDX-License-Identifier: Apache-2.0

// Calls as the pages get them from the ledger.

/// The calls that a page asks for; nil means any.
package struct CallSearch: Hashable, Sendable {
    /// A number, its last digits, or a part of what the carrier sent instead of one.
    package var number: String?
    /// A part of the brand's or the carrier's display name.
    package var name: String?
    /// A part of a SIP Call-ID or call id.
    package var callID: String?
    package var trunk: String?
    /// The name of a customer.
    package var customer: String?
    /// An outcome, or `OPEN` for calls in progress.
    package var outcome: String?
    package var isBranded: Bool?
    /// Seconds since 1970 of the INVITE.
    package var since: Int64?
    package var until: Int64?
    /// Only calls of earlier rows.
    package var before: Int64?
    /// Largest number of calls.
    package var limit = 50

    package init() {}
}

/// The caller of a call, as far as the ledger knows it.
package enum PageCaller: Hashable, Sendable {
    /// A number in E.164 form with plus sign.
    case number(String)
    /// The text of the carrier, which is no certain number.
    case unclear(String)
    case withheld
    case unknown
}

/// One row of the list of calls.
package struct ListedCall: Hashable, Sendable {
    /// The row in the ledger, which names the call in the address of its page.
    package var row: Int64
    /// Microseconds since 1970 of the INVITE.
    package var at: Int64
    /// `inbound` or `outbound`.
    package var direction: String
    package var trunk: String?
    /// Nil for a call without a customer.
    package var customer: String?
    package var caller: PageCaller
    /// The called number, or the user of the PBX.
    package var called: String?
    package var brand: String?
    /// `matched`, or the reason for a call without a brand.
    package var decision: String
    /// The outcome with its answerer, forwarding and attempts.
    package var outcome: String
    package var ringSeconds: Int?
    package var talkSeconds: Int?

    package init(
        row: Int64, at: Int64, direction: String, trunk: String?, customer: String? = nil, caller: PageCaller,
        called: String?, brand: String?, decision: String, outcome: String, ringSeconds: Int?, talkSeconds: Int?
    ) {
        self.row = row
        self.at = at
        self.direction = direction
        self.trunk = trunk
        self.customer = customer
        self.caller = caller
        self.called = called
        self.brand = brand
        self.decision = decision
        self.outcome = outcome
        self.ringSeconds = ringSeconds
        self.talkSeconds = talkSeconds
    }
}

/// The story of one call.
package struct PageCallStory: Hashable, Sendable {
    /// A fact with its name; `isNumber` for telephone numbers, which pages may mask.
    package struct Fact: Hashable, Sendable {
        package var name: String
        package var value: String
        package var isNumber: Bool

        package init(name: String, value: String, isNumber: Bool = false) {
            self.name = name
            self.value = value
            self.isNumber = isNumber
        }
    }

    /// A step of the branding decision with its finding, which may have a telephone number inside.
    package struct Step: Hashable, Sendable {
        package var name: String
        package var before: String
        /// A number, or the text of the carrier instead of one; pages may mask it.
        package var number: String?
        package var after: String

        package init(name: String, before: String, number: String? = nil, after: String = "") {
            (self.name, self.before, self.number, self.after) = (name, before, number, after)
        }

        /// The whole finding.
        ///
        /// - Parameter shown: the form in which the reader may see the number.
        package func finding(shown: (String) -> String) -> String { before + (number.map(shown) ?? "") + after }
    }

    /// One event in the course of the call.
    package struct Moment: Hashable, Sendable {
        /// Microseconds since 1970.
        package var at: Int64
        /// Seconds after the INVITE, with milliseconds.
        package var offset: String
        package var what: String

        package init(at: Int64, offset: String, what: String) {
            self.at = at
            self.offset = offset
            self.what = what
        }
    }

    /// An event for the directory, and what became of it.
    package struct Event: Hashable, Sendable {
        package var outcome: String
        package var fate: String

        package init(outcome: String, fate: String) {
            self.outcome = outcome
            self.fate = fate
        }
    }

    /// The call id.
    package var id: String
    /// `matched`, or the reason for a call without a brand.
    package var decision: String
    package var facts: [Fact]
    /// The evidence of the decision; empty if none was kept.
    package var steps: [Step]
    package var timeline: [Moment]
    package var events: [Event]
    package var isInProgress: Bool

    package init(
        id: String, decision: String, facts: [Fact], steps: [Step] = [], timeline: [Moment], events: [Event],
        isInProgress: Bool
    ) {
        self.id = id
        self.decision = decision
        self.facts = facts
        self.steps = steps
        self.timeline = timeline
        self.events = events
        self.isInProgress = isInProgress
    }
}
