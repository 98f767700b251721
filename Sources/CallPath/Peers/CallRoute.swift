// SPDX-License-Identifier: Apache-2.0

package import Branding

/// A route: the PBX, the policy and the limits of calls to some numbers.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
package final class CallRoute: Sendable {
    package let name: String
    /// Nil for the trunk's PBX.
    package let pbx: PBXPeer?
    /// Nil for the trunk's policy.
    package let policy: BrandingPolicy?
    /// False forwards its calls without a brand.
    package let brands: Bool
    /// Its limits and its calls in progress; nil without limits.
    package let admission: TrunkAdmission?

    package init(
        name: String, pbx: PBXPeer? = nil, policy: BrandingPolicy? = nil, brands: Bool = true,
        admission: TrunkAdmission? = nil
    ) {
        self.name = name
        self.pbx = pbx
        self.policy = policy
        self.brands = brands
        self.admission = admission
    }
}

/// The routes by called number; immutable.
package struct CallRoutes: Sendable {
    /// The header that names the called number.
    package enum Source: Hashable, Sendable {
        /// The Request-URI, else To.
        case requestURI
        /// To, else the Request-URI.
        case to
    }

    /// The treatment of a call that no route matches.
    package enum Unmatched: Hashable, Sendable {
        /// The call goes to the trunk's PBX.
        case trunk
        /// The call gets 404. An emergency call goes to the trunk's PBX.
        case reject
    }

    let routes: [CallRoute]
    let table: CalledNumberTable
    let source: Source
    let unmatched: Unmatched

    /// - Parameter table: its routes are positions in `routes`.
    package init(
        _ routes: [CallRoute] = [], table: CalledNumberTable = CalledNumberTable(), source: Source = .requestURI,
        unmatched: Unmatched = .trunk
    ) {
        self.routes = routes
        self.table = table
        self.source = source
        self.unmatched = unmatched
    }

    /// False without any route and with every call for the trunk's PBX.
    var areUsed: Bool { !routes.isEmpty || unmatched == .reject }

    /// The route of a called number; nil where none matches.
    func route(of number: E164Number?) -> CallRoute? {
        guard let number, let position = table.route(of: number), routes.indices.contains(position) else { return nil }
        return routes[position]
    }
}
