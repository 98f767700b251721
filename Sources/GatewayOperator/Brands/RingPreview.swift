// SPDX-License-Identifier: Apache-2.0

/// The question of the preview page: a caller's number on a trunk.
package struct RingQuestion: Hashable, Sendable {
    /// The number as the trunk would write it.
    package var number: String
    /// The name of a trunk; nil for the first.
    package var trunk: String?
    /// The carrier's attestation: `none`, `A`, `B`, `C` or `failed`.
    package var attestation: String
    /// The name of the customer whose brands decide; nil for a call without a customer.
    package var customer: String?

    package init(number: String, trunk: String? = nil, attestation: String = "none", customer: String? = nil) {
        self.number = number
        self.trunk = trunk
        self.attestation = attestation
        self.customer = customer
    }
}

/// A question that has no response; the text has cause and remedy.
package struct RingPreviewProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A call as a phone would show it.
package struct RingPreview: Hashable, Sendable {
    /// The brand on the phone.
    package struct Card: Hashable, Sendable {
        /// Nil if the carrier's name stays.
        package var name: String?
        package var brandID: String?
        package var callReason: String?
        /// The name of the gateway's own copy of the logo; nil without one.
        package var logo: String?
        /// The URL of the logo in Call-Info, or why there is none.
        package var logoText: String

        package init(name: String?, brandID: String?, callReason: String?, logo: String?, logoText: String) {
            self.name = name
            self.brandID = brandID
            self.callReason = callReason
            self.logo = logo
            self.logoText = logoText
        }
    }

    /// In E.164 form; nil if it is not certain which number is meant.
    package var number: String?
    package var trunk: String
    /// The customer whose brands decided; nil for a call without a customer.
    package var customer: String?
    /// Trust, policy and region of the trunk.
    package var conditions: String
    /// `matched`, or the reason for a call without a brand.
    package var decision: String
    /// Nil for a call without a brand.
    package var card: Card?
    /// Header lines of the INVITE from the trunk, and of the INVITE to the PBX.
    package var before: [String]
    package var after: [String]

    package init(
        number: String?, trunk: String, customer: String? = nil, conditions: String, decision: String, card: Card?,
        before: [String], after: [String]
    ) {
        self.number = number
        self.trunk = trunk
        self.customer = customer
        self.conditions = conditions
        self.decision = decision
        self.card = card
        self.before = before
        self.after = after
    }
}
