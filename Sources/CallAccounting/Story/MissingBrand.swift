// SPDX-License-Identifier: Apache-2.0

public import Branding

/// The reason why a call has no brand of the directory, and its remedy; docs/reasons.md has the details.
public struct MissingBrand: Hashable, Sendable {
    public let reason: PassThroughReason
    /// Nil explains the reason without a call.
    private let evidence: DecisionEvidence?
    private let trunk: String
    private let number: StoryText

    /// - Parameters:
    ///   - trunk: its configured name; nil for any.
    ///   - evidence: the findings of the call; nil for any.
    ///   - caller: the caller's number; nil for any.
    public init(
        _ reason: PassThroughReason, trunk: String? = nil, evidence: DecisionEvidence? = nil, caller: StoryText? = nil
    ) {
        (self.reason, self.evidence) = (reason, evidence)
        self.trunk = trunk.map { "trunk \($0)" } ?? "the trunk"
        number = caller ?? "the number"
    }

    /// The cause and the remedy.
    public var text: StoryText { "\(cause) \(remedy)" }

    /// The cause as a clause behind `because`.
    public var because: String {
        switch reason {
        case .noMatch: "the directory has none for the number"
        case .privacy: "the caller withholds the number"
        case .untrusted: "\(trunk) is not trusted"
        case .failedVerification: "the check of the number failed"
        case .numberUnclear: "the caller's number is not certain"
        case .stale: "the stored brands are too old"
        case .trimmed: "the name did not fit into a datagram of the PBX"
        case .error: "the decision is of another version"
        case .policy: becauseOfPolicy
        case .emergency: "it is an emergency or priority call"
        case .midDialog: "the INVITE belongs to another call"
        case .alreadyBranded: "the INVITE passed this gateway before"
        case .outbound: "the call came from the PBX"
        case .nameSource: "name_source of \(trunk) excludes the brand's name"
        case .signedName: "the signature's values were written"
        case .shadow: "brands: shadow is set for \(trunk) or the route"
        case .notAsked: "the PBX did not ask for the name"
        case .gatedUnauthorised: "the directory refuses the key"
        case .gatedAccountStatus: "the account is not active"
        case .gatedBrandingDisabled: "the directory switched branding off"
        case .gatedVoipDialerDisabled: "voip_dialer_enabled is false at the directory"
        case .gatedCapReached: "the calls of this month are used up"
        }
    }

    private var becauseOfPolicy: String {
        switch obstacle {
        case nil, .attestation: "the policy requires a better attestation"
        case .switchedOff: "branding is off here"
        case .trunk: "\(trunk) has no brands"
        case .route: "the route of the called number has no brands"
        case .carrierName: "the carrier's name stays, and the brand has neither logo nor reason"
        }
    }

    /// The cause in a sentence.
    public var cause: StoryText {
        switch reason {
        case .noMatch: "The directory has no brand for the number."
        case .privacy: "The caller withheld the number."
        case .untrusted: "\(capital(trunk)) is not trusted, and no signature vouches for the number."
        case .failedVerification: "The check of the number failed, by \(checker)."
        case .numberUnclear:
            if evidence?.header == DecisionEvidence.Header.none {
                "No header field names the caller."
            } else {
                """
                The number is missing, cannot exist in the region of \(trunk), or may belong to several countries.
                """
            }
        case .stale: "The records are older than their lifetime."
        case .trimmed: "The name did not fit into the PBX's largest datagram."
        case .error: "The decision was stored by another version."
        case .policy: causeOfPolicy
        case .emergency: "An emergency call, a callback of an emergency centre or a priority call."
        case .midDialog: "The INVITE began no call: it replaces another or belongs to one."
        case .alreadyBranded: "The INVITE passed this gateway before."
        case .outbound: "The call came from the PBX."
        case .nameSource:
            """
            name_source of \(trunk) excludes the brand's name: the call has no verified signed name, or another one.
            """
        case .signedName:
            """
            Name or reason of the call's signature were written. The directory has no brand for the number, or one of \
            another name.
            """
        case .shadow:
            "\(capital(trunk)) or the route of the called number has brands: shadow. The brand was found and not written."
        case .notAsked:
            "The PBX reported the call, and no door gave it a name when the call began. The number has a brand."
        case .gatedUnauthorised: "The directory refused the key."
        case .gatedAccountStatus: "The account is suspended, closed or cancelled."
        case .gatedBrandingDisabled: "The directory switched branding off."
        case .gatedVoipDialerDisabled: "voip_dialer_enabled is false at the directory."
        case .gatedCapReached: "The calls of this month are used up."
        }
    }

