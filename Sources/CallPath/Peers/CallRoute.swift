// SPDX-License-Identifier: Apache-2.0

public import Branding

/// A route: the PBX, the policy and the limits of calls to some numbers.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
public final class CallRoute: Sendable {
    public let name: String
    /// Nil for the trunk's PBX.
    public let pbx: PBXPeer?
    /// Nil for the trunk's policy.
    public let policy: BrandingPolicy?
    /// Whether its calls have brands, or would have.
    public let brands: BrandMode
    /// Its limits and its calls in progress; nil without limits.
    public let admission: TrunkAdmission?
    /// Nil for calls without a customer.
    public let customer: CallCustomer?

    public init(
        name: String, pbx: PBXPeer? = nil, policy: BrandingPolicy? = nil, brands: BrandMode = .on,
        admission: TrunkAdmission? = nil, customer: CallCustomer? = nil
    ) {
        self.customer = customer
        self.name = name
        self.pbx = pbx
        self.policy = policy
        self.brands = brands
        self.admission = admission
    }
}

/// The routes by called number.
///
/// Immutable. A class, so that passing it along the walk of a message costs one reference count.
public final class CallRoutes: Sendable {
    let routes: [CallRoute]
    let table: CalledNumberTable
    let source: CalledField
    let unmatched: UnmatchedCalls
    /// The customers of all routes by their marks.
    private let customers: [UInt32: CallCustomer]
    /// The customers of PBXs that have the calls of one customer alone, by the key of the PBX.
    private let owners: [UInt64: CallCustomer]

    /// - Parameter table: its routes are positions in `routes`.
    public init(
        _ routes: [CallRoute] = [], table: CalledNumberTable = CalledNumberTable(), source: CalledField = .requestURI,
        unmatched: UnmatchedCalls = .trunk
    ) {
        self.routes = routes
        self.table = table
        self.source = source
        self.unmatched = unmatched
        customers = routes.compactMap(\.customer).reduce(into: [:]) { $0[$1.mark] = $1 }
        owners = Self.owners(of: routes)
    }

    private static func owners(of routes: [CallRoute]) -> [UInt64: CallCustomer] {
        var owners: [UInt64: CallCustomer?] = [:]
        for route in routes {
            guard let pbx = route.pbx else { continue }
            guard let known = owners[pbx.key] else {
                owners[pbx.key] = .some(route.customer)
                continue
            }
            // Of two customers on one PBX only the calling number shows which one calls.
            if known !== route.customer { owners[pbx.key] = .some(nil) }
        }
        return owners.compactMapValues { $0 }
    }

    /// The customer with the mark of a route cookie; nil for one that was removed.
    func customer(mark: UInt32) -> CallCustomer? { customers[mark] }

    var hasCustomers: Bool { !customers.isEmpty }
    /// The names of the customers that have routes.
    public var customerNames: [String] { customers.values.map(\.name) }

    /// The customer of a PBX's call: the one whose calls the PBX has, else that of the calling number's route.
    ///
    /// A number of another PBX's route shows nothing: any PBX can write it.
    func customer(ofCaller number: E164Number?, at pbx: PBXPeer) -> CallCustomer? {
        guard !customers.isEmpty else { return nil }
        if let owner = owners[pbx.key] { return owner }
        return route(of: number).flatMap { $0.pbx?.key == pbx.key ? $0.customer : nil }
    }

    /// False without any route and with every call for the trunk's PBX.
    var areUsed: Bool { !routes.isEmpty || unmatched == .reject }

    /// The route of a called number; nil where none matches.
    func route(of number: E164Number?) -> CallRoute? {
        guard let number, let position = table.route(of: number), routes.indices.contains(position) else { return nil }
        return routes[position]
    }
}
