// SPDX-License-Identifier: Apache-2.0

/// Resolves the name of a foreign host and decides whether a connection to it is permitted.
struct AddressCheck: Sendable {
    /// Permits addresses of private networks and of the machine itself.
    let allowsPrivate: Bool
    let resolve: HostResolver

    /// Returns the first address, if all of them are permitted.
    func first(of host: String) async throws(FetchFailure) -> HostAddress {
        let addresses = await resolve(host)
        guard let first = addresses.first else { throw .unresolvable(FetchFailure.shown(host)) }
        if !allowsPrivate, let forbidden = addresses.first(where: { !$0.isPublic }) {
            throw .forbiddenAddress("\(forbidden)")
        }
        return first
    }
}
