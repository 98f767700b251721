// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore

/// The steps of a branding decision with their findings: the same in a trace, in `herald calls show` and on the page.
struct DecisionSteps {
    let evidence: DecisionEvidence
    /// Nil if the INVITE left with a brand.
    let reason: PassThroughReason?
    /// The caller's number, or the text of the carrier that is no certain one.
    let caller: String?
    /// True if `caller` is a certain number.
    let isCertain: Bool
    /// The brand with its identifier; nil without one.
    let brand: String?
    /// The steps of the verified signatures; empty for a call that was not verified.
    var signature: [Step] = []

    /// A step with its finding, which may have telephone numbers inside.
    struct Step {
        typealias Part = StoryText.Part

        let name: String
        let parts: [Part]

        init(_ name: String, _ parts: [Part]) { (self.name, self.parts) = (name, parts) }

        init(_ name: String, _ before: String, number: String? = nil, _ after: String = "") {
            self.init(name, [.text(before)] + (number.map { [.number($0)] } ?? []) + [.text(after)])
        }

        /// The whole finding.
        ///
        /// - Parameter shown: the form in which the reader may see a number.
        func finding(shown: (String) -> String) -> String {
            StoryText(parts).text(shown: shown)
        }
    }

    /// All steps in the order of the walk.
    var all: [Step] { [identity] + signature + [trust, policy, lookup, gates, decoration] }

    /// Every finding in one line.
    ///
    /// - Parameter shown: the form in which the reader may see a number.
    func line(shown: (String) -> String) -> String {
        all.map { $0.finding(shown: shown) }.joined(separator: "; ")
    }

    private var identity: Step {
        if evidence.isWithheld { return .init("identity", "the caller withholds the number") }
        if evidence.isByDoor {
            let before = isCertain ? "caller " : "caller not certain"
            return .init("identity", before, number: isCertain ? caller : nil, ", as the PBX reported")
        }
        guard let header = evidence.header.title else { return .init("identity", "no header field names the caller") }
        guard isCertain, let caller else {
            return .init("identity", "caller not certain, from \(header)\(caller == nil ? "" : ": ")", number: caller)
        }
        return .init("identity", "caller ", number: caller, " from \(header)")
    }

    private var trust: Step {
        let finding = evidence.verification.finding(evidence.isUnchecked)
        if evidence.source == .ownSignature {
            let trunk = evidence.isTrusted ? "trusted" : "untrusted"
            return .init("trust", "\(trunk) trunk, \(finding) by the signature, checked here")
        }
        guard evidence.isTrusted else { return .init("trust", "untrusted trunk, its attestation does not count") }
        let source = evidence.source.title.map { " in \($0), the trunk's word" } ?? ""
        return .init("trust", "trusted trunk, \(finding)\(source)")
    }

    private var policy: Step {
        .init("policy", "policy \(evidence.policy?.rawValue ?? "of another version"): \(policyFinding)")
    }

    private var policyFinding: String {
        if evidence.isSwitchedOff { return "not asked, branding.enabled is false" }
        if evidence.isTrunkUnbranded { return "not asked, the trunk has brands: false" }
        if evidence.isRouteUnbranded { return "not asked, the route of the called number has brands: false" }
        switch reason {
        case .midDialog, .alreadyBranded, .emergency, .privacy: return "not asked"
        case .untrusted: return "no brand for an unchecked number of an untrusted trunk"
        case .failedVerification: return "no brand after a failed check"
        case .policy where evidence.lookup == .notMade: return "needs a better attestation"
        case nil, .nameSource, .signedName, .shadow, .notAsked, .numberUnclear, .noMatch, .policy, .trimmed, .stale,
            .error,
            .outbound, .gatedUnauthorised, .gatedAccountStatus, .gatedBrandingDisabled, .gatedVoipDialerDisabled,
            .gatedCapReached:
            return "satisfied"
        }
    }

    /// Whether the values are those of a signature alone, as `CallRecord.isNamedBySigner`.
    private var isNamedBySigner: Bool { reason == .signedName || reason == .shadow && evidence.isNamedBySigner }

    private var lookup: Step {
        let finding =
            switch evidence.lookup {
            case .notMade: "no lookup"
            case .noBrand: "no brand has the number"
            case .brandFound where isNamedBySigner: "a brand was found, and the signed name was taken"
            case .brandFound: brand.map { "brand \($0)" } ?? "a brand was found"
            }
        return .init("lookup", finding)
    }

    private var gates: Step {
        guard evidence.lookup == .brandFound else { return .init("gates", "gates not asked") }
        let closed = reason.flatMap { $0.isGate || $0 == .stale ? $0.description : nil }
        return .init("gates", closed.map { "gate closed, \($0)" } ?? "gates open")
    }

