// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import ConfigurationFiles

// Routes in the form that the call path uses.

extension HeraldConfiguration {
    /// Builds the routes to the PBXs of the topology.
    func callRoutes(to pbxs: [PBXPeer], on foundation: GatewayFoundation) -> CallRoutes {
        let all = routes.table.map { route in
            let limits = route.limits.admitted(in: cluster)
            let admission =
                limits == .init() ? nil : foundation.trunks.admission(of: "route \(route.name)", limits)
            return CallRoute(
                name: route.name, pbx: route.pbx.map { pbxs[$0] },
                policy: route.policy, brands: route.brands,
                admission: admission,
                customer: route.customer.flatMap { foundation.customer(customers[$0]) })
        }
        return CallRoutes(
            all, table: routes.numbers, source: routes.called,
            unmatched: routes.unmatched)
    }
}
