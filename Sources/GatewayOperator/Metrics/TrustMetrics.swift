// SPDX-License-Identifier: Apache-2.0

import CallAccounting
package import CallPath
import GatewayStore
import GatewaySync
import Host
import Trust

/// Metrics and status of the verification of signed calls.
package struct TrustMetrics: Sendable {
    private let trust: GatewayTrust
    private let publisher: TrustPublisher
    private let service: SignerService
    private let time = ServiceClock.system

    /// - Parameters:
    ///   - trust: has the counts of the call path.
    ///   - service: lists and checks unknown signers.
    package init(_ trust: GatewayTrust, _ publisher: TrustPublisher, _ service: SignerService) {
        (self.trust, self.publisher, self.service) = (trust, publisher, service)
    }

    /// Verified calls, causes, and dropped requests.
    func counters() async -> [CounterSample] {
        let dropped = await service.dropped
        let fetches = (await service.fetchFigures?.counts ?? [:]).sorted { $0.key < $1.key }.map { result, count in
            CounterSample(
                name: "herald_trust_fetches_total", help: "Fetches of signers' certificates by result",
                labels: [MetricLabel("result", result)], value: count)
        }
        let results = TrustEvidence.Result.allCases.map { result in
            CounterSample(
                name: "herald_trust_calls_total", help: "Verified calls by the result for the caller's number",
                labels: [MetricLabel("result", result.label)], value: trust.counters.count(result))
        }
        let causes = TrustCause.allCases.map { cause in
            CounterSample(
                name: "herald_trust_causes_total", help: "Signed header fields of calls by cause",
                labels: [MetricLabel("cause", cause.name)], value: trust.counters.count(cause))
        }
        return results + causes + fetches + (await listCounters()) + [
            CounterSample(
                name: "herald_trust_contradictions_total", help: "Calls whose verdict contradicts the trunk's verstat",
                value: trust.counters.contradictions),
            CounterSample(
                name: "herald_trust_changed_calls_total",
                help: "Calls that the verdict decides in another way, or would in shadow",
                value: trust.counters.changedCalls),
            CounterSample(
                name: "herald_trust_changed_names_total",
                help: "Calls whose name, logo, reason or verified mark signed values change, or would in shadow",
                value: trust.counters.changedNames),
            CounterSample(
                name: "herald_trust_requests_dropped_total",
                help: "Requests of calls for an unknown signer that were dropped above a limit",
                value: dropped),
        ]
    }

    /// Fetches of lists with an address.
    private func listCounters() async -> [CounterSample] {
        await service.lists.counts.sorted { $0.key < $1.key }.map { result, count in
            CounterSample(
                name: "herald_trust_list_fetches_total",
                help: "Fetches of lists of authorities and of revocation lists by result",
                labels: [MetricLabel("result", result)], value: count)
        }
    }

    /// The age and the failures of each list with an address.
    private func listGauges() async -> [GaugeSample] {
        let now = time.now()
        let lists = await service.listFigures
        let ages = lists.compactMap { figures in
            figures.state.fetchedAt.map { fetchedAt in
                GaugeSample(
                    name: "herald_trust_list_fetch_age_seconds", help: "Seconds since the last fetch of a list",
                    labels: [MetricLabel("address", figures.list.address)], value: Double(now - fetchedAt))
            }
        }
        return ages
            + lists.map { figures in
                GaugeSample(
                    name: "herald_trust_list_fetch_failures", help: "Fetches of a list that failed in a row",
                    labels: [MetricLabel("address", figures.list.address)], value: Double(figures.state.attempts))
            }
    }

    /// Signers, unknown addresses, the clock, and ends of lists.
    func gauges() async -> [GaugeSample] {
        let figures = await publisher.figures
        var gauges = [
            GaugeSample(
                name: "herald_trust_signers", help: "Signers of calls with a certificate",
                value: Double(figures?.signers ?? 0)),
            GaugeSample(
                name: "herald_trust_unknown_addresses", help: "Addresses of signers without a certificate",
                value: Double(figures?.unknown ?? 0)),
        ]
        if let fetches = await service.fetchFigures {
            gauges += [
                GaugeSample(
                    name: "herald_trust_fetches_waiting", help: "Addresses of signers that wait for a fetch",
                    value: Double(fetches.waiting)),
                GaugeSample(
                    name: "herald_trust_fetches_running", help: "Fetches of signers' certificates that run",
                    value: Double(fetches.running)),
                GaugeSample(
                    name: "herald_trust_fetch_hosts_skipped",
                    help: "Hosts of certificates that are skipped for a minute, since they sent no response",
                    value: Double(fetches.skippedHosts)),
            ]
        }
        if let offset = trust.counters.clockOffset {
            gauges.append(
                GaugeSample(
                    name: "herald_trust_clock_offset_seconds",
                    help: "Seconds by which the tokens of most signers are ahead of this machine's clock",
                    value: Double(offset)))
        }
        let now = time.now()
        let revocations = await publisher.revocations.map { list in
            GaugeSample(
                name: "herald_trust_revocations_expire_seconds",
                help: "Seconds until the next revocation list of an issuer is due; negative once it is",
                labels: [MetricLabel("issuer", list.issuer)], value: Double(list.next - now))
        }
        return gauges + (await listGauges()) + revocations
            + (figures?.lists ?? []).map { list in
                GaugeSample(
                    name: "herald_trust_list_expires_seconds",
                    help: "Seconds until the list of authorities of a regime ends; negative once it has",
                    labels: [MetricLabel("regime", list.regime)], value: Double(list.expires - now))
            }
    }

    /// The part of the status.
    func status() async -> GatewayStatus.Trust {
        let lists = await service.listFigures
        let figures = await publisher.figures
        let counts = TrustEvidence.Result.allCases.map { ($0.label, trust.counters.count($0)) }
        return GatewayStatus.Trust(
            signers: figures?.signers ?? 0, unknownAddresses: figures?.unknown ?? 0,
            calls: Dictionary(counts, uniquingKeysWith: { $1 }), clockOffset: trust.counters.clockOffset,
            decidedAt: figures.flatMap { $0.decidedAt > 0 ? $0.decidedAt : nil }, problem: await publisher.problem,
            fetches: await service.fetchFigures.map(GatewayStatus.Trust.Fetches.init),
            lists: lists.isEmpty ? nil : lists.map(GatewayStatus.Trust.ListFetch.init))
    }
}

extension TrustEvidence.Result {
    /// The result as a label's value.
    fileprivate var label: String {
        switch self {
        case .none: "none"
        case .passedA: "passed_a"
        case .passedB: "passed_b"
        case .passedC: "passed_c"
        case .passed: "passed"
        case .failed: "failed"
        }
    }
}
