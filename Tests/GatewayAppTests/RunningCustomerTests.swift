// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import ChildPrograms
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Synchronization
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("Customers of a running gateway", .serialized, .timeLimit(.minutes(8)))
struct RunningCustomerTests {
    let fixture: StartFixture
    let trunk: UDPPeer
    let pbx: UDPPeer
    let trunkAddress: String
    let text: ConfigurationText

    init() async throws {
        fixture = try await StartFixture()
        trunkAddress = fixture.folder.address.replacing("127.84.", with: "127.90.")
        let pbxAddress = fixture.folder.address.replacing("127.84.", with: "127.91.")
        trunk = try UDPPeer(trunkAddress, port: 5060)
        pbx = try UDPPeer(pbxAddress, port: 5060)
        text = fixture.folder.sections.with(
            "trunks", "[{name: carrier, sources: [\(trunkAddress)], next_hop: '\(trunkAddress):5060', trusted: true}]"
        )
        .with("pbx", "[{name: office, address: '\(pbxAddress):5060', probe: false}]")
        for name in ["acme", "beta"] { try fixture.folder.put(Array("key-of-\(name)".utf8), in: name) }
    }

    /// A directory with one brand of this name, which handles events as `event` does.
    static func directory(
        _ name: String, event: @escaping @Sendable () -> FaultyPeer.Response
    ) throws -> FaultyPeer {
        try FaultyPeer { request, _ in
            if request.path.hasSuffix("/branding/sync") {
                return .json(
                    """
                    {"branding": [{"phone_number_e164": "+61255501001", "brand_name": "\(name)",
                    "logo_url": "https://logos.example/l.png", "call_reason": "", "updated_at": "2026-05-04T10:11:12Z"}], "synced_at": "2026-05-04T10:15:00Z",
                    "config": {"branding_enabled": true, "mode": "live"}}
                    """)
            }
            return request.method == "POST" && request.path.hasSuffix("/event") ? event() : .refusal(404)
        }
    }

