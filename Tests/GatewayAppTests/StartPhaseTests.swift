// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import Foundation
import GRDB
import GatewayStore
import GatewayTesting
import Host
import SIPCore
import SIPTransport
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("The phases of a start", .serialized, .timeLimit(.minutes(8)))
struct StartPhaseTests {
    private let fixture: StartFixture
    private var folder: GatewayFolder { fixture.folder }

    init() async throws { fixture = try await StartFixture() }

    // First phase: files and sockets.

    @Test func `a start puts the files back that an interrupted restore has replaced`() async throws {
        let earlier = [UInt8](repeating: 1, count: Secret.size)
        try folder.put(earlier, in: "state/replaced-20260131T120000Z/secret")
        try folder.put([UInt8](repeating: 2, count: Secret.size), in: "state/secret")
        var status = stat()
        try #require(stat(folder.path + "/state/secret", &status) == 0)
        let plan = """
            {"format": 1, "kept": "replaced-20260131T120000Z",
             "files": [{"path": "secret", "draft": \(status.st_ino), "present": ["secret"]}]}
            """
        try folder.put(Array(plan.utf8), in: "state/restoring/plan.json")
        let resources = try await fixture.resources()
        #expect(folder.bytes(of: "state/secret") == earlier && resources.troubles.texts.isEmpty)
        #expect(fixture.log.text.contains("1 replaced files were put back"), "\(fixture.log.text)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/state/restoring"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/state/replaced-20260131T120000Z"))
    }

    @Test func `a plan of a restore that cannot be read is a problem of the running gateway`() async throws {
        try folder.put(Array("{}".utf8), in: "state/restoring/plan.json")
        let resources = try await fixture.resources()
        #expect(resources.troubles.texts.count == 1, "\(resources.troubles.texts)")
        #expect(resources.troubles.texts.first?.contains("plan.json is no plan of a restore; move the files") == true)
    }

    @Test func `a UDP address in use ends the first phase, and leaves the folder to the next start`() async throws {
        let other = try UDPPeer(folder.address, port: 5060)
        let error = await #expect(throws: UDPSocketError.self) { _ = try await fixture.resources() }
        #expect(error?.description.contains("\(folder.address):5060") == true, "\(error?.description ?? "")")
        #expect(folder.bytes(of: "state/secret") != nil, "the secret is read before the sockets open")
        #expect(folder.bytes(of: "state/herald.sqlite") == nil, "the databases belong to the second phase")
        withExtendedLifetime(other) {}
    }

    @Test func `a folder of another gateway ends the start before the sockets open`() async throws {
        let first = try await fixture.resources()
        let error = await #expect(throws: CommandFailure.self) { _ = try await fixture.resources() }
        #expect(error?.description.hasPrefix("another herald uses the folder \(folder.path)/state") == true)
        withExtendedLifetime(first) {}
    }

    @Test func `a TCP address in use ends the first phase`() async throws {
        let text = folder.sections.with("listen", "[{name: sip, address: '\(folder.address):5060', transport: tcp}]")
        let first = try await fixture.resources(text)
        let elsewhere = text.with("gateway", "{id: edge, state: state2, runtime: run2}")
        let error = await #expect(throws: (any Error).self) { _ = try await fixture.resources(elsewhere) }
        #expect("\(try #require(error))".contains("\(folder.address):5060"))
        await first.transport.streams?.stop()
    }

    @Test func `a certificate that cannot be read ends the first phase with its file`() async throws {
        let text = folder.sections.with(
            "listen",
            "[{name: sips, address: '\(folder.address):5061', transport: tls, certificate: c.pem, key: k.pem}]")
        try folder.put(Array("no certificate".utf8), in: "c.pem")
        try folder.put(Array("no key".utf8), in: "k.pem")
        let error = await #expect(throws: (any Error).self) { _ = try await fixture.resources(text) }
        #expect("\(try #require(error))".contains("\(folder.path)/"))
    }

    @Test func `each worker has a socket of each UDP address`() async throws {
        let text = folder.sections.with("gateway", "{id: edge, state: state, runtime: run, workers: 3}")
        let resources = try await fixture.resources(text)
        #expect(resources.transport.workers.count == 3)
        #expect(resources.transport.bound.map(\.description) == ["\(folder.address):5060"])
        #expect(resources.transport.streams == nil && resources.transport.identities.isEmpty)
    }

    // Second phase: stored state.

