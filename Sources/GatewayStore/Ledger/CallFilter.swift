// SPDX-License-Identifier: Apache-2.0

package import Branding
import CallAccounting

/// The calls to list; nil means any.
package struct CallFilter: Hashable, Sendable {
    /// Caller or called number.
    package var number: E164Number?
    /// A part of the caller as the carrier wrote it, if it is no number.
    ///
    /// Of `number`, `numberEnd` and this, one is enough. A withheld caller has none of them in the ledger.
    package var received: String?
    /// The last digits of the caller's or the called number.
    package var numberEnd: String?
    /// A part of the brand's or the carrier's display name; ASCII letters in upper or lower case.
    package var name: String?
    package var trunk: String?
    package var customer: String?
    /// The signer's provider code in any case, or its first number (`LedgerCallRow.provider`).
    package var provider: String?
    /// An outcome, or `OPEN` for calls in progress.
    package var outcome: String?
    /// SIP Call-ID or call id; of a longer SIP Call-ID the part that the ledger keeps.
    package var callID: String? {
        didSet { callID = callID.map(CallRecord.keptCallID) }
    }
    /// A part of a SIP Call-ID or call id, cut in the same way.
    package var callIDPart: String? {
        didSet { callIDPart = callIDPart.map(CallRecord.keptCallID) }
    }
    /// Seconds since 1970 of the INVITE.
    package var since: Int64?
    package var until: Int64?
    /// Decisions of which a call has one, as the ledger spells them: `matched`, or the text of a `PassThroughReason`.
    package var decisions: Set<String>?
    /// The identifier or the whole name of the brand; ASCII letters in upper or lower case.
    package var brand: String?
    /// Only rows before this one.
    package var before: Int64?
    /// The row in the ledger.
    package var row: Int64?
    /// Rows in the ledger.
    package var rows: Set<Int64>?

    package init() {}

    /// Whether it names certain calls: then those that go on as another call at another gateway are listed too.
    package var namesCalls: Bool { callID != nil || callIDPart != nil || row != nil || rows != nil }
}
