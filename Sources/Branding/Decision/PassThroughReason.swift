// SPDX-License-Identifier: Apache-2.0

/// The reason for forwarding a call without a brand.
///
/// Logs, metrics, events and `herald lookup` use the same names. The raw value is one byte because it crosses the
/// update ring. `description` is the name.
///
/// Both are stored and published: in the ring of an earlier process, in the ledger, in events and in metrics. A case
/// keeps its raw value and its name, and a new case gets the next raw value.
public enum PassThroughReason: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case noMatch = 1
    case privacy
    case untrusted
    case failedVerification
    case numberUnclear
    case stale
    case trimmed
    /// The stored decision is unknown to this version; no call gets it as it begins.
    case error
    case gatedUnauthorised
    case gatedAccountStatus
    case gatedBrandingDisabled
    case gatedVoipDialerDisabled
    case gatedCapReached
    case policy
    case emergency
    case midDialog
    case alreadyBranded
    case outbound
    /// The trunk's source of names excludes the brand's name.
    case nameSource
    /// Signed values were written and none of a brand: the directory has no brand, or one whose name is not taken.
    case signedName
    /// The trunk or the route is in shadow: a brand or a signed value was found, and would have been written.
    case shadow
    /// The PBX that reported the call by a door had not got a name for it.
    case notAsked

    /// True if a gate of the directory is the reason. Such calls are reported as `branding_disabled`.
    public var isGate: Bool {
        switch self {
        case .gatedUnauthorised, .gatedAccountStatus, .gatedBrandingDisabled, .gatedVoipDialerDisabled,
            .gatedCapReached:
            true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .noMatch: "no_match"
        case .privacy: "privacy"
        case .untrusted: "untrusted"
        case .failedVerification: "failed_verification"
        case .numberUnclear: "number_unclear"
        case .stale: "stale"
        case .trimmed: "trimmed"
        case .error: "error"
        case .gatedUnauthorised: "gated:unauthorised"
        case .gatedAccountStatus: "gated:account_status"
        case .gatedBrandingDisabled: "gated:branding_disabled"
        case .gatedVoipDialerDisabled: "gated:voip_dialer_disabled"
        case .gatedCapReached: "gated:cap_reached"
        case .policy: "policy"
        case .emergency: "emergency"
        case .midDialog: "mid_dialog"
        case .alreadyBranded: "already_branded"
        case .outbound: "outbound"
        case .nameSource: "name_source"
        case .signedName: "signed_name"
        case .shadow: "shadow"
        case .notAsked: "not_asked"
        }
    }
}
