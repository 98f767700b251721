// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestFixtures

@testable import GatewayApp

/// Starts of a gateway between a trunk and a PBX that the test plays.
final class CallFixture: Sendable {
    let starts: StartFixture
    let trunk: UDPPeer
    let trunkAddress: String
    let pbxAddress: String
    /// The configuration with both peers.
    let text: ConfigurationText

    var folder: GatewayFolder { starts.folder }
    var log: LogLines { starts.log }

    init() async throws {
        starts = try await StartFixture()
        trunkAddress = starts.folder.address.replacing("127.84.", with: "127.86.")
        pbxAddress = starts.folder.address.replacing("127.84.", with: "127.87.")
        trunk = try UDPPeer(trunkAddress, port: 5060)
        text = starts.folder.sections.with(
            "trunks", "[{name: carrier, sources: [\(trunkAddress)], next_hop: '\(trunkAddress):5060', trusted: true}]"
        )
        .with("pbx", "[{name: office, address: '\(pbxAddress):5060', probe: false}]")
    }

    /// The PBX, which receives from now on.
    func pbx() throws -> UDPPeer { try UDPPeer(pbxAddress, port: 5060) }

    /// Sends a request of the trunk: to a user of the PBX, or to the gateway itself for an empty one.
    func send(_ method: String, _ call: String, user: String = "1001@") {
        let request = [
            "\(method) sip:\(user)\(folder.address) SIP/2.0",
            "Via: SIP/2.0/UDP \(trunkAddress):5060;branch=z9hG4bK\(call)\(method)",
            "From: <sip:+61255501001@carrier.example>;tag=a", "To: <sip:1001@\(folder.address)>",
            "Call-ID: \(call)", "CSeq: 1 \(method)", "Max-Forwards: 70", "Content-Length: 0", "", "",
        ]
        trunk.send(request.joined(separator: "\r\n"), to: folder.address)
    }

    /// A call that the PBX rejects as busy.
    func place(_ call: String, _ pbx: UDPPeer) async {
        send("INVITE", call)
        var invite = await pbx.receive()
        while !invite.contains("Call-ID: \(call)\r") || !invite.hasPrefix("INVITE ") { invite = await pbx.receive() }
        let copied = invite.components(separatedBy: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
        }
        let busy = (["SIP/2.0 486 Busy Here"] + copied + ["Content-Length: 0", "", ""]).joined(separator: "\r\n")
        let to = "To: <sip:1001@\(folder.address)>"
        pbx.send(busy.replacing(to, with: to + ";tag=b"), to: folder.address)
        var response = await trunk.receive()
        while !response.hasPrefix("SIP/2.0 486") { response = await trunk.receive() }
    }

    /// Waits until a condition holds.
    func until(_ isTrue: () async throws -> Bool) async throws {
        while try await !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
