// SPDX-License-Identifier: Apache-2.0

import Branding

/// The parts of a brand, or of a signature, in the INVITE that left for the PBX, or that would be in it but for shadow.
public struct SentBrand: Hashable, Sendable {
    /// The display name; nil if the carrier's name stayed.
    public let name: StoryText?
    public let logo: DecisionEvidence.Part
    public let callReason: DecisionEvidence.Part
    /// True if Call-Info has the address of the brand's public card.
    public let hasCardLink: Bool
    /// True for values of the call's signature.
    public let isSigned: Bool
    /// False if `branding.call_info` was false.
    public let hasCallInfo: Bool
}

/// A header line that differs between the INVITE from the trunk and the one to the PBX.
public enum HeaderChange: Hashable, Sendable {
    /// The display name of a field; `before` is nil where the ledger does not know it, or there was none.
    case name(field: String, before: StoryText?, after: StoryText)
    /// A Call-Info with these parts; the ledger has neither the URL nor the text.
    case callInfo(logo: Bool, callReason: Bool)
    /// A Call-Info with the address of the brand's public card, which the ledger does not have.
    case cardLink
}

extension CallStory {
    /// The name of the brand, or that of a token, which is foreign text.
    var brandName: StoryText? {
        record.brandName.map { record.isNamedBySigner ? StoryText(foreign: $0) : StoryText([.text($0)]) }
    }

    /// The brand in the INVITE that was sent; nil without one.
    public var sent: SentBrand? {
        guard record.direction == .inbound, record.isBranded || record.reason == .signedName else { return nil }
        return parts
    }

    /// The brand that was found for a call in shadow and not written; nil for every other call.
    public var unsent: SentBrand? {
        record.direction == .inbound && record.reason == .shadow ? parts : nil
    }

    private var parts: SentBrand {
        let isSigned = record.isNamedBySigner
        // A version without evidence wrote the name of each brand.
        guard let evidence = record.evidence else {
            return SentBrand(
                name: brandName, logo: .unknown, callReason: .unknown, hasCardLink: false, isSigned: isSigned,
                hasCallInfo: true)
        }
        return SentBrand(
            name: evidence.isNamed ? brandName : nil, logo: evidence.logo, callReason: evidence.callReason,
            hasCardLink: evidence.hasCardLink, isSigned: isSigned, hasCallInfo: evidence.writesCallInfo)
    }

    /// The header lines of the brand that Herald changed, as far as the evidence shows them.
    public var changes: [HeaderChange] {
        // A PBX that asks by a door writes the name itself.
        guard let sent, !record.isByDoor else { return [] }
        var changes: [HeaderChange] = []
        if let name = sent.name {
            changes.append(.name(field: "From", before: record.carrierName.map { StoryText(foreign: $0) }, after: name))
            switch record.evidence?.header {
            case .pAssertedIdentity where record.evidence?.isTrusted == true:
                changes.append(.name(field: "P-Asserted-Identity", before: nil, after: name))
            case .remotePartyID where record.evidence?.isTrusted == true:
                changes.append(.name(field: "Remote-Party-ID", before: nil, after: name))
            default: break
            }
        }
        let (hasLogo, hasReason) = (sent.logo == .written, sent.callReason == .written)
        if hasLogo || hasReason { changes.append(.callInfo(logo: hasLogo, callReason: hasReason)) }
        if sent.hasCardLink { changes.append(.cardLink) }
        return changes
    }
}
