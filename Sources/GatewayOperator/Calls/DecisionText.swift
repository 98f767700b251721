// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting

/// Explains a branding decision without a call, with the remedy where there is one.
enum DecisionText {
    /// - Parameter decision: `matched`, or the text of a `PassThroughReason`.
    static func of(_ decision: String) -> String {
        guard decision != "matched" else { return "The INVITE goes on with the brand." }
        guard let reason = PassThroughReason.allCases.first(where: { $0.description == decision }) else {
            return "This version does not know the decision."
        }
        return MissingBrand(reason).text.text { $0 }
    }

    /// The cause of a reason in a sentence, without its remedy; nil for other texts.
    static func cause(of reason: String) -> String? {
        PassThroughReason.allCases.first { $0.description == reason }.map { MissingBrand($0).cause.text { $0 } }
    }
}
