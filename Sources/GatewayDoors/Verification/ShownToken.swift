// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallPath
import Trust

/// A token with the parts of it that a response by 3GPP TS 24.229 Annex V shows.
struct ShownToken {
    let token: VerifiedCall.Token
    /// The type of the token; `unknown` for one that cannot be read.
    let type: String
    /// The member `div` of a diversion: the number or the URI that was called before.
    let diverted: (member: String, value: String)?
    private let claims: [UInt8]?

    init(_ token: VerifiedCall.Token) {
        self.token = token
        let parts = PassportParts(token.text)
        let header = parts.flatMap { try? JSONValue.object(parsing: $0.header) }
        let claims = parts.flatMap { try? JSONValue.object(parsing: $0.claims) }
        type = header.map { Self.text($0["ppt"]) ?? "base" } ?? "unknown"
        diverted = type.hasPrefix("div") ? Self.diverted(claims?["div"]) : nil
        self.claims = claims == nil ? nil : parts?.claims
    }

    /// Whether the token is about the priority of the call (RFC 8443), which is not verified here.
    var isOfPriority: Bool { type == "rph" }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text) = value else { return nil }
        return text
    }

    private static func diverted(_ value: JSONValue?) -> (member: String, value: String)? {
        guard case .object(let party) = value else { return nil }
        for member in ["tn", "uri"] {
            if let text = text(party[member]) { return (member, text) }
        }
        return nil
    }

    func writeDiversion(to text: inout JSONText) {
        guard let diverted else { return }
        text.object { object in
            object.add("div") { text in text.object { $0.add(diverted.member, diverted.value) } }
            object.add("verstatValue", token.verstat.rawValue)
        }
    }

    /// The result of the token: its claims if it passed, else the reason and the token itself.
    func writeResult(to text: inout JSONText) {
        text.object { object in
            object.add("verifyResult") { text in
                text.object { result in
                    result.add("ppt", type)
                    guard token.cause != .passed else {
                        result.add("status", "pass")
                        if let claims { result.add("validClaims") { $0.raw(claims) } }
                        return
                    }
                    let reason = VerificationReason(token.cause, code: token.code)
                    result.add("status", "fail")
                    result.add("reasonCode", reason.code)
                    result.add("reasonText", reason.text)
                    result.add("reasonDescription", reason.description)
                    result.add("passport", String(decoding: token.text, as: UTF8.self))
                }
            }
        }
    }
}
