// SPDX-License-Identifier: Apache-2.0

import Branding

/// The kind of a decision, which gives it its colour and its place in a bar; the raw value is the order from below.
enum DecisionKind: Int, Hashable, Sendable, CaseIterable {
    /// The call had a brand.
    case branded
    /// The trunk or the route is in shadow: the brand was found and not written.
    case shadow
    /// The directory has no brand for the number.
    case unknown
    /// The caller's number is withheld, unclear, or of an emergency call.
    case caller
    /// Nobody vouches well enough for the number.
    case trust
    /// The directory has switched branding off, or its records are too old.
    case gate
    case other

    /// - Parameter decision: `matched`, or the text of a `PassThroughReason`.
    init(_ decision: String) {
        guard decision != "matched" else {
            self = .branded
            return
        }
        self = PassThroughReason.allCases.first { $0.description == decision }.map(Self.init) ?? .other
    }

    private init(_ reason: PassThroughReason) {
        self =
            switch reason {
            case .shadow: .shadow
            case .noMatch: .unknown
            case .notAsked: .other
            case .privacy, .numberUnclear, .emergency: .caller
            case .untrusted, .failedVerification, .policy, .nameSource: .trust
            case .stale, .gatedUnauthorised, .gatedAccountStatus, .gatedBrandingDisabled, .gatedVoipDialerDisabled,
                .gatedCapReached:
                .gate
            case .trimmed, .error, .midDialog, .alreadyBranded, .outbound, .signedName: .other
            }
    }

    /// The class of its elements in the style sheet.
    var style: String { "kind-\(self)" }

    /// The decisions in the order of a bar, which no count changes.
    static func ordered(_ decisions: some Sequence<String>) -> [String] {
        let places = Dictionary(
            uniqueKeysWithValues: PassThroughReason.allCases.enumerated().map { ($1.description, $0) })
        return decisions.sorted { one, other in
            (DecisionKind(one).rawValue, places[one] ?? .max, one)
                < (DecisionKind(other).rawValue, places[other] ?? .max, other)
        }
    }
}
