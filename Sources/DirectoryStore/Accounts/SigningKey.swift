// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Primitives

/// The secret with which the requests of an API key are signed, and its public id.
///
/// Unlike keys and tokens it is readable in the database, because a signature cannot be checked with a hash.
package struct SigningKey: Hashable, Sendable, Redacted {
    package let id: String
    /// The bytes of the secret's text.
    package let secret: Data

    package var description: String { "signing key \(id)" }
    package var debugDescription: String { description }
}
