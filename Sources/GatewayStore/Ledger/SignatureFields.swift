// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import Trust

// A verdict in JSON and CSV; a call without one has none of these fields.

extension CallField {
    /// The fields of the column `trust`.
    static let verdict = [
        CallField("signature") { .text($0.trust?.signature) },
        CallField("attestation") { .text($0.trust?.attestation) },
        CallField("signature_counts") { .flag($0.trust?.counts) },
        CallField("diversions") { .integer($0.trust?.provenDiversions.map(Int64.init)) },
        CallField("signed_name") { .text($0.trust?.signedName) },
        CallField("name_origin") { .text($0.trust?.writtenName) },
        CallField("signature_rejected") { .flag($0.trust?.isRejected) },
        CallField("signature_marks") { .list($0.trust?.marks.map(\.name)) },
    ]

    /// The field of the column `trust_causes`.
    static let causes = [CallField("signature_causes") { .list($0.trust?.causes.map(\.name)) }]
}

extension TrustEvidence {
    fileprivate var signature: String {
        switch result {
        case .none: "none"
        case .passedA, .passedB, .passedC, .passed: "passed"
        case .failed: "failed"
        }
    }

    fileprivate var attestation: String? {
        switch result {
        case .passedA: "A"
        case .passedB: "B"
        case .passedC: "C"
        case .none, .passed, .failed: nil
        }
    }

    /// Nil for a token that is not bound to the call: nothing shows how it was diverted.
    fileprivate var provenDiversions: Int? { isBound ? diversions : nil }

    /// Nil where no name was written.
    fileprivate var writtenName: String? {
        switch nameOrigin {
        case .none: nil
        case .directory: "directory"
        case .signature: "rcd"
        case .both: "both"
        }
    }

    fileprivate var signedName: String {
        switch name {
        case .absent: "absent"
        case .verified: "verified"
        case .unverified: "unverified"
        }
    }
}
