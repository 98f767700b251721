// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import GatewayStore
import Trust

/// Words for signers and standings in commands.
enum TrustWords {
    /// The standings by regime, such as `us passed, fr untrusted_signer`.
    static func standings(_ standings: [UInt8], _ regimes: [String]) -> String {
        zip(regimes, standings).map { "\($0) \(cause($1))" }.joined(separator: ", ")
    }

    /// `none`, `failed`, or `passed` with the attestation.
    static func result(_ result: TrustEvidence.Result) -> String {
        switch result {
        case .none: "none"
        case .failed: "failed"
        case .passed: "passed without attestation"
        case .passedA: "passed(A)"
        case .passedB: "passed(B)"
        case .passedC: "passed(C)"
        }
    }

    /// `A`, `B`, `C` or `failed`; nil for no attestation.
    static func attestation(_ verification: Verification) -> String? {
        switch verification {
        case .none: nil
        case .passedA: "A"
        case .passedB: "B"
        case .passedC: "C"
        case .failed: "failed"
        }
    }

    /// `called number`, `nothing`, or the count of diversions.
    static func binding(isBound: Bool, diversions: Int) -> String {
        guard isBound else { return "nothing" }
        return diversions == 0 ? "called number" : "chain of \(diversions) diversion\(diversions == 1 ? "" : "s")"
    }

    /// The name of a stored cause.
    static func cause(_ value: UInt8) -> String { TrustCause(rawValue: value)?.name ?? "unknown" }

    /// Codes and numbers, such as `123A` or `12025551000 and 99 more`.
    static func authority(_ list: AuthorityList) -> String {
        (list.codes
            + list.ranges.map { range in
                range.count == 1 ? range.start.text : "\(range.start.text) and \(range.count - 1) more"
            }).joined(separator: ", ")
    }
}

/// The signers that an operator names: by address, provider code, telephone number or row.
struct TrustChoice {
    /// The text as given.
    let text: String
    private let number: CanonicalNumber?

    init(_ text: String) {
        self.text = text
        let digits = text.hasPrefix("+") ? String(text.dropFirst()) : text
        number = digits.utf8.count > 6 ? CanonicalNumber(digits) : nil
    }

    /// True for a signer with this address, code, row, or with a range that has the number.
    func includes(_ signer: StoredSigner) -> Bool {
        if signer.address == text || "#\(signer.row)" == text { return true }
        let list = signer.signsFor
        return list.hasCode(in: [ProviderCode.folded(text)]) || number.map { list.names($0) } ?? false
    }

    /// Whether the text is a telephone number.
    var isNumber: Bool { number != nil }
}
