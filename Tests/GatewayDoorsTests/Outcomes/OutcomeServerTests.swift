// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import ConfigurationFiles
import GatewayDoors
import GatewayStore
import GatewayTesting
import NIOCore
import Synchronization
import TestFixtures
import Testing

/// A door for reports beside one for names, on a ring and a ledger of their own. Its recorder runs as in a gateway.
private final class ReportsDoor: Sendable {
    let names: NamesDoor
    let counters = OutcomeCounters()
    let log = LogLines()
    private let given: GivenNames
    private let folder = TemporaryFolder()
    private let database: HeraldDatabase
    private let ring: UpdateRing
    private let recorder: OutcomeRecorder

    static let now: Int64 = 1_800_000_100_000_000

    init(capacity: Int = 4096) throws {
        names = try NamesDoor()
        given = GivenNames { Self.now - 60_000_000 }
        database = try HeraldDatabase(folder: folder.path)
        ring = try UpdateRing(path: folder.path + "/signals.ring", capacity: capacity)
        var settings = OutcomeRecorder.Settings()
        settings.trunks = [TrunkPeer.mark(of: "carrier"): "carrier"]
        recorder = OutcomeRecorder(database: database, ring: ring, settings: settings)
    }

    /// Gives the name of a number, as the door for names does.
    func ask(_ number: String) throws {
        let name = names.names.name(of: StatedCall(number: Array(number.utf8)))
        let (found, brandID) = (try #require(name.number), try #require(name.brandID))
        given.add(GivenNames.Name(text: name.text, brandID: brandID), of: found)
    }

    func run(
        allow: [String] = ["127.0.0.0/8"], rate: Int = 1000, patience: Duration = .seconds(5), isStoring: Bool = true,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let reader = LedgerReader(database)
        let reports = DoorReports(names.names, given: given, updates: ring)
        let intake = OutcomeIntake(reports, patience: patience) { try reader.hasDoorCall($0) }
        let desk = OutcomeDesk(
            intake, allow: try allow.map { try SourceRange.read($0) }, rate: rate, counters: counters,
            logger: log.logger, now: { Self.now })
        let (ports, announced) = AsyncStream.makeStream(of: Int.self)
        let server = HTTPDoorServer(
            EndpointAddress(host: "127.0.0.1", port: 0, isIPv6: false), desk, logger: log.logger
        ) { announced.yield($0) }
        let services = RunningServices([server], logger: log.logger) { announced.finish() }
        try await withThrowingTaskGroup { group in
            if isStoring {
                group.addTask { [recorder] in
                    while !Task.isCancelled {
                        try recorder.drain()
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            try await services.stop(after: {
                var iterator = ports.makeAsyncIterator()
                try await body(try #require(await iterator.next(), "the server ended before it listened"))
            })
            group.cancelAll()
        }
    }

    func calls() throws -> [LedgerCallRow] {
        try LedgerReader(database.ledger).calls(matching: CallFilter(), limit: 1000)
    }

    func events() throws -> [String] { try LedgerReader(database.ledger).events(limit: 1000).map(\.key).sorted() }

    /// True once a report is on its way into the ledger.
    var hasReport: Bool { ring.claimed > 0 }

    func count(_ label: String) -> UInt64 { counters.all.first { $0.label == label }?.count ?? 0 }
}

@Suite("The door for reports of calls", .timeLimit(.minutes(8)))
struct OutcomeServerTests {
    private static func body(_ id: Int, caller: String = "%2B61255501301", shown: String = "Harbour%20Dental") -> String
    {
        """
        call_id=1800000000.\(id)&caller=\(caller)&called=1001&began=1800000040&rang=1800000042&answered=1800000045\
        &ended=1800000090&cause=16&shown_name=\(shown)
        """
    }

    private static func post(
        _ body: String, _ port: Int, path: String = "/outcome", type: String = "application/x-www-form-urlencoded"
    ) async throws -> ReceivedResponse {
        try await LoopbackClient.ask(
            RawRequest(
                method: "POST", path: path, headers: [("Content-Type", type)], body: Array(body.utf8)), port: port)
    }

    @Test func `a report is stored before its response, once however often it comes`() async throws {
        let door = try ReportsDoor()
        try door.ask("+61255501301")
        try await door.run { port in
            let first = try await Self.post(Self.body(1), port)
            #expect(first.status == 200 && first.text.contains(#""decision":"matched","shown":true"#), "\(first.text)")
            #expect(try door.calls().count == 1 && door.events().count == 2)
            for _ in 0..<3 {
                let again = try await Self.post(Self.body(1, shown: ""), port)
                #expect(again.status == 200 && again.text.contains(#""known":true"#), "\(again.text)")
            }
        }
        #expect(try door.calls().count == 1 && door.events().count == 2)
        #expect(door.count("shown") == 1 && door.count("known") == 3)
    }

    /// Callers and shown names, the decision, and the events of the call.
    static let courses: [(caller: String, shown: String, decision: String, events: [String])] = [
        ("%2B61255501301", "Harbour%20Dental", "matched", ["call_seen", "displayed"]),
        ("%2B61255501301", "Mum", "matched", ["call_seen"]),
        ("%2B61255501999", "Harbour%20Dental", "no_match", []), ("anonymous", "Harbour%20Dental", "privacy", []),
    ]

    @Test(arguments: courses) func `only the name that a door gave is displayed`(
        caller: String, shown: String, decision: String, events: [String]
    ) async throws {
        let door = try ReportsDoor()
        try door.ask("+61255501301")
        try await door.run { port in
            let response = try await Self.post(Self.body(1, caller: caller, shown: shown), port)
            #expect(response.text.contains(#""decision":"\#(decision)""#) && !response.text.contains("6125"))
        }
        #expect(try door.events().map { $0.prefix { $0 != ":" } } == events.map { $0[...] })
        #expect(try door.calls().count == 1 && door.log.all.allSatisfy { !$0.contains("warning") })
    }

    /// A reload closes the doors and opens them again: a report must not hold it.
    @Test func `a report that waits when its server ends gets 503, and its repetition is one call`() async throws {
        let door = try ReportsDoor()
        try door.ask("+61255501301")
        let waiting = Mutex<Task<ReceivedResponse, any Error>?>(nil)
        try await door.run(patience: .seconds(400), isStoring: false) { port in
            waiting.withLock { $0 = Task { try await Self.post(Self.body(1), port) } }
            await until { door.hasReport }
        }
        let refused = try await waiting.withLock { $0 }?.value
        #expect(refused?.status == 503)
        try await door.run { port in
            let again = try await Self.post(Self.body(1), port)
            #expect(again.status == 200)
        }
        #expect(try door.calls().count == 1 && door.events().count == 2)
    }

    @Test func `many clients repeat the same reports at once`() async throws {
        let door = try ReportsDoor()
        try door.ask("+61255501301")
        try await door.run { port in
            try await withThrowingTaskGroup { group in
                for number in 0..<120 {
                    group.addTask {
                        let response = try await Self.post(Self.body(number % 20), port)
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try door.calls().count == 20 && door.events().count == 40)
    }

    @Test func `a report that the ledger does not store gets 503, and the next one stores it once`() async throws {
        let door = try ReportsDoor()
        try door.ask("+61255501301")
        try await door.run(patience: .milliseconds(200), isStoring: false) { port in
            let refused = try await Self.post(Self.body(1), port)
            #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
        }
        try await door.run { port in
            let response = try await Self.post(Self.body(1), port)
            #expect(response.status == 200)
        }
        #expect(try door.calls().count == 1 && door.events().count == 2 && door.count("not_stored") == 1)
    }

    @Test func `a ring without space gets 503`() async throws {
        let door = try ReportsDoor(capacity: 8)
        try door.ask("+61255501301")
        try await door.run(patience: .milliseconds(100), isStoring: false) { port in
            for number in 1...4 {
                let response = try await Self.post(Self.body(number), port)
                #expect(response.status == 503)
            }
        }
    }

    static let requests: [(method: String, path: String, type: String, status: Int)] = [
        ("GET", "/outcome", "application/json", 405), ("PUT", "/outcome", "application/json", 405),
        ("POST", "/", "application/json", 404), ("POST", "/outcome/asterisk", "application/json", 404),
        ("POST", "/outcome", "text/plain", 415), ("POST", "/outcome", "", 415),
        ("POST", "/outcome", "application/json", 400),
        ("POST", "/outcome/freeswitch?uuid=1", "application/x-www-form-urlencoded", 415),
        ("POST", "/outcome/freeswitch?uuid=1", "application/json", 400),
    ]

    @Test(arguments: requests) func `other requests are refused, and none is logged with its values`(
        method: String, path: String, type: String, status: Int
    ) async throws {
        let door = try ReportsDoor()
        try await door.run { port in
            let response = try await LoopbackClient.ask(
                RawRequest(
                    method: method, path: path, headers: [("Content-Type", type)],
                    body: method == "GET" ? [] : Array("x=+61255501301".utf8)), port: port)
            #expect(response.status == status, "\(response.head)")
            #expect(!response.text.contains("61255501301"))
        }
        #expect(try door.calls().isEmpty && door.count("invalid") == 1)
        #expect(door.log.all.filter { $0.contains("rejected") }.count == 1)
        #expect(door.log.all.allSatisfy { !$0.contains("61255501301") })
    }

    @Test func `a large body is refused before it comes, and after`() async throws {
        let door = try ReportsDoor()
        try await door.run { port in
            let announced = RawRequest(
                method: "POST", path: "/outcome", headers: [("Content-Type", "application/json")], body: [0x7B],
                announced: 10_000_000)
            let early = try await LoopbackClient.ask(announced, port: port)
            #expect(early.status == 413)
            let chunked = RawRequest(
                method: "POST", path: "/outcome", headers: [("Content-Type", "application/json")],
                body: Array(repeating: 0x20, count: OutcomeDesk.mostBody + 1), isChunked: true)
            let late = try await LoopbackClient.ask(chunked, port: port)
            #expect(late.status == 413)
        }
    }

    @Test func `a client outside of the list, and one above its rate`() async throws {
        let door = try ReportsDoor()
        try await door.run(allow: ["192.0.2.20"]) { port in
            let response = try await Self.post(Self.body(1), port)
            #expect(response.status == 403 && response.body.isEmpty)
        }
        try await door.run(rate: 1) { port in
            // All at once: one after the other, a busy machine takes seconds.
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 { group.addTask { try await Self.post(Self.body(number), port).status } }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [200, 429])
        }
        #expect(door.count("not_allowed") == 1 && door.count("limited") > 0)
    }
}
