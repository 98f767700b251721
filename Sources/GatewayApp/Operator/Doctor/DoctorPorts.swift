// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import HostSystem

/// Checks that the configured addresses are free, or held by the running gateway.
struct DoctorPorts {
    let findings: [DoctorFinding]

    /// - Parameter isRunning: true if a gateway of this configuration responds, which then holds the addresses.
    init(_ configuration: HeraldConfiguration, isRunning: Bool) {
        var addresses = configuration.listen.map { listener in
            (listener.transport == .udp ? ListenRefusal.Wire.udp : .tcp, listener.address, "listen \(listener.name)")
        }
        if let admin = configuration.admin { addresses.append((.tcp, admin, "admin.listen")) }
        if let logos = configuration.logos { addresses.append((.tcp, logos.listen, "logos.listen")) }
        findings = addresses.map { Self.finding($0, $1, $2, isRunning: isRunning) }
    }

    private static func finding(
        _ wire: ListenRefusal.Wire, _ address: EndpointAddress, _ key: String, isRunning: Bool
    ) -> DoctorFinding {
        let code = address.bindCode(wire)
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
