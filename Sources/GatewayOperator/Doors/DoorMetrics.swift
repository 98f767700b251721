// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
package import GatewayDoors
import Host

/// Metrics and status of the doors for systems that ask for names.
package struct DoorMetrics: Sendable {
    private let names: NamesCounters

    /// - Parameter names: the requests for names by HTTP, since the start.
    package init(names: NamesCounters) { self.names = names }

    /// Requests by door and result; a result that has not occurred is absent, except `matched`.
    var counters: [CounterSample] {
        names.all.map { result in
            CounterSample(
                name: "herald_door_requests_total", help: "Requests for names by door and result",
                labels: [MetricLabel("door", "names"), MetricLabel("result", result.label)], value: result.count)
        }
    }

    /// The part of the status; nil without a door.
    func status(_ doors: HeraldConfiguration.Doors) -> GatewayStatus.Doors? {
        guard let door = doors.names else { return nil }
        let requests = Dictionary(names.all.map { ($0.label, $0.count) }, uniquingKeysWith: +)
        return GatewayStatus.Doors(
            names: .init(listen: "\(door.listen)", trunk: door.trunk, requests: requests))
    }
}
