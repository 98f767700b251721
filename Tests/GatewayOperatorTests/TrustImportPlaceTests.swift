// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewaySync
import Host
import Synchronization
import TestFixtures
import Testing
import TrustFixtures

@testable import GatewayOperator

/// Imports beside a restore, which replaces the file of the signers.
@Suite("herald trust import beside a restore")
struct TrustImportPlaceTests {
    private let fixture = SignerFixture()

    @Test func `after an interrupted restore nothing is imported, and the text has the remedy`() async throws {
        let plan = URL(fileURLWithPath: fixture.state + "/" + RestorePlan.path)
        try FileManager.default.createDirectory(
            at: plan.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: plan)
        let error = await #expect(throws: CommandFailure.self) { _ = try await fixture.importSigners(["spc"]) }
        #expect(error?.description.hasPrefix("a restore was interrupted: ") == true, "\(error?.description ?? "")")
        #expect(!FileManager.default.fileExists(atPath: HeraldDatabase.signersPath(in: fixture.state)))
    }

    @Test func `an import into a file that was replaced meanwhile is an error`() async throws {
        try await fixture.importSigners(["spc"])
        let path = HeraldDatabase.signersPath(in: fixture.state)
        let calls = Mutex(0)
        /// The first time is that of the decision; the next one is read while the file is open.
        @Sendable func time() -> Int64 {
            if calls.withLock({
                $0 += 1; return $0
            }) == 2 {
                let draft = path + ".draft"
                try? FileManager.default.copyItem(atPath: path, toPath: draft)
                rename(draft, path)
            }
            return fixture.lab.now
        }
        let file = try fixture.folder.write(fixture.lab.file(["revoked"]), to: "more.pem")
        let importer = try TrustImport(fixture.configuration(), now: time())
        let error = await #expect(throws: CommandFailure.self) { _ = try await importer.take([file]) }
        #expect(
            error?.description == "\(path) was replaced meanwhile, such as by herald restore; run the command again")
    }
}
