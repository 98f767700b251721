// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
package import Host
import Primitives
import SIPCore

/// `herald test-call --sipp`: scripts of a carrier and a PBX for SIPp, with the addresses of a configuration.
package struct SIPpScripts {
    /// The situations; each has a script of both sides.
    private static let situations: [(name: String, text: String)] = [
        ("answered", "the phone answers, the caller hangs up after two seconds"),
        ("missed", "the caller gives up after two seconds of ringing"),
        ("declined", "the phone declines with 603"),
        ("returned", "the PBX calls the carrier's number; place a missed call before"),
    ]

    private static var files: [(name: String, bytes: [UInt8])] {
        [
            ("carrier-answered.xml", PackageResources.carrier_answered_xml),
            ("carrier-missed.xml", PackageResources.carrier_missed_xml),
            ("carrier-declined.xml", PackageResources.carrier_declined_xml),
            ("carrier-returned.xml", PackageResources.carrier_returned_xml),
            ("pbx-answered.xml", PackageResources.pbx_answered_xml),
            ("pbx-missed.xml", PackageResources.pbx_missed_xml),
            ("pbx-declined.xml", PackageResources.pbx_declined_xml),
            ("pbx-returned.xml", PackageResources.pbx_returned_xml),
        ]
    }

    /// One side: its own address, and the gateway's as it sends there.
    private struct Side {
        let host: String
        let port: UInt16
        let gateway: String
        let transport: String
    }

    private let carrier: Side
    private let pbx: Side
    private let trunk: String
    private let office: String
    private let caller: String
    private let called: String

    /// - Throws: `CommandFailure` for an unknown trunk, and without a caller.
    package init(_ configuration: HeraldConfiguration, _ wish: TestCallWish) throws(CommandFailure) {
        guard let caller = wish.from, TestCallOrder.isUser(caller) else {
            throw CommandFailure("--sipp needs --from NUMBER, a number with a brand, such as +61491570156")
        }
        guard let trunk = configuration.trunks.first(where: { wish.trunk == nil || $0.name == wish.trunk }) else {
            throw CommandFailure(configuration.noTrunk(named: wish.trunk ?? ""))
        }
        let pbx = configuration.pbx[trunk.pbx]
        guard let target = pbx.targets.first, let hop = trunk.targets.first else {
            throw CommandFailure("trunk \(trunk.name) or pbx \(pbx.name) has no target")
        }
        let (host, port) = Self.carrier(trunk.sources, hop.address)
        carrier = Self.side(host, port, configuration.listen[trunk.listener])
        self.pbx = Self.side(target.address.host, target.address.port, configuration.listen[target.listener])
        (self.trunk, office) = (trunk.name, pbx.name)
        (self.caller, called) = (caller, wish.to)
    }

    /// The address from which a carrier may send: that of the next hop, whose calls back arrive there, if it is a source.
    static func carrier(_ sources: [SourceRange], _ hop: EndpointAddress) -> (host: String, port: UInt16) {
        guard let first = sources.first else { return (hop.host, hop.port) }
        if sources.contains(where: { $0.covers(hop) }) { return (hop.host, hop.port) }
        return (first.firstHost, first.port ?? hop.port)
    }

    private static func side(_ host: String, _ port: UInt16, _ listener: HeraldConfiguration.Listener) -> Side {
        let transport = listener.transport == .udp ? "u1" : listener.transport == .tcp ? "t1" : "l1"
        return Side(
            host: host, port: port, gateway: (listener.advertise ?? listener.address).description,
            transport: transport)
    }

    /// Writes the set into a new folder.
    ///
    /// - Throws: `CommandFailure` if the folder exists or cannot be written.
    package func write(to folder: String) throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            for file in Self.files { try Data(file.bytes).write(to: URL(fileURLWithPath: folder + "/" + file.name)) }
            try Data(script.utf8).write(to: URL(fileURLWithPath: folder + "/run"))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/run")
            try Data(readme.utf8).write(to: URL(fileURLWithPath: folder + "/README"))
        } catch {
            throw CommandFailure(
                """
                the folder \(folder) cannot be made: \(SystemError.text(error) ?? "\(error)"); name a new one in a folder that \
                this user may write to, such as /tmp/sipp
                """)
        }
        Output.write("\(folder) has a carrier and a PBX for SIPp: see \(folder)/README\n")
    }

    private var script: String {
        """
        #!/bin/sh
        # run carrier|pbx SITUATION: one call of one side; start the side that answers first.
        # Each value can be set from outside, such as: CARRIER_HOST=203.0.113.9 ./run carrier answered
        set -eu
        : "${CARRIER_HOST:=\(carrier.host)}" "${CARRIER_PORT:=\(carrier.port)}"
        : "${PBX_HOST:=\(pbx.host)}" "${PBX_PORT:=\(pbx.port)}"
        : "${GATEWAY_OF_CARRIER:=\(carrier.gateway)}" "${GATEWAY_OF_PBX:=\(pbx.gateway)}"
        : "${CALLER:=\(caller)}" "${CALLED:=\(called)}"
        folder=$(cd "$(dirname "$0")" && pwd)
        side=${1:?carrier or pbx} situation=${2:?answered, missed, declined or returned}
        case $side in
        carrier) host=$CARRIER_HOST port=$CARRIER_PORT gateway=$GATEWAY_OF_CARRIER transport=\(carrier.transport) ;;
        pbx) host=$PBX_HOST port=$PBX_PORT gateway=$GATEWAY_OF_PBX transport=\(pbx.transport) ;;
        *) echo "the side is carrier or pbx" >&2; exit 64 ;;
        esac
        # The PBX begins the call back; there the two numbers change places.
        if [ "$situation" = returned ]; then set -- "$CALLED" "$CALLER"; else set -- "$CALLER" "$CALLED"; fi
        case $side-$situation in
        carrier-returned | pbx-answered | pbx-missed | pbx-declined) gateway= ;;
        esac
        exec sipp $gateway -sf "$folder/$side-$situation.xml" -i "$host" -p "$port" -t "$transport" -m 1 -nostdin \\
            -timeout 60 -timeout_error -trace_err -error_file "$side-$situation.errors" \\
            -trace_logs -log_file "$side-$situation.log" -key caller "$1" -key called "$2"

        """
    }

    private var readme: String {
        let rows = Self.situations.map { "  \($0.name)\(String(repeating: " ", count: 10 - $0.name.count))\($0.text)" }
        return """
            A carrier and a PBX for SIPp, beside a gateway of Herald (apt install sip-tester).

            Run the carrier on the machine that has an address of trunk \(trunk) (\(carrier.host)), and the PBX on the one
            that has the address of pbx \(office) (\(pbx.host)). A side that is real takes the place of its script.
            The calls are ordinary calls: they have records, events and outcomes. herald test-call places a call without them.

              ./run pbx answered &          # the side that answers first
              ./run carrier answered        # exit code 0 if the call went as written

            \(rows.joined(separator: "\n"))

            For returned start the carrier first: ./run carrier returned & ./run pbx returned
            SIDE-SITUATION.log has what the phone would show, SIDE-SITUATION.errors what went wrong.
            ./run reads its addresses and numbers from the environment too; its first lines have the names.

            """
    }
}
