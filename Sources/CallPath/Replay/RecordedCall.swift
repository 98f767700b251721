// SPDX-License-Identifier: Apache-2.0

public import Branding
public import CallAccounting

/// A stored call from a trunk, as far as its record has the facts that decided it.
///
/// Of a withheld caller the record has no number and no text.
public struct RecordedCall: Sendable {
    /// The configured name of its trunk; nil for a trunk that was not configured at that time.
    public var trunk: String?
    public var caller: E164Number?
    public var called: E164Number?
    /// Nil for a call of a version that stored none.
    public var evidence: DecisionEvidence?
    /// The verdict on its signed header fields; nil for none.
    public var trust: TrustEvidence?
    /// Nil for a call that had a brand.
    public var reason: PassThroughReason?
    /// The carrier's name that the brand's replaced; empty for none, and where none was replaced.
    public var carrierName = ""
    /// Whether several called numbers rang under its Call-ID: the record has one decision for all.
    public var rangSeveral = false

    public init(
        trunk: String?, caller: E164Number? = nil, called: E164Number? = nil, evidence: DecisionEvidence?,
        trust: TrustEvidence? = nil, reason: PassThroughReason?
    ) {
        (self.trunk, self.caller, self.called) = (trunk, caller, called)
        (self.evidence, self.trust, self.reason) = (evidence, trust, reason)
    }
}

/// The reason why a recorded call cannot be decided again; its recorded decision stays.
///
/// The raw value is the name in JSON and CSV.
public enum UndecidedCause: String, Hashable, Sendable, CaseIterable {
    /// The call was stored by an earlier version, without evidence.
    case noEvidence = "no_evidence"
    /// A PBX reported the call by a door.
    case byDoor = "by_door"
    /// The configuration has no trunk of this name.
    case noTrunk = "no_trunk"
    /// Several called numbers rang under one Call-ID.
    case severalParties = "several_parties"
    /// The routes read the called number from another header field.
    case calledField = "called_field"
    /// The trunk reads caller or attestation by other keys.
    case callerKeys = "caller_keys"
    /// The trunk was not trusted, so its claims were not read.
    case untrustedClaims = "untrusted_claims"
    /// The result depends on signed header fields.
    case signature
    /// Branding was off, so marks of emergency calls and replaced dialogs were not recorded.
    case brandingOff = "branding_off"
    /// The result depends on the name that the carrier sent.
    case carrierName = "carrier_name"

    /// The cause as a clause behind a colon.
    public var text: String {
        switch self {
        case .noEvidence: "an earlier version stored it without evidence"
        case .byDoor: "a PBX reported it by a door, and the door's request is not recorded"
        case .noTrunk: "the configuration has no trunk of this name"
        case .severalParties: "several called numbers rang, and the record has one decision for all"
        case .calledField: "routes.called differs, and the other header field is not recorded"
        case .callerKeys: "the trunk reads the caller by other keys, and header fields are not recorded"
        case .untrustedClaims: "the trunk was not trusted, and its identity and attestation are not recorded"
        case .signature: "signed header fields are not recorded"
        case .brandingOff: "branding was off, and marks of emergency calls and replaced dialogs are not recorded"
        case .carrierName: "carrier_name differs, and the carrier's name is not recorded"
        }
    }
}