    @Test func `a first start creates its files and reports nothing`() async throws {
        let (resources, state) = try await fixture.state()
        #expect(resources.troubles.texts.isEmpty, "\(resources.troubles.texts)")
        for name in ["state/herald.sqlite", "state/brands.sqlite", "state/secret", "run/signals.ring"] {
            #expect(folder.bytes(of: name) != nil, "\(name)")
        }
        #expect(state.accounts.usual.current.load().index.count == 0)
        try state.database.close()
    }

    @Test func `damaged brand records are set aside and begun anew`() async throws {
        try folder.put([UInt8](repeating: 0x41, count: 8_192), in: "state/brands.sqlite")
        let (resources, state) = try await fixture.state()
        #expect(fixture.log.text.contains("warning the brand records were set aside and begun anew"))
        #expect(resources.troubles.texts.isEmpty, "the next sync mends it")
        #expect(folder.bytes(of: "state/brands.sqlite.aside")?.count == 8_192)
        try state.database.close()
    }

    @Test func `a damaged ledger is kept, and the recorder goes on in a new one`() async throws {
        try folder.put([UInt8](repeating: 0x41, count: 8_192), in: "state/herald.sqlite")
        let (resources, state) = try await fixture.state()
        #expect(resources.troubles.texts.count == 1, "\(resources.troubles.texts)")
        #expect(resources.troubles.texts.first?.hasPrefix("the ledger was damaged and is kept as ") == true)
        #expect(state.recorder.totals.problem == nil)
        try state.database.close()
    }

    @Test func `a ledger of a newer version is left alone, and calls wait in the ring`() async throws {
        let (_, first) = try await fixture.state()
        try await first.database.ledger.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('tomorrow')") }
        try first.database.close()
        let (_, second) = try await fixture.state(
            folder.sections.with("gateway", "{id: edge, state: state, runtime: run2}"))
        #expect(second.recorder.totals.problem?.contains("was written by a newer herald") == true)
        try second.database.close()
    }

    @Test func `a ring that cannot be made is kept in memory`() async throws {
        try folder.put([], in: "run/signals.ring/x")
        let (resources, state) = try await fixture.state()
        #expect(resources.troubles.texts.count == 1)
        #expect(resources.troubles.texts.first?.contains("the ring is kept in memory") == true)
        try state.database.close()
    }

    @Test func `a file of brands is loaded instead of the stored ones`() async throws {
        try folder.put(Array("+61255501001|Acme|||b-7\n".utf8), in: "brands.psv")
        let (resources, state) = try await fixture.state(folder.sections.with("brands", "{file: brands.psv}"))
        #expect(state.accounts.usual.current.load().index.count == 1)
        #expect(resources.savedIndex == nil)
        try state.database.close()
    }

    @Test func `a file of brands that cannot be read ends the second phase with its name`() async throws {
        try folder.put(Array("+61255501001|Acme\n".utf8), in: "brands.psv")
        let start = try fixture.start(folder.sections.with("brands", "{file: brands.psv}"))
        let resources = try await GatewayResources(start)
        try FileManager.default.removeItem(atPath: folder.path + "/brands.psv")
        let error = await #expect(throws: BrandFileError.self) { _ = try await StoredState(start, resources) }
        #expect(error?.description.contains("\(folder.path)/brands.psv") == true)
    }

    // Last phases, and the whole.

    @Test func `a key of the directory that is unusable ends the start with the configuration key`() async throws {
        let text = folder.sections.with("directory", "{url: 'http://127.0.0.1:9', api_key_file: api-key}")
        try folder.put(Array("two words".utf8), in: "api-key")
        let start: GatewayStart
        do {
            start = try fixture.start(text)
        } catch {
            #expect("\(error)".contains("api_key_file"))
            return
        }
        let error = await #expect(throws: CommandFailure.self) { _ = try await RunningGateway(start) }
        #expect(error?.description.contains("directory.api_key_file") == true)
    }

    @Test(arguments: ["state", "run"])
    func `folders that cannot be made stop no start, and each problem names its key`(name: String) async throws {
        try folder.put([], in: name)
        let (resources, state) = try await fixture.state()
        let key = name == "state" ? "gateway.state" : "gateway.runtime"
        #expect(
            resources.troubles.texts.first
                == "the folder \(folder.path)/\(name) cannot be made: File exists; see \(key)"
                || resources.troubles.texts.first
                    == "the folder \(folder.path)/\(name) cannot be made: Not a directory; see \(key)",
            "\(resources.troubles.texts)")
        #expect((state.recorder.totals.problem == nil) == (name == "run"))
        try? state.database.close()
    }
}
