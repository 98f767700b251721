// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import GatewayStore
import Logging
import Primitives
import Synchronization
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Pages of the gateway", .timeLimit(.minutes(8)))
struct GatewayPagesTests {
    private static let hostile = "\"\u{301}><script>alert(1)</script>\u{202E}\u{1B}[2J"

    /// Runs the admin port with the pages of a source.
    func run(
        _ source: FixedPages, numbers: NumberDisplay = .masked, access: GatewayPages.Access = .thisMachine,
        zone: LocalZone = .utc, _ body: @escaping @Sendable (Person) async throws -> Void
    ) async throws {
        let pages = GatewayPages(
            source: source, rates: CallRates { source.traffic() }, name: "edge-1", version: "1", numbers: numbers,
            access: access, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { FixedPages.now },
            zone: zone)
        let site = try pages.site()
        try await RunningServer.run({ AdminServer($0, source: source.fixed, pages: site, logger: $1) }) { port in
            try await body(Person(port: port))
        }
    }

    /// A caller of a call: a number, a text that the carrier sent instead of one, or none.
    enum Caller { case number(Int64), unclear(String), withheld }

    /// A call in progress.
    ///
    /// - Parameter text: the text of all columns that come from the network.
    static func call(
        _ caller: Caller, row: Int64 = 7, text: String? = nil, customer: String? = nil
    ) -> LedgerCallRow {
        var values: [String: ColumnValue] = [
            "id": .integer(row), "call_id": .text("\(CallIdentifier(high: 0, low: 7))"), "sip_call_id": .text(text),
            "direction": .integer(1), "trunk": .text("carrier"), "customer": .text(customer),
            "destination": .integer(61_255_501_002),
            "brand_name": .text(text), "decision": .text("matched"), "invite_at": .integer(1_700_000_000_000_000),
            "evidence": .integer(Int64(DecisionEvidence().rawValue)), "answered_at": .integer(1_700_000_003_000_000),
            "answered_by": .text(text), "attempts": .integer(1), "trust": .integer(Int64(TrustEvidence().facts)),
            "provider": .text(text), "signer": .text(text),
        ]
        switch caller {
        case .number(let number): values["caller"] = .integer(number)
        case .unclear(let text): values["caller_received"] = .text(text)
        case .withheld: values["decision"] = .text("privacy")
        }
        let event = LedgerEventRow(shared: [
            "key": .text("missed:id"), "number": .text(""), "displayed_at": .text(""), "meta": .text("{}"),
            "state": .integer(2), "attempts": .integer(1), "created_at": .integer(0), "due_at": .integer(0),
            "reason": .text(text),
        ])
        return LedgerCallRow(shared: values, node: "", events: [event])
    }

    @Test func `no hostile text becomes markup, turns the text around it or stays invisible`() async throws {
        var content = FixedPages.Content()
        content.calls = [Self.call(.unclear(Self.hostile), text: Self.hostile)]
        content.call = content.calls[0]
        content.hours = HourCounts(
            kinds: [
                .init(
                    hour: FixedPages.now / 3600, trunk: Self.hostile, decision: Self.hostile, outcome: Self.hostile,
                    sums: CallSums(calls: 1, reached: 1))
            ], brands: [.init(name: Self.hostile, customer: Self.hostile, sums: CallSums(calls: 1))])
        content.preview = RingPreview(
            number: nil, trunk: "carrier", conditions: Self.hostile, decision: Self.hostile,
            card: .init(
                name: Self.hostile, brandID: Self.hostile, callReason: Self.hostile, logo: nil, logoText: Self.hostile),
            before: [Self.hostile], after: [])
        let status = FixedStatus()
        status.change {
            $0.rejected = [
                .init(
                    address: "192.0.2.1", transport: "udp", peer: nil, method: Self.hostile, status: nil,
                    cause: Self.hostile, count: 1, first: 0, last: 0)
            ]
            $0.sync = .init(result: "failed", failuresInARow: 1, lastError: Self.hostile)
            $0.trunks = [.init(name: Self.hostile, pbx: Self.hostile, calls: 0)]
            $0.targets = [.init(group: Self.hostile, address: Self.hostile, state: "up", takesCalls: true)]
        }
        try await run(FixedPages(content, status: status), numbers: .full) { person in
            let asked = "/preview?number=%22%CC%81%3E%3Cscript%3E&trunk=x"
            for path in [
                "/", "/?span=7d", "/calls?number=%22%CC%81%3E%3Cscript%3Ealert", "/calls/7", asked,
                "/calls?outcome=open&brand=%22%CC%81%3E%3Cscript%3E&since=1h&trunk=%22%CC%81%3E%3Cscript%3E",
            ] {
                let page = try await person.get(path)
                #expect(page.status == 200, "\(path)")
                #expect(!page.body.contains("<script>"), "\(path)")
                // Of a quote with its mark, not even the quote.
                #expect(!page.body.unicodeScalars.contains("\u{202E}") && !page.body.unicodeScalars.contains("\u{1B}"))
                #expect(!page.body.utf8.contains(where: { $0 < 9 }))
                #expect(page.body.contains("&quot;\u{301}&gt;&lt;script&gt;"), "\(path)")
            }
        }
    }

