// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The laboratory as files for imports.
extension TrustLab {
    /// The certificate of a name in PEM.
    package func pem(_ name: String) -> String { certificates[name]?.pem ?? "" }

    /// The certificate of a name in DER.
    package func der(_ name: String) -> [UInt8] { Self.der(pem(name)) }

    /// The bytes of one PEM text.
    package static func der(_ pem: String) -> [UInt8] {
        let lines = pem.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
        return Array(Data(base64Encoded: lines.joined()) ?? Data())
    }

    /// The chain of a signer in DER, as its address serves it.
    package func chain(_ name: String) -> [[UInt8]] { (certificates[name]?.served ?? []).map(der) }

    /// The names of all signers.
    package var signers: [String] { certificates.filter { $0.value.x5u != nil }.map(\.key).sorted() }

    /// A file with the chains of signers, each behind its address.
    package func file(_ names: [String]) -> String {
        names.map { name in
            "x5u: \(certificates[name]?.x5u ?? "")\n"
                + (certificates[name]?.served ?? []).map(pem).joined(separator: "\n")
        }.joined(separator: "\n") + "\n"
    }

    /// The chain of the lists' signer behind its address.
    package var listSigner: String { "x5u: https://pa.example.net/list-signer.pem\n" + pem("pa_list") + "\n" }

    /// A list of authorities by its id.
    package func list(_ id: String) -> String { lists.first { $0.id == id }?.text ?? "" }
}
