// SPDX-License-Identifier: Apache-2.0

// Calls as the pages get them from the ledger.

/// The caller of a call, as far as the ledger knows it.
enum PageCaller: Hashable, Sendable {
    /// A number in E.164 form with plus sign.
    case number(String)
    /// The text of the carrier, which is no certain number.
    case unclear(String)
    case withheld
    case unknown
}

/// One row of the list of calls.
struct ListedCall: Hashable, Sendable {
    /// The row in the ledger, which names the call in the address of its page.
    var row: Int64
    /// Microseconds since 1970 of the INVITE.
    var at: Int64
    /// `inbound` or `outbound`.
    var direction: String
    var trunk: String?
    /// Nil for a call without a customer.
    var customer: String?
    var caller: PageCaller
    /// The called number, or the user of the PBX.
    var called: String?
    var brand: String?
    /// `matched`, or the reason for a call without a brand.
    var decision: String
    /// The outcome with its answerer, forwarding and attempts.
    var outcome: String
    var ringSeconds: Int?
    var talkSeconds: Int?
}

/// The story of one call.
struct PageCallStory: Hashable, Sendable {
    /// A fact with its name; `isNumber` for telephone numbers, which pages may mask.
    struct Fact: Hashable, Sendable {
        var name: String
        var value: String
        var isNumber: Bool = false
    }

    /// A step of the branding decision with its finding, which may have a telephone number inside.
    struct Step: Hashable, Sendable {
        var name: String
        var before: String
        /// A number, or the text of the carrier instead of one; pages may mask it.
        var number: String?
        var after: String = ""

        /// The whole finding.
        ///
        /// - Parameter shown: the form in which the reader may see the number.
        func finding(shown: (String) -> String) -> String { before + (number.map(shown) ?? "") + after }
    }

    /// One event in the course of the call.
    struct Moment: Hashable, Sendable {
        /// Microseconds since 1970.
        var at: Int64
        /// Seconds after the INVITE, with milliseconds.
        var offset: String
        var what: String
    }

    /// An event for the directory, and what became of it.
    struct Event: Hashable, Sendable {
        var outcome: String
        var fate: String
    }

    /// The call id.
    var id: String
    /// `matched`, or the reason for a call without a brand.
    var decision: String
    var facts: [Fact]
    /// The evidence of the decision; empty if none was kept.
    var steps: [Step] = []
    var timeline: [Moment]
    var events: [Event]
    var isInProgress: Bool
}
