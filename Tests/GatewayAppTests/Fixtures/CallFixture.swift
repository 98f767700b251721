// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
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
    ///
    /// - Parameter to: the parameters of To.
    func send(_ method: String, _ call: String, user: String = "1001@", to: String = "") {
        trunk.send(request(method, call, user: user, to: to), to: folder.address)
    }

    /// A request of the trunk.
    func request(_ method: String, _ call: String, user: String = "1001@", to: String = "") -> String {
        [
            "\(method) sip:\(user)\(folder.address) SIP/2.0",
            "Via: SIP/2.0/UDP \(trunkAddress):5060;branch=z9hG4bK\(call)\(method)",
            "From: <sip:+61255501001@carrier.example>;tag=a", "To: <sip:1001@\(folder.address)>\(to)",
            "Call-ID: \(call)", "CSeq: \(method == "BYE" ? 2 : 1) \(method)", "Max-Forwards: 70",
            "Content-Length: 0", "", "",
        ].joined(separator: "\r\n")
    }

    /// A call that the PBX rejects as busy.
    func place(_ call: String, _ pbx: UDPPeer) async { await respond("486 Busy Here", to: call, pbx) }

    /// A call that the PBX answers.
    func answer(_ call: String, _ pbx: UDPPeer) async { await respond("200 OK", to: call, pbx) }

    /// A call with a final response of the PBX, which has come back to the trunk.
    private func respond(_ status: String, to call: String, _ pbx: UDPPeer) async {
        send("INVITE", call)
        var invite = await pbx.receive()
        while !invite.contains("Call-ID: \(call)\r") || !invite.hasPrefix("INVITE ") { invite = await pbx.receive() }
        let final = Self.response(status, to: invite, contact: "sip:1001@\(pbxAddress):5060")
        pbx.send(final, to: folder.address)
        var response = await trunk.receive()
        while !response.hasPrefix("SIP/2.0 \(status.prefix(3))") { response = await trunk.receive() }
    }

    /// A response of the called side.
    static func response(_ status: String, to request: String, contact: String) -> String {
        let copied = request.components(separatedBy: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:", "Record-Route:"].contains { line.hasPrefix($0) }
        }.map { $0.hasPrefix("To:") && !$0.contains("tag=") ? $0 + ";tag=b" : $0 }
        let lines = ["SIP/2.0 \(status)"] + copied + ["Contact: <\(contact)>", "Content-Length: 0", "", ""]
        return lines.joined(separator: "\r\n")
    }

    /// Waits until a condition holds.
    func until(_ isTrue: () async throws -> Bool) async throws {
        while try await !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
