// SPDX-License-Identifier: Apache-2.0

import Branding
import CallPath
import Host
import SIPCore
import SIPTransport

// Counters of the call path and of TCP and TLS connections.

extension GatewayStatusReport {
    /// Calls from trunks by branding decision.
    func callCounters() -> [CounterSample] {
        let help = "Calls from trunks by branding decision"
        let branded = CounterSample(
            name: "herald_calls_total", help: help, labels: [MetricLabel("decision", "matched")],
            value: counters.count(.callsBranded))
        return [branded]
            + PassThroughReason.allCases.filter { $0 != .outbound }.map { reason in
                CounterSample(
                    name: "herald_calls_total", help: help, labels: [MetricLabel("decision", reason.description)],
                    value: counters.count(reason))
            }
    }

    /// Messages received, forwarded, rejected and dropped.
    func signalingCounters() -> [CounterSample] {
        let drops = SIPIndexError.allCases.map { error in
            CounterSample(
                name: "herald_datagrams_dropped_total", help: "Datagrams that were not SIP messages, by reason",
                labels: [MetricLabel("reason", error.rawValue)], value: counters.count(error))
        }
        return drops
            + Self.signaling.map { CounterSample(name: $0.name, help: $0.help, value: counters.count($0.event)) }
    }

    /// Events of TCP and TLS connections; empty where no address uses them.
    func streamCounters() -> [CounterSample] {
        guard let streams else { return [] }
        return StreamCounters.Event.allCases.map { event in
            CounterSample(
                name: "herald_stream_events_total", help: "Events of TCP and TLS connections, by kind",
                labels: [MetricLabel("event", event.label)], value: streams.count(event))
        }
    }

    private static let signaling: [(name: String, help: String, event: GatewayCounters.Event)] = [
        ("herald_datagrams_received_total", "Datagrams received", .datagramsReceived),
        ("herald_datagrams_truncated_total", "Datagrams larger than the receive buffer", .datagramsTruncated),
        ("herald_datagrams_unsent_total", "Datagrams the system refused to send", .datagramsUnsent),
        (
            "herald_requests_forwarded_total", "Requests forwarded with a transaction, except calls",
            .requestsForwarded
        ),
        ("herald_responses_forwarded_total", "Responses forwarded with a transaction", .responsesForwarded),
        ("herald_retransmissions_absorbed_total", "Retransmitted requests absorbed", .retransmissionsAbsorbed),
        ("herald_stateless_forwards_total", "Messages forwarded without a transaction", .forwardedStatelessly),
        ("herald_responses_dropped_total", "Responses that do not belong to the gateway", .responsesDropped),
        ("herald_requests_refused_total", "Requests rejected for breaking a rule of SIP", .requestsRefused),
        ("herald_strangers_refused_total", "Requests of unknown peers rejected with 403", .strangersRefused),
        ("herald_scanners_dropped_total", "Requests of known scanners, dropped without a response", .scannersDropped),
        (
            "herald_strangers_dropped_total",
            "Messages of unknown peers dropped without a response",
            .strangersDropped
        ),
        (
            "herald_overload_refused_total", "Requests rejected with 503 because too many transactions are open",
            .overloadRefused
        ),
        ("herald_calls_shed_total", "Calls shed under overload", .callsShed),
        (
            "herald_late_invites_total", "INVITEs dropped because they may have waited while herald did not run",
            .lateInvites
        ),
        (
            "herald_registrations_without_path_total",
            "Registrations of PBXs without Path, whose calls bypass Herald",
            .registrationsWithoutPath
        ),
        ("herald_loops_found_total", "Looped requests rejected with 482", .loopsFound),
        ("herald_failovers_total", "Requests forwarded to another target after one failed", .failovers),
        ("herald_targets_unavailable_total", "Requests rejected with 503 because no target is up", .targetsUnavailable),
        (
            "herald_calls_refused_rate_total", "Calls rejected above a limit of calls a second of trunk or route",
            .callsRefusedByRate
        ),
        (
            "herald_calls_refused_number_total", "Calls rejected above a limit of calls of trunk or route",
            .callsRefusedByNumber
        ),
        (
            "herald_calls_refused_draining_total", "Calls rejected because the gateway is stopping",
            .callsRefusedWhileDraining
        ),
        (
            "herald_calls_without_route_total", "Calls rejected with 404 because no route has the called number",
            .callsWithoutRoute
        ),
        ("herald_options_answered_total", "OPTIONS that the gateway responds to", .optionsResponses),
        ("herald_outbound_calls_total", "Calls from PBXs", .outboundCalls),
        ("herald_logos_trimmed_total", "Branded calls forwarded without logo because of size", .logosTrimmed),
        (
            "herald_reasons_trimmed_total", "Branded calls forwarded with their name only because of size",
            .reasonsTrimmed
        ),
        ("herald_names_trimmed_total", "Calls forwarded unbranded because of size", .namesTrimmed),
    ]
}

extension StreamCounters.Event {
    /// The event as a label's value.
    fileprivate var label: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .connected: "connected"
        case .connectFailed: "connect_failed"
        case .closedIdle: "closed_idle"
        case .closedUnfinished: "closed_unfinished"
        case .closedBroken: "closed_broken"
        case .closedFull: "closed_full"
        case .closedMemory: "closed_memory"
        case .handshakesFailed: "handshake_failed"
        }
    }
}
