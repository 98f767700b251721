// SPDX-License-Identifier: Apache-2.0

import Branding

/// Explains a branding decision in one sentence, with the remedy where there is one; docs/reasons.md has the details.
enum DecisionText {
    /// - Parameter decision: `matched`, or the text of a `PassThroughReason`.
    static func of(_ decision: String) -> String {
        guard decision != "matched" else { return "The INVITE goes on with the brand." }
        guard let reason = PassThroughReason.allCases.first(where: { $0.description == decision }) else {
            return "This version does not know the decision."
        }
        return of(reason)
    }

    private static func of(_ reason: PassThroughReason) -> String {
        switch reason {
        case .noMatch: "The directory has no brand for the number. Add the number at the directory, then sync."
        case .privacy: "The caller withheld the number. Such calls get no brand."
        case .untrusted:
            "The trunk is not trusted. Set trusted: true for the trunk if the carrier vouches for its callers."
        case .failedVerification:
            """
            The check of the number failed, by the carrier's report or by the signature of the call. \
            The steps trust and signature have the cause.
            """
        case .numberUnclear:
            """
            There is no number, one that cannot exist in the region of the trunk, or one that may belong to several countries. \
            Check region and phone_contexts of the trunk.
            """
        case .stale: "The records are older than their lifetime. Find out why syncs fail; see Brands on the first page."
        case .trimmed: "The name did not fit into the PBX's largest datagram. Raise max_datagram, or use TCP."
        case .error: "The decision was stored by another version. The next call has its decision."
        case .policy:
            """
            The trunk's policy requires a better attestation, branding is off here, or nothing of the brand may be written. \
            See policy, branding.enabled and carrier_name.
            """
        case .emergency: "An emergency call, a callback of an emergency centre or a priority call. These get no brand."
        case .midDialog: "The INVITE began no call: it replaces another or belongs to one."
        case .alreadyBranded: "The INVITE passed this gateway before. Check the routes of the PBX."
        case .outbound: "The call came from the PBX."
        case .nameSource:
            """
            name_source of the trunk excludes the brand's name: the call has no verified signed name, or another one. \
            The step signed name has its state.
            """
        case .signedName:
            """
            Name or reason of the call's signature were written. The directory has no brand for the number, or one of \
            another name. The directory gets no event of the call.
            """
        case .gatedUnauthorised: "The directory refused the key. Replace the key, then run herald reload."
        case .gatedAccountStatus: "The account is suspended, closed or cancelled. Ask the directory's operator."
        case .gatedBrandingDisabled: "The directory switched branding off. Ask the directory's operator."
        case .gatedVoipDialerDisabled:
            "voip_dialer_enabled is false at the directory. Set directory.voip_dialer_enabled: ignore to override it."
        case .gatedCapReached:
            "The calls of this month are used up. Raise the cap at the directory, or wait for the next month."
        }
    }
}