    private var decoration: Step {
        .init("decoration", decorationFinding)
    }

    private var decorationFinding: String {
        switch reason {
        case .trimmed: return "nothing written, the name does not fit into max_datagram"
        case .policy where evidence.lookup == .brandFound:
            return "nothing written, the carrier's name stays and the brand has neither logo nor reason"
        case .nameSource: return "nothing written, name_source of the trunk excludes the brand's name"
        case .shadow: return "nothing written, in shadow; with brands: true \(partsFinding)"
        case .notAsked: return "no name given, no door was asked when the call began"
        case nil where evidence.isByDoor:
            return evidence.isNamed
                ? "the door gave the name, and the PBX reported that a phone showed it"
                : "the door gave the name, and no phone is known to have shown it"
        case nil, .signedName: return partsFinding
        default: return "nothing written"
        }
    }

    private var partsFinding: String {
        let written = isNamedBySigner ? "the signed name written" : "name written"
        let name = evidence.isNamed ? written : "the carrier's name stays"
        guard evidence.writesCallInfo else { return "\(name), no Call-Info by configuration" }
        let card = evidence.hasCardLink ? ", Call-Info with the brand's card" : ""
        return "\(name), \(callInfoFinding)\(card)"
    }

    private var callInfoFinding: String {
        let (logo, callReason) = (evidence.logo, evidence.callReason)
        func pieces(_ part: DecisionEvidence.Part) -> String {
            [(logo, "logo"), (callReason, "reason")].filter { $0.0 == part }.map { $0.1 }.joined(separator: " and ")
        }
        guard logo != .unknown || callReason != .unknown else {
            return "parts of Call-Info not recorded by the version of that time"
        }
        let owner = isNamedBySigner ? "the signature" : "the brand"
        let none = evidence.hasCardLink ? "no Call-Info with logo or reason" : "no Call-Info"
        if logo == .absent, callReason == .absent { return "\(none), \(owner) has no reason and no usable logo" }
        var finding = pieces(.written).isEmpty ? "no Call-Info" : "Call-Info with \(owner)'s \(pieces(.written))"
        if !pieces(.leftOut).isEmpty { finding += ", \(pieces(.leftOut)) left out for max_datagram" }
        if logo == .absent { finding += ", \(owner) has no usable logo" }
        return finding
    }
}

extension LedgerCallRow {
    /// The parts of the brand in the INVITE that was sent: `name`, `logo`, `reason` and `card`; nil for none.
    ///
    /// Nil also for a call of a version that did not record it.
    var written: String? {
        guard let evidence, ["matched", PassThroughReason.signedName.description].contains(decision) else { return nil }
        let parts = [
            (evidence.isNamed, "name"), (evidence.logo == .written, "logo"),
            (evidence.callReason == .written, "reason"), (evidence.hasCardLink, "card"),
        ]
        let written = parts.filter { $0.0 }.map { $0.1 }.joined(separator: " ")
        return written.isEmpty ? nil : written
    }
}

extension DecisionSteps {
    /// The steps of a call in the ledger; nil for outbound calls and calls of an earlier version.
    init?(_ call: LedgerCallRow) {
        guard let evidence = call.evidence else { return nil }
        let brand = call.brandName.map { name in call.brandID.map { "\(name) (\($0))" } ?? name }
        let signature = call.record.flatMap { SignatureSteps($0)?.all } ?? []
        self.init(
            evidence: evidence, reason: CallRecord.reason(ofDecision: call.decision),
            caller: call.caller ?? call.callerReceived, isCertain: call.caller != nil, brand: brand,
            signature: signature)
    }
}

extension DecisionEvidence.Header {
    fileprivate var title: String? {
        switch self {
        case .none, .report: nil
        case .pAssertedIdentity: "P-Asserted-Identity"
        case .remotePartyID: "Remote-Party-ID"
        case .from: "From"
        }
    }
}

extension AttestationSource {
    fileprivate var title: String? {
        switch self {
        case .none: nil
        case .assertedIdentity: "verstat of P-Asserted-Identity"
        case .remoteParty: "verstat of Remote-Party-ID"
        case .from: "verstat of From"
        case .attestationIndicator: "P-Attestation-Indicator"
        case .attestationInfo: "Attestation-Info"
        case .configuredHeader: "a field of attestation_headers"
        case .ownSignature: "the signature"
        }
    }
}

extension Verification {
    /// - Parameter isUnchecked: true if the carrier states that it checked nothing.
    fileprivate func finding(_ isUnchecked: Bool) -> String {
        switch self {
        case .none: isUnchecked ? "not verified as stated" : "not verified"
        case .passedA: "attestation A"
        case .passedB: "attestation B"
        case .passedC: "attestation C"
        case .failed: "failed check"
        }
    }
}
