// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewayConfiguration
import Host
import SIPCore

/// Checks that the configured addresses are free, or held by the running gateway.
struct DoctorPorts {
    let findings: [DoctorFinding]

    /// - Parameter isRunning: true if a gateway of this configuration responds, which then holds the addresses.
    init(_ configuration: HeraldConfiguration, isRunning: Bool) {
        let listeners = configuration.listen.map { listener in
            let wire = listener.transport == .udp ? ListenRefusal.Wire.udp : .tcp
            let code = listener.address.bindCode(wire, mayBeAbsent: configuration.mayBeAbsent(listener))
            return Self.finding(code, wire, listener.address, "listen \(listener.name)", isRunning: isRunning)
        }
        let further = [
            (configuration.admin, "admin.listen"), (configuration.logos?.listen, "logos.listen"),
            (configuration.doors.names?.listen, "doors.names.listen"),
            (configuration.doors.callingNames?.listen, "doors.enum.listen"),
            (configuration.doors.verification?.listen, "doors.verification.listen"),
            (configuration.doors.outcomes?.listen, "doors.outcomes.listen"),
        ]
        let redirect = configuration.doors.redirect.map { door in
            Self.finding(
                door.listen.bindCode(.udp), .udp, door.listen, "doors.redirect.listen", isRunning: isRunning)
        }
        findings =
            listeners + (redirect.map { [$0] } ?? [])
            + further.compactMap { address, key in
                address.map { Self.finding($0.bindCode(.tcp), .tcp, $0, key, isRunning: isRunning) }
            }
    }

    private static func finding(
        _ code: Int32, _ wire: ListenRefusal.Wire, _ address: EndpointAddress, _ key: String, isRunning: Bool
    ) -> DoctorFinding {
        if code == 0 {
            let text = "\(wire.rawValue) \(address) (\(key)) is free"
            return isRunning
                ? DoctorFinding(
                    "ports", .warning, text + ", although a gateway runs: it does not use this address; restart it")
                : DoctorFinding("ports", .ok, text)
        }
        if code == EADDRINUSE, isRunning {
            return DoctorFinding("ports", .ok, "\(wire.rawValue) \(address) (\(key)) is in use, by the running gateway")
        }
        let refusal = ListenRefusal(wire, "\(address)", code: code, key: key)
        return DoctorFinding("ports", .error, "\(refusal)")
    }
}