    @Test func `numbers are masked until this session asks for them, a withheld one is never there`() async throws {
        var content = FixedPages.Content()
        content.calls = [Self.call(.number(61_255_501_001)), Self.call(.withheld)]
        content.call = content.calls[0]
        try await run(FixedPages(content)) { person in
            let masked = try await person.get("/calls")
            #expect(masked.body.contains("+61******001") && !masked.body.contains("+61255501001"))
            #expect(masked.body.contains("+61******002") && masked.body.contains(">withheld<"))
            #expect(try await person.get("/calls/7").body.contains("+61255501001") == false)

            let cookie = try await person.cookie()
            let token = try await person.token(cookie)
            let back = try await person.post("/numbers", "token=\(token)&here=%2Fcalls", cookie)
            #expect(back.hasPrefix("HTTP/1.1 303") && back.lowercased().contains("location: /calls"))
            #expect(try await person.get("/calls", cookie).body.contains("+61255501001"))
            #expect(try await person.get("/calls/7", cookie).body.contains("+61255501001"))
            #expect(try await person.get("/calls").body.contains("+61255501001") == false, "another session")
        }
    }

    @Test(arguments: [(NumberDisplay.full, "+61255501001", false), (.none, "hidden", true)])
    func `log.numbers is the form at the begin`(numbers: NumberDisplay, shown: String, hasSwitch: Bool) async throws {
        var content = FixedPages.Content()
        content.calls = [Self.call(.number(61_255_501_001))]
        try await run(FixedPages(content), numbers: numbers) { person in
            let page = try await person.get("/calls").body
            #expect(page.contains(">\(shown)<"))
            #expect(page.contains("Show numbers") == hasSwitch)
        }
    }