    static let taken: FaultyPeer.Response = .json(#"{"success": true, "event_id": "e-1"}"#)

    static func keys(of directory: FaultyPeer) -> Set<String> {
        Set(directory.requests.compactMap { $0.headers["x-api-key"] })
    }

    static func events(at directory: FaultyPeer) -> [String] {
        directory.requests.filter { $0.method == "POST" && $0.path.hasSuffix("/event") }.map(\.body)
    }

    /// The configuration with these customers, each with its number.
    func sections(_ customers: [(name: String, directory: FaultyPeer)]) -> ConfigurationText {
        let accounts = customers.map { name, directory in
            "{name: \(name), directory: {url: '\(directory.url)', api_key_file: \(name), timeout: 1s}}"
        }
        let routes = customers.map { name, _ in
            "{numbers: ['+6125550200\(name == "acme" ? 1 : 2)'], pbx: office, customer: \(name)}"
        }
        return text.with("customers", "[\(accounts.joined(separator: ", "))]")
            .with("routes", "{table: [\(routes.joined(separator: ", "))]}")
    }

    /// Places a call that the PBX rejects as busy, and gives the INVITE as the PBX got it.
    func place(_ call: String, to number: String) async -> String {
        let received = await offer(call, to: number)
        await reject(received)
        return received
    }

    /// Places a call, and gives the INVITE as the PBX got it.
    func offer(_ call: String, to number: String) async -> String {
        let gateway = fixture.folder.address
        let invite = [
            "INVITE sip:\(number)@\(gateway) SIP/2.0", "Via: SIP/2.0/UDP \(trunkAddress):5060;branch=z9hG4bK\(call)",
            "From: <sip:+61255501001@carrier.example>;tag=a", "To: <sip:\(number)@\(gateway)>", "Call-ID: \(call)",
            "CSeq: 1 INVITE", "Max-Forwards: 70", "Content-Length: 0", "", "",
        ]
        trunk.send(invite.joined(separator: "\r\n"), to: gateway)
        var received = await pbx.receive()
        while !received.contains("Call-ID: \(call)\r") || !received.hasPrefix("INVITE ") {
            received = await pbx.receive()
        }
        return received
    }

    /// The PBX rejects a call as busy.
    func reject(_ received: String) async {
        let gateway = fixture.folder.address
        let copied = received.components(separatedBy: "\r\n").filter { line in
            ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
        }
        let busy = (["SIP/2.0 486 Busy Here"] + copied + ["Content-Length: 0", "", ""]).joined(separator: "\r\n")
        pbx.send(busy.replacing("\r\nCall-ID:", with: ";tag=b\r\nCall-ID:"), to: gateway)
        var response = await trunk.receive()
        while !response.hasPrefix("SIP/2.0 486") { response = await trunk.receive() }
    }

    /// Places calls until one has the brand: the first sync may take a moment.
    func placeBranded(_ call: String, to number: String, as name: String) async throws {
        for attempt in 0... {
            if await place("\(call)-\(attempt)", to: number).contains("\"\(name)\"") { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func until(_ isTrue: () -> Bool) async throws {
        while !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `a silent directory of one customer delays no event of another, and no directory sees a foreign key`()
        async throws
    {
        let acme = try Self.directory("Acme Acres") { .silence }
        let beta = try Self.directory("Beta Bank") { Self.taken }
        let start = try fixture.start(sections([("acme", acme), ("beta", beta)]))
        try await fixture.run(start) { _ in
            try await placeBranded("acme", to: "+61255502001", as: "Acme Acres")
            try await until { !Self.events(at: acme).isEmpty }
            try await placeBranded("beta", to: "+61255502002", as: "Beta Bank")
            try await until { Self.events(at: beta).count == 1 }
            acme.close()
        }
        #expect(Self.keys(of: acme) == ["key-of-acme"] && Self.keys(of: beta) == ["key-of-beta"])
        #expect(Self.events(at: beta).allSatisfy { $0.contains("+61255502002") && !$0.contains("+61255502001") })
        let folder = fixture.folder.path + "/state"
        let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: folder))
        #expect(try reader.events(customer: "acme", limit: 9).allSatisfy { $0.state == .waiting })
        #expect(try reader.events(customer: "beta", limit: 9).map(\.state) == [.delivered])
        beta.close()
    }

    @Test func `a reload adds a customer, and one that it removes gets the events that wait`() async throws {
        let isAway = Mutex(true)
        let acme = try Self.directory("Acme Acres") { Self.taken }
        let beta = try Self.directory("Beta Bank") { isAway.withLock { $0 } ? .status(503) : Self.taken }
        let (one, both) = (sections([("acme", acme)]), sections([("acme", acme), ("beta", beta)]))
        let folder = fixture.folder
        try await fixture.run(try fixture.start(one)) { reload in
            try folder.write(both)
            #expect(await reload.run() == .applied(waiting: []))
            try await placeBranded("beta", to: "+61255502002", as: "Beta Bank")
            try await until { !Self.events(at: beta).isEmpty }
            try folder.write(one)
            #expect(await reload.run() == .applied(waiting: []))
            #expect(await !place("later", to: "+61255502002").contains("Beta Bank"))
            isAway.withLock { $0 = false }
            let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: folder.path + "/state"))
            while try reader.events(customer: "beta", limit: 9).contains(where: { $0.state != .delivered }) {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        #expect(Self.events(at: acme).isEmpty)
        acme.close()
        beta.close()
    }

    @Test func `an open call of a removed customer ends in its name, and its event goes to its directory`() async throws
    {
        let acme = try Self.directory("Acme Acres") { Self.taken }
        let beta = try Self.directory("Beta Bank") { Self.taken }
        let (one, both) = (sections([("acme", acme)]), sections([("acme", acme), ("beta", beta)]))
        let folder = fixture.folder
        try await fixture.run(try fixture.start(both)) { reload in
            try await placeBranded("first", to: "+61255502002", as: "Beta Bank")
            try await until { !Self.events(at: beta).isEmpty }
            let before = Self.events(at: beta).count
            let open = await offer("open", to: "+61255502002")
            #expect(open.contains("Beta Bank"))
            try folder.write(one)
            #expect(await reload.run() == .applied(waiting: []))
            await reject(open)
            try await until { Self.events(at: beta).count > before }
            let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: folder.path + "/state"))
            let call = try #require(try reader.calls(limit: 1).first)
            #expect(call.callID != "" && call.customer == "beta" && call.outcome != nil)
        }
        #expect(Self.events(at: acme).isEmpty)
        acme.close()
        beta.close()
    }

    @Test func `a key that cannot be used is refused, and the customers stay as they are`() async throws {
        let acme = try Self.directory("Acme Acres") { Self.taken }
        let folder = fixture.folder
        let good = sections([("acme", acme)])
        try await fixture.run(try fixture.start(good)) { reload in
            try folder.put(Array("two words".utf8), in: "beta")
            try folder.write(sections([("acme", acme), ("beta", acme)]))
            #expect(await !reload.run().isApplied)
            try await placeBranded("acme", to: "+61255502001", as: "Acme Acres")
        }
        acme.close()
    }

    @Test func `brands that a refused reload did not load are loaded by the next one`() async throws {
        let acme = try Self.directory("Acme Acres") { Self.taken }
        let beta = try Self.directory("Beta Bank") { Self.taken }
        let (one, both) = (sections([("acme", acme)]), sections([("acme", acme), ("beta", beta)]))
        let (folder, port) = (fixture.folder, ReservedPort.next())
        try folder.put(Array("no pem".utf8), in: "no.pem")
        try await fixture.run(try fixture.start(both)) { reload in
            try await placeBranded("first", to: "+61255502002", as: "Beta Bank")
            try folder.write(one)
            #expect(await reload.run() == .applied(waiting: []))
            // From now on only the stored copy has the brands.
            beta.close()
            try folder.write(
                both.with("admin", "{listen: '127.0.0.1:\(port)', tls: {certificate: no.pem, key: no.pem}}"))
            #expect(await !reload.run().isApplied)
            try folder.write(both)
            #expect(await reload.run() == .applied(waiting: []))
            #expect(await place("stored", to: "+61255502002").contains("\"Beta Bank\""))
        }
        acme.close()
    }

    @Test func `a reload takes renewed roots of an account, and refuses those that it cannot read`() async throws {
        let folder = fixture.folder
        func makeRoots() async throws {
            let made = try await ChildProgram.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder.path + "/key.pem",
                    "-out", folder.path + "/roots.pem", "-subj", "/CN=root",
                ])
            try #require(made.code == 0, "\(made.errors)")
        }
        try await makeRoots()
        let access = "{url: 'https://127.0.0.1:9', api_key_file: acme, tls: {roots: roots.pem}}"
        let text = text.with("customers", "[{name: acme, directory: \(access)}]")
        let (resources, state) = try await fixture.state(text)
        let configuration = try folder.configuration(text)
        let accounts = try DirectoryAccounts(
            try fixture.start(text), state, resources.troubles, whileSyncing: { _ in })
        let before = accounts.owner("acme")
        #expect(try accounts.prepare(configuration) == nil)
        try folder.put(Array("no pem".utf8), in: "roots.pem")
        #expect(throws: (any Error).self) { try accounts.prepare(configuration) }
        try await makeRoots()
        let renew = try #require(try accounts.prepare(configuration))
        await renew()
        let after = accounts.owner("acme")
        #expect(before != nil && after != nil && before !== after)
        #expect(before?.brands === after?.brands, "the brands stay in force")
        #expect(try accounts.prepare(configuration) == nil)
        try state.database.close()
    }

    @Test func `customers of one account, and accounts with the same brands, share one set of brands in memory`()
        async throws
    {
        let (one, same) = (try Self.directory("Acme") { Self.taken }, try Self.directory("Acme") { Self.taken })
        let other = try Self.directory("Beta") { Self.taken }
        let accounts = [("a", one, "acme"), ("b", one, "acme"), ("c", same, "acme"), ("d", other, "beta")].map {
            "{name: \($0), directory: {url: '\($1.url)', api_key_file: \($2), timeout: 1s}}"
        }
        let routes = ["a", "b", "c", "d"].enumerated().map {
            "{numbers: ['+6125550200\($0)'], pbx: office, customer: \($1)}"
        }
        let start = try fixture.start(
            text.with("customers", "[\(accounts.joined(separator: ", "))]")
                .with("routes", "{table: [\(routes.joined(separator: ", "))]}"))
        try await fixture.run(start) { _ in
            let shown = ["Acme", "Acme", "Acme", "Beta"]
            for (position, name) in shown.enumerated() {
                try await placeBranded("share-\(position)", to: "+6125550200\(position)", as: name)
            }
            let control = ControlClient(folder: start.configuration.runtime)
            let customers = try await control.state().gateway.customers
            #expect(
                customers?.count == 4 && customers?.accounts == 3 && customers?.brandSets == 2, "\(customers as Any)")
            var sync = try await control.sync(full: true, customer: "c")
            // That of the start may still run.
            for _ in 0..<500 where sync.result == .busy {
                try await Task.sleep(for: .milliseconds(20))
                sync = try await control.sync(full: true, customer: "c")
            }
            #expect(sync.result == .succeeded && sync.numbers == 1)
            let unknown = try await control.sync(full: false, customer: "e")
            #expect(unknown.error == "no customer is named e; did you mean \"a\"?; there are a, b, c, d")
        }
        for directory in [one, same, other] { directory.close() }
    }
}
