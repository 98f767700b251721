// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The public key infrastructure of `TrustTests` as files for imports. Its private keys are public.
package struct SignerLab: Decodable, Sendable {
    package struct Certificate: Decodable, Sendable {
        package var pem: String
        package var key: String?
        package var x5u: String?
        package var served: [String]?
    }

    package struct RevocationList: Decodable, Sendable {
        package var pem: String
        package var next: Int64
    }

    package struct AuthorityList: Decodable, Sendable {
        package var id: String
        package var now: Int64
        package var text: String
    }

    /// A call with its header fields and the result under `us`.
    package struct Case: Decodable, Sendable, CustomStringConvertible {
        package struct Expected: Decodable, Sendable {
            package var number: String
            package var causes: [String]
        }

        package var id: String
        package var title: String
        package var now: Int64
        package var caller: String
        package var called: String
        package var to: String
        package var date: String?
        package var regime: String
        package var identity: [String]
        package var known: [String]?
        package var fetch: String?
        package var crl: String?
        package var sequence: String?
        package var expect: Expected

        package var description: String { "\(id): \(title)" }
    }

    package var iat: Int64
    package var now: Int64
    package var certificates: [String: Certificate]
    package var crls: [String: RevocationList]
    package var lists: [AuthorityList]
    package var cases: [Case]

    /// The laboratory of the vectors.
    package static let shared: SignerLab = {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: "TrustTests/Vectors/passports.json")
        do {
            return try JSONDecoder().decode(SignerLab.self, from: Data(contentsOf: file))
        } catch {
            preconditionFailure("\(file.path): \(error)")
        }
    }()

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
