// SPDX-License-Identifier: Apache-2.0

import Primitives
import SIPCore
import Trust

/// The errors of signed header fields in a response to the call, for the trunk (RFC 9410, RFC 3326).
///
/// The call goes on: a report is no rejection. It has no number and no claim of a token.
enum SignatureReport {
    /// The Reason header fields for a call, with their line ends; empty where nothing is to be reported.
    static func lines(
        of verdict: TrustVerdict, in invite: SIPMessage, under rules: TrunkSignatures
    ) -> [UInt8] {
        guard rules.mode == .decide, let regime = rules.policy.regimes.first else { return [] }
        var lines: [UInt8] = []
        switch regime.reason {
        case .off: break
        case .sip:
            if let code = verdict.code(under: regime) {
                lines.append("Reason: SIP")
                append(code, to: &lines)
                lines.append("\r\n")
            }
        case .stir:
            for (position, cause) in verdict.causes.enumerated() {
                guard let code = verdict.code(of: cause, under: regime) else { continue }
                lines.append("Reason: STIR")
                append(code, to: &lines)
                if verdict.tokens.indices.contains(position) {
                    append(signatureOf: verdict.tokens[position], in: invite, to: &lines)
                }
                lines.append("\r\n")
            }
        }
        return lines
    }

    /// Whether a response of this status has the report, by the regime of the trunk.
    static func belongs(in status: Int, under regime: TrustRegime) -> Bool {
        switch regime.reasonPlace {
        case .next: status > 100
        case .ok: status == 200
        }
    }

    private static func append(_ code: UInt16, to lines: inout [UInt8]) {
        lines.append(";cause=")
        lines.append(decimal: Int(code))
        lines.append(";text=\"")
        lines.append(IdentityPhrase.text(of: code))
        lines.append("\"")
    }

    /// The token in compact form, which RFC 9410 §5 recommends, as far as it has a signature that may be written.
    private static func append(signatureOf token: Range<Int>, in invite: SIPMessage, to lines: inout [UInt8]) {
        let text = invite[token]
        guard let dot = text.lastIndex(of: UInt8(ascii: ".")) else { return }
        let signature = text[(dot + 1)...]
        guard (1...mostOfSignature).contains(signature.count), signature.allSatisfy(isBase64URL) else { return }
        lines.append(";ppi=\"..")
        lines.append(contentsOf: signature)
        lines.append("\"")
    }

    /// An ES256 signature has 86 characters. Anything longer is foreign text.
    private static let mostOfSignature = 128

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
