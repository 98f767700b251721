// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewayTesting
import Host
import Primitives
import Synchronization
import TestFixtures
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

// Commands and pages of a gateway with customers: each is about one customer, or shows whose a row is.

extension RunningCustomerTests {
    /// The client of a gateway that takes orders.
    private func control(of start: GatewayStart) async throws -> ControlClient {
        let client = ControlClient(folder: start.configuration.runtime)
        while (try? await client.state()) == nil { try await Task.sleep(for: .milliseconds(10)) }
        return client
    }

    @Test func `herald doctor asks the directory of each customer with its own key`() async throws {
        let directory = try FaultyPeer { request, _ in
            request.headers["x-api-key"] == "key-of-acme" ? .json("{}") : .refusal(401)
        }
        let configuration = try fixture.folder.configuration(sections([("acme", directory), ("beta", directory)]))
        let found = await DoctorDirectory(configuration, path: fixture.folder.configurationPath).findings()
        #expect(found.map(\.area) == ["customers", "customers"])
        #expect(found.first?.text == "1 of 2 directory accounts are accepted")
        #expect(found.last?.level == .error)
        #expect(found.last?.text.hasPrefix("beta: \(directory.url): ") == true, "\(found)")
        directory.close()
    }

    @Test func `herald sync names the gates that it has switched, and those that are closed`() async throws {
        let config = Mutex("{}")
        let directory = try FaultyPeer { request, _ in
            guard request.method == "GET", request.path.hasSuffix("/sync") else { return .json("{}") }
            return .json(#"{"branding":[],"synced_at":"c","config":\#(config.withLock { $0 })}"#)
        }
        let start = try fixture.start(sections([("acme", directory)]))
        try await fixture.run(start) { _ in
            let client = try await control(of: start)
            func sync(_ next: String) async throws -> ControlledSync {
                config.withLock { $0 = next }
                while true {
                    let result = try await client.sync(full: false, customer: "acme")
                    if result.result != .busy { return result }
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            let open = try await sync("{}")
            #expect(open.text.contains(" sync: nothing has changed; 0 numbers in use; "), "\(open.text)")
            #expect(open.text.split(separator: "\n").count == 1)
            // A cap of herald-directory closes two gates, with one cause. A sync between two orders may have switched them.
            let capped = try await sync(
                #"{"branding_enabled":false,"used_this_month":1000,"cap_this_month":1000,"account_status":"active"}"#)
            #expect(capped.closed?.map(\.gate) == ["cap"])
            #expect(
                capped.text.contains(
                    ": 1000 of 1000 events of this month's cap are used: raise the cap at the directory, or wait for the next "
                        + "month\ncalls pass without a brand until every gate is open\n"), "\(capped.text)")
            let suspended = try await sync(
                #"{"branding_enabled":false,"cap_this_month":null,"account_status":"suspended"}"#)
            #expect(suspended.closed?.map(\.gate) == ["account_status"])
            let again = try await sync(#"{"branding_enabled":true,"account_status":"active"}"#)
            #expect(again.closed == nil)
        }
        directory.close()
    }

    @Test func `the result of a sync has the gates that it switched and those that are closed`() {
        var result = ControlledSync(result: .succeeded, isFull: false, written: 0, removed: 0, numbers: 3, seconds: 0.1)
        #expect(result.text == "incremental sync: nothing has changed; 3 numbers in use; 0.1 s\n")
        #expect(result.json["switched_gates"] == .some(nil))
        let cap = ControlledSync.Gate(gate: "cap", open: false, reason: "10 of 10 events")
        (result.closed, result.switched) = ([cap], [cap])
        #expect(
            result.text == """
                incremental sync: no brand has changed; 3 numbers in use; 0.1 s
                gate cap: closed by this sync: 10 of 10 events
                calls pass without a brand until every gate is open

                """)
        result.switched = nil
        #expect(
            result.text.contains("nothing has changed") && result.text.contains("\ngate cap: closed: 10 of 10 events\n")
        )
        (result.closed, result.switched) = (nil, [ControlledSync.Gate(gate: "cap", open: true)])
        #expect(result.text.hasSuffix("\ngate cap: opened by this sync\ncalls get brands again\n"))
    }

    @Test func `the commands show the route, the customer and its stored brand of a called number`() async throws {
        let acme = try Self.directory("Acme Acres") { Self.taken }
        let start = try fixture.start(sections([("acme", acme)]))
        try await fixture.run(start) { _ in try await placeBranded("acme", to: "+61255502001", as: "Acme Acres") }
        acme.close()
        let configuration = start.configuration
        func lookup(_ called: String) -> BrandLookup {
            BrandLookup(
                "+61255501001", called: called, region: nil, trunk: nil, attestation: .none, configuration)
        }
        let report = try lookup("+61255502001").report()
        #expect(report.text.contains("customer  acme\n") && report.text.contains("show: matched"), "\(report.text)")
        #expect(report.json["customer"] == .string("acme") && report.json["route"] == .string("route1"))
        let other = try #require(try lookup("+61255502009").destination())
        #expect(other.text.contains("route     none: no route has the number\npbx       office\n"), "\(other.text)")
        let listing = try RouteListing(configuration)
        let cells = listing.text(.wide).split(separator: "\n")[1].split(separator: " ").map(String.init)
        #expect(cells.prefix(5) == ["route1", "1", "0", "office", "acme"])
        #expect(listing.json(configuration.routes.table[0])["customer"] == .string("acme"))
    }

    @Test func `a command about brands takes a customer, and asks for one where only customers have brands`()
        async throws
    {
        let (acme, beta) = (
            try Self.directory("Acme Acres") { Self.taken }, try Self.directory("Beta Bank") { Self.taken }
        )
        let start = try fixture.start(sections([("acme", acme), ("beta", beta)]))
        try await fixture.run(start) { _ in
            try await placeBranded("acme", to: "+61255502001", as: "Acme Acres")
            try await placeBranded("beta", to: "+61255502002", as: "Beta Bank")
        }
        for directory in [acme, beta] { directory.close() }
        let configuration = start.configuration
        func lookup(_ customer: String?, called: String? = nil) throws -> LookupReport {
            try BrandLookup(
                "+61255501001", called: called, customer: customer, region: nil, trunk: nil, attestation: .none,
                configuration
            ).report()
        }
        for (name, brand) in [("acme", "Acme Acres"), ("beta", "Beta Bank")] {
            let report = try lookup(name)
            #expect(report.text.contains("customer  \(name)\n") && report.text.contains("brand     \(brand)"))
            #expect(report.json["customer"] == .string(name) && report.json["brand_name"] == .string(brand))
            let logos = try LogoListing(configuration, customer: name)
            let (table, json) = (
                try logos.lines(limit: 9, .narrow, asJSON: false), try logos.lines(limit: 9, .narrow, asJSON: true)
            )
            #expect(table.joined().contains("1        https://logos.example/l.png  yes"), "\(table)")
            #expect(json.count == 1 && json[0].contains("\"customer\":\"\(name)\""), "\(json)")
            let routes = try RouteListing(configuration, customer: name).text(.narrow).split(separator: "\n")
            #expect(routes.count == 2, "\(routes)")
        }
        func failure(_ body: () throws -> Void) -> String? {
            #expect(throws: CommandFailure.self) { try body() }?.description
        }
        let needed = "the configuration has brands of customers only: give --customer NAME; there are acme, beta"
        #expect(failure { _ = try lookup(nil) } == needed)
        #expect(failure { _ = try LogoListing(configuration) } == needed)
        let unknown = "no customer is named acmee; did you mean \"acme\"?; there are acme, beta"
        #expect(failure { _ = try lookup("acmee") } == unknown)
        #expect(failure { _ = try LogoListing(configuration, customer: "acmee") } == unknown)
        #expect(failure { _ = try RouteListing(configuration, customer: "acmee") } == unknown)
        #expect(
            failure { _ = try EventListing(configuration, customer: "acmee").events(state: nil, limit: 1) } == unknown)
        var order = CallListing.Order()
        order.query[.customer] = "acmee"
        #expect(
            failure { try CallListing(configuration, order).list() }
                == "--customer \"acmee\" selects no call: \(unknown)")
        #expect(
            failure { _ = try lookup("beta", called: "+61255502001") }
                == "calls to +61255502001 belong to customer acme: leave out --customer or --called")
    }