    @Test func `a sync takes the token of the session`() async throws {
        let source = FixedPages()
        try await run(source) { person in
            let cookie = try await person.cookie()
            let token = try await person.token(cookie)
            #expect(try await person.post("/sync", "", cookie).hasPrefix("HTTP/1.1 403"))
            #expect(try await person.post("/sync", "token=\(token)", nil).hasPrefix("HTTP/1.1 403"))
            #expect(
                try await person.post("/sync", "token=\(token)", cookie, ("Origin", "http://evil.example"))
                    .hasPrefix("HTTP/1.1 403"))
            #expect(source.syncs.isEmpty)
            #expect(try await person.post("/sync", "token=\(token)", cookie).hasPrefix("HTTP/1.1 303"))
            #expect(source.syncs == [nil])
            #expect(try await person.get("/", cookie).body.contains("Synced: 3 written, 1 removed, 9 numbers in use."))
        }
    }

    @Test func `a preview without a response says why, and a logo is served from the own copies only`() async throws {
        var content = FixedPages.Content()
        content.logos = ["abc-16x16.png": [1, 2, 3], "evil.html": [60]]
        let source = FixedPages(content)
        try await run(source) { person in
            let page = try await person.get("/preview?number=089+12+34&trunk=gone&attestation=A")
            #expect(page.status == 400 && page.body.contains("No trunk is named so."))
            let unknown = try await person.get("/preview?number=0891234&attestation=D")
            #expect(unknown.status == 400 && unknown.body.contains("Attestation must be none, A, B, C or failed."))
            let logo = try await person.get("/logos/abc-16x16.png")
            #expect(logo.status == 200 && logo.type == "image/png" && logo.body == "\u{1}\u{2}\u{3}")
            for name in ["evil.html", "abc-32x32.png", "..%2F..%2Fsecret.png"] {
                #expect(try await person.get("/logos/\(name)").status == 404)
            }
        }
        #expect(source.questions == [RingQuestion(number: "0891234", trunk: "gone", attestation: .a)])
    }

    @Test func `clients that go before the first byte give their live pages back`() async throws {
        try await run(FixedPages()) { person in
            let request = "GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            for _ in 0..<60 { _ = IdleConnections(1, to: person.port, sending: request) }
            // The server learns of the last resets with its next writes, two seconds later at most.
            var head = ""
            repeat {
                try await Task.sleep(for: .milliseconds(50))
                head = try await person.headOfLive()
            } while !head.hasPrefix("HTTP/1.1 200")
            #expect(head.contains("text/event-stream"))
        }
    }

    @Test func `monitors need no login, people need the token`() async throws {
        try await run(FixedPages(), access: .token(Concealed("0123456789abcdef"), isSecure: false)) {
            (person: Person) async throws in
            for path in ["/healthz", "/readyz", "/metrics", "/status"] {
                #expect(try await person.get(path).status == 200, "\(path)")
            }
            for path in ["/", "/calls", "/calls/7", "/preview"] {
                #expect(try await person.get(path).status == 303, "\(path)")
            }
            #expect(try await person.post("/sync", "token=x", nil).hasPrefix("HTTP/1.1 401"))
            #expect(try await person.get("/login").body.contains("admin.token_file"), "where the token is")
        }
    }

    @Test func `pages that are off leave the monitors alone`() async throws {
        try await run(FixedPages(), access: .off("The pages are off. Set admin.tls.")) { person in
            #expect(try await person.get("/metrics").status == 200)
            let page = try await person.get("/calls")
            #expect(page.status == 403 && page.body.contains("Set admin.tls."))
        }
    }

    @Test func `every problem is at the top with cause and remedy, errors first`() async throws {
        let status = FixedStatus()
        status.change {
            $0.sync = .init(result: "failed", failuresInARow: 2, lastError: "no response")
            $0.pbxProblem = "no target of pbx office is up"
            $0.ledgerProblem = "database or disk is full"
            $0.callRecords = [
                .init(output: "kafka", waiting: 7, problem: "outcomes.kafka: no connection"),
                .init(output: "webhook", waiting: 9),
            ]
            $0.sharedLedger = .init(
                behindSeconds: 75.4, waiting: 12, problem: "PostgreSQL at db1: no connection",
                server: "primary, no standby", serverProblems: ["no synchronous standby is attached"])
            $0.siblings = [
                ("192.0.2.11:5070", "silent"), ("192.0.2.12:5070", "other_secret"), ("192.0.2.13:5070", "reachable"),
            ]
            .map { .init(address: $0.0, state: $0.1, clockOffset: -61, waiting: 0, dropped: 0) }
            $0.stateProblems = ["the folder /var/lib/herald cannot be written: Read-only file system"]
            $0.gates = [.init(gate: "cap", open: false, reason: "the cap is used")]
            $0.targets = [
                .init(
                    group: "pbx office", address: "192.0.2.20:5060", state: "down", takesCalls: false,
                    since: 1_700_000_000)
            ]
        }
        var content = FixedPages.Content()
        content.troubles = [PageTrouble(isError: true, "The clock of this machine is wrong", "Let chrony set it.")]
        try await run(FixedPages(content, status: status)) { person in
            let page = try await person.get("/").body
            for text in [
                "No target of pbx office is up. Check that the PBX runs", "Database or disk is full. Calls go on",
                "7 call records wait for outcomes.kafka", "outcomes.kafka: no connection.",
                "The shared ledger is not written", "PostgreSQL at db1: no connection.",
                "The server of the shared ledger", "No synchronous standby is attached.",
                "The gateway 192.0.2.11:5070 does not respond", "The gateway 192.0.2.12:5070 has another secret",
                "The gateway 192.0.2.13:5070 has another time",
                "Free space on the disk", "Read-only file system.", "the gate cap is closed", "The cap is used.",
                "2 syncs in a row have failed", "No response.", "The clock of this machine is wrong",
                "192.0.2.20:5060 is down since 2023-11-14 22:13:20 UTC",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            let lastError = try #require(page.range(of: "notice error", options: .backwards))
            let firstWarning = try #require(page.range(of: "notice warning"))
            #expect(lastError.lowerBound < firstWarning.lowerBound)
            #expect(!page.contains("No problem is known"))
        }
    }

    @Test func `a gateway that waits for its shared address shows that, and no problem`() async throws {
        let status = FixedStatus()
        status.change {
            $0.listening = ["192.0.2.10:5060"]
            $0.standby = $0.listening
            $0.siblings = [
                .init(address: "192.0.2.12:5070", state: "reachable", clockOffset: 0, waiting: 0, dropped: 0)
            ]
            $0.targets = [
                .init(group: "pbx office", address: "192.0.2.20:5060", state: "standby", takesCalls: true)
            ]
        }
        try await run(FixedPages(FixedPages.Content(), status: status)) { person in
            let page = try await person.get("/").body
            #expect(page.contains("Standby: 192.0.2.10 is at another machine."))
            #expect(!page.contains("notice error") && !page.contains("notice warning"))
            #expect(!page.contains("Ready for calls"))
            #expect(page.contains("tag soft\">standby"))
        }
    }
}

