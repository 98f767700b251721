// SPDX-License-Identifier: Apache-2.0

/// The question of the preview page: a caller's number on a trunk.
struct RingQuestion: Hashable, Sendable {
    /// The number as the trunk would write it.
    var number: String
    /// The name of a trunk; nil for the first.
    var trunk: String?
    /// The carrier's attestation.
    var attestation = Attestation.none
    /// The name of the customer whose brands decide; nil for a call without a customer.
    var customer: String?
}

/// A question that has no response; the text has cause and remedy.
struct RingPreviewProblem: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A call as a phone would show it.
struct RingPreview: Hashable, Sendable {
    /// The brand on the phone.
    struct Card: Hashable, Sendable {
        /// Nil if the carrier's name stays.
        var name: String?
        var brandID: String?
        var callReason: String?
        /// The name of the gateway's own copy of the logo; nil without one.
        var logo: String?
        /// The URL of the logo in Call-Info, or why there is none.
        var logoText: String
    }

    /// In E.164 form; nil if it is not certain which number is meant.
    var number: String?
    var trunk: String
    /// The customer whose brands decided; nil for a call without a customer.
    var customer: String?
    /// Trust, policy and region of the trunk.
    var conditions: String
    /// `matched`, or the reason for a call without a brand.
    var decision: String
    /// Nil for a call without a brand.
    var card: Card?
    /// Header lines of the INVITE from the trunk, and of the INVITE to the PBX.
    var before: [String]
    var after: [String]
}