    @Test func `calls and events say whose they are, and a removed customer's are found by its name`() async throws {
        let acme = try Self.directory("Acme Acres") { .refusal(422) }
        let start = try fixture.start(sections([("acme", acme)]))
        let folder = fixture.folder.path + "/state"
        try await fixture.run(start) { _ in
            try await placeBranded("acme", to: "+61255502001", as: "Acme Acres")
            let reader = LedgerReader(try HeraldDatabase.ledgerReader(folder: folder))
            while try reader.events(state: .refused, limit: 9).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            let listed = try await ControlClient(folder: start.configuration.runtime).customers()
            #expect(listed.map(\.name) == ["acme"] && listed[0].outbox.refused > 0 && listed[0].calls > 0)
            #expect(CustomerListing.text(listed[0]).contains("herald events --state refused --customer acme"))
        }
        acme.close()
        var without = start.configuration
        without.customers = []
        let events = try EventListing(without, customer: "acme").events(state: nil, limit: 9)
        let title = try #require(EventListing.table(events, .narrow).split(separator: "\n").first)
        #expect(!events.isEmpty && title.contains("CUSTOMER"), "\(title)")
        var order = CallListing.Order()
        order.query[.customer] = "acme"
        try CallListing(without, order).list()
        let calls = try LedgerReader(HeraldDatabase.ledgerReader(folder: folder)).calls(limit: 9)
        var table = CallTable(CallTable.Style(isWide: true), in: .utc)
        let lines = table.lines(calls)
        #expect(lines.contains("carrier  acme"), "\(lines)")
        let unknown = #expect(throws: CommandFailure.self) {
            _ = try EventListing(without, customer: "gamma").events(state: nil, limit: 9)
        }
        #expect(unknown?.description == "no customer is named gamma: the configuration has no customers")
    }

    @Test func `a customer with a refused key is a problem in its row, the status, the doctor's line and the page`()
        async throws
    {
        let acme = try Self.directory("Acme Acres") { Self.taken }
        let beta = try FaultyPeer { _, _ in .refusal(401) }
        let start = try fixture.start(sections([("acme", acme), ("beta", beta)]))
        try await fixture.run(start) { _ in
            let control = try await control(of: start)
            var listed = try await control.customers()
            while listed.last?.problem?.contains("sync") != true || listed.first?.syncAge == nil {
                try await Task.sleep(for: .milliseconds(20))
                listed = try await control.customers()
            }
            #expect(listed.map(\.name) == ["acme", "beta"] && listed[0].problem == nil)
            #expect(listed.map(\.directory) == [acme.url, beta.url])
            #expect(listed[1].problem?.contains("gated:unauthorised") == true, "\(listed[1].problem ?? "")")
            let rows = CustomerListing.table(listed, of: 2, .narrow).split(separator: "\n")
            #expect(rows.count == 3 && rows[2].hasPrefix("beta "), "\(rows)")
            #expect(try await control.customers(named: "beta").map(\.name) == ["beta"])
            let unknown = await #expect(throws: ControlFailure.self) { try await control.customers(named: "gamma") }
            #expect(unknown?.description == "no customer is named gamma; there are acme, beta")
            let state = try await control.state()
            #expect(state.gateway.customers?.trouble == "1 of 2 customers has a problem")
            let text = StatusText(state).text
            #expect(
                text.contains("customers 1 of 2 customers has a problem: see herald customers --problems\n"), "\(text)")
            let sync = try await control.sync(full: false, customer: nil)
            #expect(sync.error?.contains("give --customer NAME; there are acme, beta") == true, "\(sync.error ?? "")")
        }
        for directory in [acme, beta] { directory.close() }
    }

    @Test func `commands find the folder of a customer after the state folder has moved`() throws {
        let (before, after) = (fixture.folder.path + "/before", fixture.folder.path + "/after")
        let account = CustomerFolders.path(ofAccount: "a1", in: before)
        try FileManager.default.createDirectory(atPath: account, withIntermediateDirectories: true)
        for _ in 0..<2 { try CustomerFolders.link([(customer: "acme", folder: account)], in: before) }
        try FileManager.default.moveItem(atPath: before, toPath: after)
        let found = URL(fileURLWithPath: CustomerFolders.link(of: "acme", in: after)).resolvingSymlinksInPath().path
        #expect(found.hasSuffix("/after/customers/account-a1"), "\(found)")
        try CustomerFolders.link([], in: after)
        #expect(try FileManager.default.contentsOfDirectory(atPath: after + "/customers/by-name").isEmpty)
    }

    @Test func `a trace of a customer has the calls to its numbers alone`() async throws {
        let (acme, beta) = (
            try Self.directory("Acme Acres") { Self.taken }, try Self.directory("Beta Bank") { Self.taken }
        )
        let start = try fixture.start(sections([("acme", acme), ("beta", beta)]))
        try await fixture.run(start) { _ in
            let control = try await control(of: start)
            let traced = Mutex<(hasBegun: Bool, calls: [String])>((false, []))
            var order = TraceOrder()
            order.customer = "acme"
            let tracing = Task { [order] in
                try await control.trace(order) { line in
                    traced.withLock { state in
                        state.hasBegun = true
                        if !line.callID.isEmpty { state.calls.append(line.callID) }
                    }
                }
            }
            try await until { traced.withLock(\.hasBegun) }
            try await placeBranded("beta", to: "+61255502002", as: "Beta Bank")
            try await placeBranded("acme", to: "+61255502001", as: "Acme Acres")
            try await until { traced.withLock { $0.calls.count > 3 } }
            tracing.cancel()
            #expect(traced.withLock(\.calls).allSatisfy { $0.hasPrefix("acme-") }, "\(traced.withLock(\.calls))")
            order.customer = "acmee"
            let wrong = order
            let unknown = await #expect(throws: ControlFailure.self) { () async throws in
                try await control.trace(wrong) { _ in }
            }
            let nobody = "no route has the customer acmee; did you mean \"acme\"?; "
            #expect(unknown?.description == nobody + "herald routes lists the routes with their customers")
        }
        for directory in [acme, beta] { directory.close() }
    }
}