@Suite("Values of the pages")
struct PageValueTests {
    @Test(arguments: ["matched"] + PassThroughReason.allCases.map(\.description))
    func `every decision is explained`(decision: String) {
        let text = DecisionText.of(decision)
        #expect(text.hasSuffix(".") && !text.contains("does not know"), "\(text)")
    }

    @Test func `the rate is that of each second, and the oldest samples go`() {
        let start = ContinuousClock.now
        let counts = Counts()
        let rates = CallRates { CallTraffic(inbound: counts.next(), branded: 0) }
        for second in 0...200 { rates.sample(at: start + .seconds(Double(second) * 2)) }
        #expect(rates.recent.count == CallRates.kept)
        // Each reading finds five more calls, two seconds after the one before.
        #expect(rates.recent.allSatisfy { $0.calls == 2.5 && $0.inbound == 5 })
    }
}

/// A counter that grows by five with each reading.
private final class Counts: Sendable {
    private let state = Mutex<UInt64>(0)
    func next() -> UInt64 {
        state.withLock { value in
            value += 5; return value
        }
    }
}

/// A browser as far as these tests need one.
struct Person {
    let port: Int

    /// A response with its body as text.
    struct Shown {
        let status: Int
        let type: String
        let body: String
    }

    func get(_ path: String, _ cookie: String? = nil) async throws -> Shown {
        let headers = cookie.map { [(name: "Cookie", value: $0)] } ?? []
        let response = try await LoopbackClient.ask(RawRequest(path: path, headers: headers), port: port)
        return Shown(status: response.status, type: response.headers["content-type"] ?? "", body: response.text)
    }

    /// The cookie of a new session.
    func cookie() async throws -> String {
        let response = try await LoopbackClient.get("/", port: port)
        let cookie = try #require(response.headers["set-cookie"])
        return String(cookie.prefix { $0 != ";" })
    }

    func token(_ cookie: String) async throws -> String {
        let page = try await get("/", cookie).body
        return String(try #require(page.firstMatch(of: /data-token="([^"]+)"/)).1)
    }

    /// The begin of the response to a request for live parts, whose connection is then closed.
    func headOfLive() async throws -> String {
        let port = port
        return await withCheckedContinuation { done in
            Thread.detachNewThread {
                let connection = IdleConnections(1, to: port, sending: "GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                done.resume(returning: connection.received())
            }
        }
    }

    /// The head of the response to a form.
    func post(
        _ path: String, _ form: String, _ cookie: String?, _ more: (name: String, value: String)? = nil
    ) async throws -> String {
        var headers = [(name: "Content-Type", value: "application/x-www-form-urlencoded")]
        if let cookie { headers.append(("Cookie", cookie)) }
        if let more { headers.append(more) }
        let request = RawRequest(method: "POST", path: path, headers: headers, body: Array(form.utf8))
        return try await LoopbackClient.ask(request, port: port).head
    }
}
