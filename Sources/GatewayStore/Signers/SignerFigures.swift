// SPDX-License-Identifier: Apache-2.0

/// Counts and times of `signers.sqlite` at one moment.
package struct SignerFigures: Equatable, Sendable {
    /// The end of a list of authorities.
    package struct ListEnd: Equatable, Sendable {
        package let regime: String
        /// Seconds since 1970.
        package let expires: Int64
    }

    /// The count of changes, as in `StoredTrust`.
    package let generation: Int64
    /// The count of temporary chains since the file was made.
    package let temporaryAdded: Int64
    /// The count of changes of addresses that calls know and that have no certificate.
    package let fetchChanges: Int64
    /// As in `StoredTrust`.
    package let regimes: [UInt8]
    /// The time of the last decision; 0 before the first one.
    package let decidedAt: Int64
    /// Signers without temporary chains.
    package let signers: Int
    /// Addresses without a certificate.
    package let unknown: Int
    /// Lists of authorities in the order of their regimes' names.
    package let lists: [ListEnd]

    /// True if both have the same signers.
    package func hasSignersOf(_ other: SignerFigures) -> Bool {
        generation == other.generation && temporaryAdded == other.temporaryAdded && fetchChanges == other.fetchChanges
    }

    /// A number that no other set of signers of the file has: each change adds to one of its parts.
    var snapshotGeneration: UInt64 {
        UInt64(clamping: generation) + UInt64(clamping: temporaryAdded) + UInt64(clamping: fetchChanges)
    }
}
