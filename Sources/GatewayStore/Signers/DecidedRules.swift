// SPDX-License-Identifier: Apache-2.0

import Trust

/// The rules that standings were decided for: a digest of rules and files, and the names of the regimes in their order.
///
/// Another digest means that the signers should be decided anew. Other names mean that no standing may be read.
package struct DecidedRules: Equatable, Sendable {
    /// The stored form: the 32 bytes of the digest, then the names, one a line.
    package let bytes: [UInt8]
    /// The names of the regimes in the order of the standings.
    package let names: [String]

    private static let digestSize = 32

    /// - Parameter digest: 32 bytes.
    package init(digest: [UInt8], names: [String]) {
        self.names = names
        bytes = digest + names.flatMap { Array(($0 + "\n").utf8) }
    }

    /// Nil for bytes without names, which no policy may read standings of.
    package init?(stored bytes: [UInt8]) {
        let text = String(decoding: bytes.dropFirst(Self.digestSize), as: UTF8.self)
        names = text.split(separator: "\n").map(String.init)
        guard !names.isEmpty else { return nil }
        self.bytes = bytes
    }

    /// The number of the names, for snapshots and the policies of trunks.
    package var regimeSet: UInt64 { RegimeSet.number(of: names) }
}
