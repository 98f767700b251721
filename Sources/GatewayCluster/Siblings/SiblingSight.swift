// SPDX-License-Identifier: Apache-2.0

/// A sibling gateway as this one sees it.
package struct SiblingSight: Hashable, Sendable {
    /// Its `cluster.listen`, `host:port`.
    package let address: String
    /// Whether it has responded with the same secret in the last seconds.
    package let responds: Bool
    /// Its clock less this one's, in microseconds; nil before its first response.
    package let clockOffset: Int64?

    package init(address: String, responds: Bool, clockOffset: Int64? = nil) {
        (self.address, self.responds, self.clockOffset) = (address, responds, clockOffset)
    }
}
