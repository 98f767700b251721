// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import GatewayTesting
import SIPCore
import Trust

/// The settings of a gateway with one trunk, `carrier`, whose rules a door has.
enum DoorGateway {
    /// - Parameter signatures: the verification of the trunk; nil for none.
    static func settings(region: String = "AU", signatures: TrunkSignatures? = nil, brands: BrandMode = .on)
        -> GatewaySettings
    {
        func group(_ ipv4: UInt32) -> TargetGroup {
            let address = PeerAddress(ipv4: ipv4, port: 5060)
            let state = TargetState(name: "\(address)", rules: TargetHealthRules())
            return TargetGroup(
                name: "\(address)",
                targets: [Target(targetState: state, address: address, socket: 0, largestDatagram: nil)])
        }
        let pbx = PBXPeer(name: "office", sources: [], targets: group(0xC000_0214))
        let trunk = TrunkPeer(
            name: "carrier", sources: [], targets: group(0xCB00_7105), socket: 0, isTrusted: true, policy: .standard,
            normaliser: NumberNormaliser(region: Region(region)), identityOrder: [.from], keepsForeignCallInfo: true,
            trunkHeader: nil, pbx: pbx, signatures: signatures, brands: brands)
        let socket = LocalSocket(position: 0, address: PeerAddress(ipv4: 0xC000_020A, port: 5060))
        return GatewaySettings(
            topology: GatewayTopology(sockets: [socket], trunks: [trunk], pbxs: [pbx]),
            secret: Secret(key0: 7, key1: 8), timers: .standard, limits: SIPLimits(), mostTransactions: 10,
            strangers: .refuse, brands: true, writesCallInfo: true)
    }
}
