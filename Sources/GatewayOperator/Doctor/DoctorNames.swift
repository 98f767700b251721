// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import GatewayConfiguration
import Host
import SIPTransport

/// Resolves the names of next hops, as the gateway does.
struct DoctorNames: Sendable {
    private let configuration: HeraldConfiguration

    init(_ configuration: HeraldConfiguration) { self.configuration = configuration }

    /// The addresses of every name, and a finding for each.
    func resolved() async -> (hops: [NextHopName: [ResolvedHop]], findings: [DoctorFinding]) {
        let servers = configuration.nameServers.compactMap { try? $0.peer() }
        let lookup = SystemNameLookup(settings: .init(servers: servers))
        let resolution = NextHopResolution(families: configuration.addressFamilies)
        let results = await withTaskGroup(of: (NextHopName, Result<NextHopResponse, NextHopFailure>).self) { group in
            for name in configuration.nextHopNames {
                group.addTask {
                    do throws(NextHopFailure) {
                        return (name, .success(try await resolution.resolve(name, using: lookup)))
                    } catch {
                        return (name, .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var hops: [NextHopName: [ResolvedHop]] = [:]
        var findings: [DoctorFinding] = []
        for (name, result) in results.sorted(by: { $0.0.host < $1.0.host }) {
            switch result {
            case .success(let response) where response.hops.isEmpty:
                findings.append(
                    DoctorFinding("names", .error, "\(name) declines SIP in its SRV records; see the target's address"))
            case .success(let response):
                hops[name] = response.hops
                let addresses = response.hops.map { "\($0.address)" }.joined(separator: ", ")
                findings.append(DoctorFinding("names", .ok, "\(name) is \(addresses)"))
                findings += response.gaps.map { DoctorFinding("names", .note, $0) }
            case .failure(let failure): findings.append(DoctorFinding("names", .error, failure.description))
            }
        }
        return (hops, findings)
    }
}
