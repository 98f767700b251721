// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Testing

@Suite("The reason of a missing brand, and its remedy")
struct MissingBrandTests {
    private static func evidence(_ change: (inout DecisionEvidence) -> Void = { _ in }) -> DecisionEvidence {
        var evidence = DecisionEvidence()
        (evidence.header, evidence.isTrusted, evidence.policy) = (.from, true, .strict)
        change(&evidence)
        return evidence
    }

    private static let anyCall = [
        nil, evidence(), evidence { $0.isSwitchedOff = true }, evidence { $0.isRouteUnbranded = true },
        evidence { $0.lookup = .brandFound }, evidence { $0.header = .none }, evidence { $0.source = .ownSignature },
    ]

    @Test(arguments: PassThroughReason.allCases)
    func `every reason has a clause, a cause and a remedy, with a call and without`(reason: PassThroughReason) {
        for evidence in Self.anyCall {
            for trunk in [nil, "carrier"] {
                let missing = MissingBrand(reason, trunk: trunk, evidence: evidence)
                let (cause, remedy) = (missing.cause.text { $0 }, missing.remedy.text { $0 })
                #expect(!missing.because.isEmpty && missing.because.last != ".", "\(missing.because)")
                #expect(cause.hasSuffix(".") && remedy.hasSuffix("."), "\(cause) \(remedy)")
                #expect(missing.text.text { $0 } == "\(cause) \(remedy)")
                #expect(cause != remedy && !cause.contains("  ") && !remedy.contains("\n"), "\(cause) \(remedy)")
            }
        }
    }

    /// A reason, the findings of the call, and parts of cause and remedy.
    private static let remedies: [(PassThroughReason, DecisionEvidence, cause: String, remedy: String)] = [
        (
            .noMatch, evidence(), "has no brand for the number",
            "Add <+61255501001> at the directory, then run herald sync."
        ),
        (.privacy, evidence(), "withheld the number", "Nothing to do"),
        (.untrusted, evidence(), "Trunk carrier is not trusted", "Set trusted: true for trunk carrier"),
        (.failedVerification, evidence(), "by the carrier's report.", "Ask the carrier for the cause."),
        (
            .failedVerification, evidence { $0.source = .ownSignature }, "by the signature of the call.",
            "The steps signature and Identity"
        ),
        (
            .numberUnclear, evidence { $0.header = .none }, "No header field names the caller.",
            "region and phone_contexts"
        ),
        (.numberUnclear, evidence(), "in the region of trunk carrier", "region and phone_contexts of trunk carrier"),
        (.stale, evidence(), "older than their lifetime", "herald status"),
        (.trimmed, evidence(), "largest datagram", "Raise max_datagram"),
        (.policy, evidence { $0.isSwitchedOff = true }, "branding.enabled is false.", "Set branding.enabled: true"),
        (.policy, evidence { $0.isRouteUnbranded = true }, "has brands: false.", "Remove brands: false"),
        (
            .policy, evidence { $0.isTrunkUnbranded = true }, "Trunk carrier has brands: false.",
            "Set brands: true for trunk carrier"
        ),
        (
            .shadow, evidence { $0.isInShadow = true }, "has brands: shadow. The brand was found and not written.",
            "Set brands: true to brand"
        ),
        (
            .policy, evidence { $0.lookup = .brandFound }, "neither logo nor reason",
            "carrier_name: replace for trunk carrier"
        ),
        (.policy, evidence(), "Policy strict requires a better attestation", "Ask the carrier"),
        (.alreadyBranded, evidence(), "passed this gateway before", "Check the routes of the PBX"),
        (.nameSource, evidence(), "name_source of trunk carrier", "name_source: directory_first"),
        (
            .signedName, evidence(), "signature were written",
            "Add <+61255501001> at the directory for a logo and events"
        ),
        (.gatedUnauthorised, evidence(), "refused the key", "Replace the key, then run herald reload."),
        (.gatedAccountStatus, evidence(), "suspended, closed or cancelled", "Ask the directory's operator."),
        (.gatedBrandingDisabled, evidence(), "switched branding off", "Ask the directory's operator."),
        (.gatedVoipDialerDisabled, evidence(), "voip_dialer_enabled is false", "voip_dialer_enabled: ignore"),
        (.gatedCapReached, evidence(), "used up", "Raise the cap"),
    ]

    @Test(arguments: remedies.indices) func `the remedy is that of the call`(place: Int) {
        let (reason, evidence, cause, remedy) = Self.remedies[place]
        let missing = MissingBrand(
            reason, trunk: "carrier", evidence: evidence, caller: StoryText(number: "+61255501001"))
        #expect(missing.cause.text { "<\($0)>" }.contains(cause))
        #expect(missing.remedy.text { "<\($0)>" }.contains(remedy))
    }
}
