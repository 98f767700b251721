// SPDX-License-Identifier: Apache-2.0

public import SIPCore

/// The log line about a target that goes down or comes up: the target, the cause, and what becomes of its calls.
public struct TargetLine: Hashable, Sendable {
    public let text: String
    public let isWarning: Bool

    /// - Parameter hasOther: another target of the group takes calls.
    public init(
        of target: TargetState, _ state: TargetHealth.State, _ event: TargetHealth.Event, hasOther: Bool
    ) {
        let name = target.group.isEmpty ? target.name : "target \(target.address) of \(target.group)"
        switch state {
        case .up where event == .probeFailed:
            text = """
                \(name) has not responded to OPTIONS since the start; calls go there all the same. If it never responds \
                to OPTIONS, write probe: false
                """
            isWarning = true
        case .up:
            text = "\(name) is up again"
            isWarning = false
        case .down:
            let group = target.group.isEmpty ? "its group" : target.group
            let calls =
                if target.isDisabled {
                    "it is disabled and has no new calls"
                } else if hasOther {
                    "its calls go to the other targets of \(group)"
                } else {
                    "no other target of \(group) is up: calls are rejected with 503 until one responds"
                }
            text = "\(name) is down: \(Self.reason(event)); \(calls)"
            isWarning = true
        case .resting:
            text = "\(name) asked for a pause with 503 and Retry-After; it has no calls until then"
            isWarning = true
        }
    }

    /// The cause of a target's last failure, for its state.
    public static func cause(of failure: TargetHealth.Failure) -> String {
        switch failure.event {
        case .silent: "a call had no response within health.patience"
        case .unreachable: "a call could not be delivered (no route, or nothing listens there)"
        case .refused: "a call got 503"
        default: reason(failure.event)
        }
    }

    private static func reason(_ event: TargetHealth.Event) -> String {
        switch event {
        case .silent: "calls had no response within health.patience"
        case .unreachable: "calls could not be delivered (no route, or nothing listens there)"
        case .probeRefused(let status): "OPTIONS got \(status)"
        case .probeUndelivered: "OPTIONS could not be delivered (no route, or nothing listens there)"
        default: "OPTIONS had no response"
        }
    }
}

extension TargetState {
    /// Its address with the port: the name without the group.
    public var address: String {
        name.hasPrefix(group + " ") ? String(name.dropFirst(group.utf8.count + 1)) : name
    }
}

extension GatewayTopology {
    /// Why no call from a trunk can be served; nil while a target of some trunk's PBX is there.
    public func pbxProblem(at now: UInt64) -> String? {
        guard !trunks.isEmpty, !trunks.contains(where: { isFit($0, at: now) }) else { return nil }
        var names: [String] = []
        let pbxs = trunks.map(\.pbx) + routes.routes.compactMap(\.pbx)
        for pbx in pbxs where !names.contains(pbx.name) { names.append(pbx.name) }
        let targets = pbxs.flatMap(\.targets.targets).map(\.targetState)
        let group = "pbx \(names.joined(separator: ", "))"
        guard !targets.isEmpty else {
            return "\(group) has no address: DNS has none, or does not respond; herald doctor names the cause. "
                + "Calls are rejected with 503"
        }
        let enabling = "herald targets enable puts a disabled one into service"
        if targets.allSatisfy(\.isDisabled) {
            return "every target of \(group) is disabled: calls are rejected with 503; \(enabling)"
        }
        let problem = "no target of \(group) is up: calls are rejected with 503 until one responds"
        return targets.contains(where: \.isDisabled) ? "\(problem); \(enabling)" : problem
    }
}
