// SPDX-License-Identifier: Apache-2.0

import Branding
package import BrandingAPI
import ConfigurationFiles
import Primitives

/// The destination of calls to one number, from the configuration: `herald lookup --called`.
package struct CalledDestination {
    /// The number as the operator wrote it.
    let asked: String
    /// Nil if it is not certain which number that is.
    let number: E164Number?
    /// Nil where no route matches.
    let match: CalledNumberTable.Match?
    private let trunk: HeraldConfiguration.Trunk
    private let configuration: HeraldConfiguration

    /// Finds the route of a number as calls of a trunk find it.
    ///
    /// - Parameter region: country of national numbers; nil for numbers with a plus sign only.
    init(
        _ called: String, on trunk: HeraldConfiguration.Trunk, region: Region?, _ configuration: HeraldConfiguration
    ) {
        asked = called
        let normaliser = NumberNormaliser(region: region, contexts: trunk.phoneContexts)
        number = normaliser.normalise(called.utf8)
        match = number.flatMap { configuration.routes.numbers.match($0) }
        self.trunk = trunk
        self.configuration = configuration
    }

    var route: HeraldConfiguration.Route? { match.map { configuration.routes.table[$0.route] } }
    /// The customer of the call; nil without one.
    var customer: String? { route?.customer.map { configuration.customers[$0].name } }
    var policy: BrandingPolicy { route?.policy ?? trunk.policy }
    var brands: BrandMode { route?.brands ?? .on }

    /// True if such a call gets 404, unless it is an emergency call.
    private var isRejected: Bool {
        guard match == nil, configuration.routes.unmatched == .reject else { return false }
        let dialled = Array(asked.utf8)
        let emergency = EmergencyNumbers(region: trunk.region, own: trunk.emergencyNumbers)
        return !emergency.contains(dialled.span, 0..<dialled.count)
    }

    private var pbx: String? { isRejected ? nil : configuration.pbx[route?.pbx ?? trunk.pbx].name }

    /// Names and values of the report's lines.
    var lines: [(String, String)] {
        let reason = configuration.routes.table.isEmpty ? "there are no routes" : "no route has the number"
        return [
            ("called", number?.description ?? "not certain which number \"\(asked)\" is"),
            ("route", match.map { "\(configuration.routes.table[$0.route].name), by \($0.key)" } ?? "none: \(reason)"),
        ] + (customer.map { [("customer", $0)] } ?? []) + [
            ("pbx", pbx ?? "none: the call gets 404 (routes.default)"),
            ("policy", policy.rawValue + brandsText),
        ]
    }

    private var brandsText: String {
        switch brands {
        case .on: ""
        case .shadow: ", brands in shadow on this route"
        case .off: ", no brands on this route"
        }
    }

    /// The destination without a caller, as lines.
    package var text: String { LookupReport.text(lines) }

    /// The same for `--json`.
    package var json: [String: JSONValue?] {
        [
            "called": JSONValue(number?.description), "route": JSONValue(route?.name),
            "matched": JSONValue(match?.key.description), "pbx": JSONValue(pbx), "customer": JSONValue(customer),
            "policy": .string(policy.rawValue),
            "rejected": .bool(isRejected),
        ]
    }
}
