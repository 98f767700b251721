// SPDX-License-Identifier: Apache-2.0

/// The kind of client that holds an API key; it limits the client types its requests may claim.
///
/// A key can be extracted from a phone. Requests with such a key never get the rate limits of a gateway. The key of a
/// registrar registers brands by the CAMARA interface, and the contract refuses it.
package enum KeyKind: String, Codable, Hashable, Sendable, CaseIterable {
    case gateway, phone, registrar
}
