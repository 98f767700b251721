// SPDX-License-Identifier: Apache-2.0

/// What becomes of `%` and `${` in names and reasons.
///
/// FreeSWITCH decodes `%41` in a display name and expands `${…}`; a directory must not be able to use either.
package enum PercentPolicy: String, Hashable, Sendable, CaseIterable {
    /// `%` becomes the word percent, and `${` loses its dollar sign.
    case spellOut
    /// Both stay as they are, for PBXs known to take text as text.
    case keep
}
