// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
package import GatewayDoors
import Host

/// Metrics and status of the doors for systems that ask for names or verifications.
package struct DoorMetrics: Sendable {
    private let names: NamesCounters
    private let callingNames: NumberZoneCounters
    private let redirect: RedirectCounters
    private let verification: VerificationCounters
    private let outcomes: OutcomeCounters

    /// Takes the requests since the start.
    ///
    /// - Parameters:
    ///   - names: by HTTP.
    ///   - callingNames: by ENUM.
    ///   - redirect: by SIP redirection.
    ///   - verification: for verifications.
    ///   - outcomes: reports of calls.
    package init(
        names: NamesCounters, callingNames: NumberZoneCounters, redirect: RedirectCounters = RedirectCounters(),
        verification: VerificationCounters = VerificationCounters(), outcomes: OutcomeCounters = OutcomeCounters()
    ) {
        (self.names, self.callingNames, self.redirect) = (names, callingNames, redirect)
        (self.verification, self.outcomes) = (verification, outcomes)
    }

    /// Requests by door and result; a result that has not occurred is absent, except `matched` by HTTP.
    var counters: [CounterSample] {
        Self.samples("names", names.all) + Self.samples("enum", callingNames.all)
            + Self.samples("redirect", redirect.all) + Self.samples("verification", verification.all)
            + Self.samples("outcomes", outcomes.all)
    }

    private static func samples(_ door: String, _ results: [(label: String, count: UInt64)]) -> [CounterSample] {
        results.map { result in
            CounterSample(
                name: "herald_door_requests_total", help: "Requests of clients by door and result",
                labels: [MetricLabel("door", door), MetricLabel("result", result.label)], value: result.count)
        }
    }

    /// The part of the status; nil without a door.
    func status(_ doors: HeraldConfiguration.Doors) -> GatewayStatus.Doors? {
        guard
            doors.names != nil || doors.callingNames != nil || doors.redirect != nil || doors.verification != nil
                || doors.outcomes != nil
        else { return nil }
        return GatewayStatus.Doors(
            names: doors.names.map {
                .init(listen: "\($0.listen)", trunk: $0.trunk, requests: Self.counts(names.all))
            },
            callingNames: doors.callingNames.map {
                .init(
                    listen: "\($0.listen)", trunk: $0.trunk, zone: "\($0.zone)",
                    requests: Self.counts(callingNames.all))
            },
            redirect: doors.redirect.map {
                .init(listen: "\($0.listen)", trunk: $0.trunk, requests: Self.counts(redirect.all))
            },
            verification: doors.verification.map {
                .init(
                    listen: "\($0.listen)", path: $0.path, trunk: $0.trunk,
                    requests: Self.counts(verification.all))
            },
            outcomes: doors.outcomes.map {
                .init(listen: "\($0.listen)", trunk: $0.trunk, requests: Self.counts(outcomes.all))
            })
    }

    private static func counts(_ results: [(label: String, count: UInt64)]) -> [String: UInt64] {
        Dictionary(results.map { ($0.label, $0.count) }, uniquingKeysWith: +)
    }
}
