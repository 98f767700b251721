// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import CallPath
package import ConfigurationFiles
import NIOHTTP1
import Trust

/// The responses of the door for verifications.
extension DoorResponse {
    /// The verdict on a call in the shape of its request.
    ///
    /// - Parameters:
    ///   - call: nil while nothing is verified.
    ///   - keys: the spelling of the reason's members in the shape of ATIS-1000082.
    package init(
        _ call: VerifiedCall?, to request: VerificationRequest,
        keys: HeraldConfiguration.Doors.Verification.ReasonKeys
    ) {
        var text = JSONText()
        text.object { object in
            object.add("verificationResponse") { text in
                text.object { response in
                    switch request.shape {
                    case .atis: Self.add(call, to: &response, keys)
                    case .annexV: Self.add(call, of: request, to: &response)
                    case .none:
                        // Both members: nothing shows which one the client reads.
                        response.add("verstat", EmittedVerstat.none.rawValue)
                        response.add("verstatValue", EmittedVerstat.none.rawValue)
                    }
                }
            }
        }
        self.init(.ok, text.bytes, "application/json")
    }

    /// A request that is none. It has the error in both shapes.
    package init(_ problem: VerificationProblem) {
        let fields = problem == .method ? [Field("Allow", "POST")] : []
        self.init(problem.status, problem.body, "application/json", fields: fields)
    }

    /// ATIS-1000082: one verstat, and the reason unless the call passed.
    private static func add(
        _ call: VerifiedCall?, to response: inout JSONText.Members,
        _ keys: HeraldConfiguration.Doors.Verification.ReasonKeys
    ) {
        response.add("verstat", (call?.verstat ?? .none).rawValue)
        guard let call, call.verstat != .passed else { return }
        let reason = VerificationReason(call.cause, code: call.code)
        switch keys {
        case .camel:
            response.add("reasonCode", reason.code)
            response.add("reasonText", reason.text)
            response.add("reasonDesc", reason.description)
        case .lower:
            response.add("reasoncode", reason.code)
            response.add("reasontext", reason.text)
            response.add("reasondesc", reason.description)
        }
    }

    /// 3GPP TS 24.229 Annex V, with the further members of TransUnion.
    private static func add(
        _ call: VerifiedCall?, of request: VerificationRequest, to response: inout JSONText.Members
    ) {
        response.add("requestId", request.requestID)
        response.add("displayName", request.displayName)
        let tokens = (call?.tokens ?? []).map(ShownToken.init)
        // Tokens of priority alone have no evidence about the caller.
        if tokens.isEmpty || tokens.contains(where: { !$0.isOfPriority }) {
            response.add("verstatValue", (call?.verstat ?? .none).rawValue)
        }
        let diversions = tokens.filter { $0.diverted != nil }
        if !diversions.isEmpty {
            response.add("divResult") { text in text.list(diversions) { $0.writeDiversion(to: &$1) } }
        }
        let results = tokens.filter { $0.token.cause != .unsupportedPPT }
        if !results.isEmpty {
            response.add("verifyResults") { text in text.list(results) { $0.writeResult(to: &$1) } }
        }
    }
}
