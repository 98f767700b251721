// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import X509

/// The order of a chain: the leaf first, and behind each certificate the one of its issuer (RFC 7515 §4.1.6, RFC 9060 §7).
enum ChainOrder {
    /// The certificates in this order; those that issue none of the others stay behind in theirs.
    ///
    /// Only the names decide, because the chain is verified later. As given if one cannot be read, or none is a leaf.
    static func sorted(_ chain: [[UInt8]]) -> [[UInt8]] {
        let certificates = chain.compactMap { try? Certificate(derEncoded: $0) }
        guard chain.count > 1, certificates.count == chain.count,
            let leaf = certificates.firstIndex(where: { !CertificateFacts($0).isAuthority })
        else { return chain }
        var order = [leaf]
        var others = chain.indices.filter { $0 != leaf }
        while !others.isEmpty {
            let issuer = certificates[order[order.count - 1]].issuer
            order.append(others.remove(at: others.firstIndex { certificates[$0].subject == issuer } ?? 0))
        }
        return order.map { chain[$0] }
    }
}