    private var causeOfPolicy: StoryText {
        switch obstacle {
        case .switchedOff: "branding.enabled is false."
        case .trunk: "\(capital(trunk)) has brands: false."
        case .route: "The route of the called number has brands: false."
        case .carrierName: "The carrier's name stays, and the brand has neither logo nor reason to write."
        case .attestation: "Policy \(evidence?.policy?.rawValue ?? "") requires a better attestation than the call has."
        case nil:
            """
            The trunk's policy requires a better attestation, branding is off here, or nothing of the brand may be \
            written.
            """
        }
    }

    /// The remedy in one or two sentences.
    public var remedy: StoryText {
        switch reason {
        case .noMatch: "Add \(number) at the directory, then run herald sync."
        case .privacy, .emergency: "Nothing to do: such calls get no brand."
        case .untrusted:
            """
            Set trusted: true for \(trunk) if the carrier vouches for its callers, or signatures: decide if it passes \
            Identity on. Then run herald reload.
            """
        case .failedVerification:
            evidence?.source == .ownSignature
                ? "The steps signature and Identity have the cause and remedy of each field."
                : "Ask the carrier for the cause. The steps trust and signature have the findings."
        case .numberUnclear: "Check region and phone_contexts of \(trunk). The step identity has the received text."
        case .stale: "Find out why syncs fail: run herald status. The next sync that succeeds brings the brands back."
        case .trimmed: "Raise max_datagram of the PBX, or use TCP."
        case .error: "Nothing to do: the next call has its decision."
        case .policy: remedyOfPolicy
        case .midDialog: "Nothing to do: the call that it belongs to has a decision of its own."
        case .alreadyBranded: "Check the routes of the PBX: the call came back to Herald."
        case .outbound: "Nothing to do: brands belong to calls from a trunk."
        case .nameSource: "The step signed name has its state. name_source: directory_first shows the brand's name."
        case .signedName: "Add \(number) at the directory for a logo and events, then run herald sync."
        case .shadow: "Set brands: true to brand, then run herald reload."
        case .notAsked: "Let the PBX ask before the phone rings, and keep its clock right. See docs/doors-outcomes.md."
        case .gatedUnauthorised: "Replace the key, then run herald reload."
        case .gatedAccountStatus, .gatedBrandingDisabled: "Ask the directory's operator."
        case .gatedVoipDialerDisabled:
            "Set directory.voip_dialer_enabled: ignore to override it, then run herald reload."
        case .gatedCapReached: "Raise the cap at the directory, or wait for the next month."
        }
    }

    private var remedyOfPolicy: StoryText {
        switch obstacle {
        case .switchedOff: "Set branding.enabled: true, then run herald reload."
        case .trunk: "Set brands: true for \(trunk) if its calls shall have brands, then run herald reload."
        case .route: "Remove brands: false from the route if its calls shall have brands, then run herald reload."
        case .carrierName:
            "Set carrier_name: replace for \(trunk), or give the brand a logo or reason at the directory."
        case .attestation: "Ask the carrier for a better attestation, or set another policy. Then run herald reload."
        case nil: "See policy, branding.enabled and carrier_name."
        }
    }

    // MARK: Findings

    /// The obstacle behind `policy`.
    private enum Obstacle { case switchedOff, trunk, route, carrierName, attestation }

    /// Nil without evidence.
    private var obstacle: Obstacle? {
        guard let evidence else { return nil }
        if evidence.isSwitchedOff { return .switchedOff }
        if evidence.isTrunkUnbranded { return .trunk }
        if evidence.isRouteUnbranded { return .route }
        return evidence.lookup == .brandFound ? .carrierName : .attestation
    }

    private var checker: String {
        guard let source = evidence?.source else { return "the carrier's report or by the signature of the call" }
        return source == .ownSignature ? "the signature of the call" : "the carrier's report"
    }

    private func capital(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
