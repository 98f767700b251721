// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

/// A directory server on a port of its own, with a database and one good key.
final class RunningDirectory: Sendable {
    let folder: TemporaryFolder
    let database: DirectoryDatabase
    let port: Int
    /// A good key, named `test`.
    let key: String
    /// Seconds since 1970 at the server; tests move it.
    let time: ManualTime
    /// The port of the operator's API where it has one of its own, or 0.
    let adminPort: Int

    private init(
        _ folder: TemporaryFolder, _ database: DirectoryDatabase, port: Int, adminPort: Int, key: String,
        time: ManualTime
    ) {
        self.adminPort = adminPort
        self.folder = folder
        self.database = database
        self.port = port
        self.key = key
        self.time = time
    }

    /// Runs a server for as long as `body` takes.
    ///
    /// - Parameters:
    ///   - folder: where its state is; a new folder unless given.
    ///   - logos: true lets it serve the folder itself as the folder of logos.
    ///   - storedPerDay: bytes that clients may have stored in a day; 0 is no bound.
    ///   - logger: where the server writes its log.
    ///   - edit: changes how it runs.
    static func run(
        in folder: TemporaryFolder? = nil, publicURL: String? = "https://brands.example/", logos: Bool = false,
        limits: RateLimits = .none, clients: ClientSettings = ClientSettings(),
        storedPerDay: Int = 0,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        edit: (inout DirectoryServer.Options) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningDirectory) async throws -> Void
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        let database = try DirectoryDatabase(folder: folder.path + "/state", storedPerDay: storedPerDay)
        let accounts = AccountStore(database)
        _ = try accounts.revokeKey(name: "test", now: 0)
        let key = try accounts.createKey(name: "test", now: 0)
        let time = ManualTime()
        var options = DirectoryServer.Options()
        options.port = 0
        options.publicURL = publicURL
        options.logos = logos ? folder.path : nil
        options.now = { time.seconds }
        (options.rateLimits, options.clients) = (limits, clients)
        edit(&options)
        let server = DirectoryServer(database: database, options: options, logger: logger)
        let services = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let port = await server.port()
            try #require(port > 0)
            let directory = RunningDirectory(
                folder, database, port: port, adminPort: await server.adminPort(), key: key, time: time)
            try await body(directory)
            // As SIGTERM ends it: where the task of a server is cancelled, a connection that was just accepted ends the
            // program (swift-nio, issue 3481).
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    /// Asks with the good key, unless headers say otherwise.
    func ask(
        _ path: String, method: String = "GET", headers: [String: String] = [:], body: String = ""
    ) async throws -> ReceivedResponse {
        var all = ["X-API-Key": key]
        all.merge(headers) { $1 }
        return try await LoopbackClient.ask(
            RawRequest(method: method, path: path, headers: all.map { ($0.key, $0.value) }, body: Array(body.utf8)),
            port: port)
    }

    func post(_ path: String, _ body: String) async throws -> ReceivedResponse {
        try await ask(path, method: "POST", headers: ["Content-Type": "application/json"], body: body)
    }

    /// A sync from `since`, which is nil for a full one, with what is out of use.
    func sync(since: String? = nil) async throws -> SyncResponse {
        let response = try await ask(
            "/api/" + APIPath.sync + "?include_inactive=true" + (since.map { "&since=\($0)" } ?? ""))
        try #require(response.status == 200, "\(response.text)")
        return try response.decoded()
    }

    /// Posts an event; the response must be a success.
    func report(_ outcome: String, number: String = "+61491570156", key: String? = nil) async throws -> EventResponse {
        let event = EventRequest(phoneNumber: number, outcome: outcome, eventKey: key)
        let response = try await post(
            "/" + APIPath.event, String(decoding: try JSONEncoder().encode(event), as: UTF8.self))
        try #require(response.status == 200, "\(response.text)")
        return try response.decoded()
    }

    /// Puts brands into the database, each named after its number.
    func put(_ numbers: String..., name: String? = nil, logo: String? = nil, reason: String? = nil) throws {
        _ = try BrandEntries(database).put(
            try numbers.map { number in
                BrandEntries.Entry(
                    number: try #require(E164Number(number)), name: name ?? "Brand \(number)", brandID: "brand-1",
                    logoURL: logo, callReason: reason)
            }, now: time.seconds)
    }

    func deactivate(_ number: String) throws {
        #expect(try BrandEntries(database).deactivate(try #require(E164Number(number)), now: time.seconds))
    }

    /// Changes the account.
    func change(_ edit: (inout AccountStore.Change) -> Void) throws {
        var change = AccountStore.Change()
        edit(&change)
        try AccountStore(database).change(change)
    }
}
