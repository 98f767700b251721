// SPDX-License-Identifier: Apache-2.0

/// The treatment of `%` and `${` in names and call reasons.
///
/// FreeSWITCH decodes `%41` in a display name and expands `${…}`. A directory must not be able to use either.
package enum PercentPolicy: String, Hashable, Sendable, CaseIterable {
    /// Replaces `%` by the word percent, and removes the dollar sign of `${`.
    case spellOut
    /// Keeps both, for PBXs that do not interpret them.
    case keep
}
