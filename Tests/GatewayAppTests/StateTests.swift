// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayStore
import GatewayTesting
import Host
import Testing

@testable import GatewayApp
@testable import GatewayConfiguration
@testable import GatewayOperator

@Suite("The folders and the secret of a gateway")
struct StateTests {
    private let folder: GatewayFolder
    private let log = LogLines()
    private let troubles: StateTroubles

    init() throws {
        folder = try GatewayFolder()
        troubles = StateTroubles(logger: log.logger)
    }

    private func claim(_ folders: [(String, String)]) throws -> [FolderClaim] {
        try StateFolder.claim(folders.map { ($0.0, folder.path + "/" + $0.1) }, reporting: troubles)
    }

    private func secret() -> GatewaySecret {
        GatewaySecret(in: folder.path + "/state", spare: folder.path + "/run", reporting: troubles)
    }

    @Test func `a second gateway on the same folder is refused until the first is gone`() throws {
        var first = try claim([("gateway.state", "state")])
        #expect(first.first?.standing == .inPlace)
        let error = #expect(throws: CommandFailure.self) { try claim([("gateway.runtime", "state")]) }
        #expect(
            error?.description
                == "another herald uses the folder \(folder.path)/state; stop it, or give this one a gateway.runtime of its own"
        )
        first = []
        #expect(try claim([("gateway.state", "state")]).count == 1)
    }

    @Test func `two keys may name one folder`() throws {
        #expect(try claim([("gateway.state", "one"), ("gateway.runtime", "one")]).count == 1)
        #expect(troubles.texts.isEmpty)
    }

    @Test func `new folders are for this user and its group`() throws {
        _ = try claim([("gateway.state", "deep/state")])
        let mode =
            try FileManager.default.attributesOfItem(atPath: folder.path + "/deep/state")[.posixPermissions] as? Int
        #expect((mode ?? 0o777) & 0o027 == 0)
    }

    @Test func `a folder that cannot be created is a problem and no refusal`() throws {
        try folder.put([], in: "file")
        #expect(try claim([("gateway.state", "file/state")]).isEmpty)
        #expect(
            troubles.texts == [
                "the folder \(folder.path)/file/state cannot be made: Not a directory; see gateway.state"
            ])
    }

    @Test func `a folder that is replaced while the gateway runs is noticed, and gets its secret back`() throws {
        let claims = try claim([("gateway.state", "state")])
        let secret = secret()
        let watch = StateWatchService(claims: claims, secret: secret, troubles: troubles)
        watch.look()
        #expect(troubles.texts.isEmpty)
        let bytes = folder.bytes(of: "state/secret")
        try FileManager.default.removeItem(atPath: folder.path + "/state")
        try FileManager.default.createDirectory(atPath: folder.path + "/state", withIntermediateDirectories: true)
        watch.look()
        watch.look()
        #expect(troubles.texts.count == 1, "one problem is reported once")
        #expect(
            troubles.texts.first?.contains("\(folder.path)/state was removed or replaced while herald runs") == true)
        #expect(folder.bytes(of: "state/secret") == bytes)
    }

    /// Changes the user of this thread's file accesses, `setfsuid` of the C library, and returns the earlier one.
    private func setFileUser(_ user: CInt) throws -> CInt {
        typealias Call = @convention(c) (CInt) -> CInt
        return unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: Call.self)(user)
    }

    @Test func `a folder closed by another owner is named with its remedy, and the problem ends with its cause`() throws
    {
        let claims = try claim([("gateway.state", "state")])
        let watch = StateWatchService(claims: claims, secret: secret(), troubles: troubles)
        let path = folder.path + "/state"
        #expect(chmod(path, 0) == 0)
        // Root may look into every folder; another user of files may not. The user belongs to the thread alone.
        let ownUser = try setFileUser(65_534)
        watch.look()
        watch.look()
        _ = try setFileUser(ownUser)
        #expect(
            troubles.texts == [
                """
                the folder \(path) is closed to herald: Permission denied; calls go on, but files in it can be neither opened \
                nor replaced; give it back to the user herald runs as with chown, and its mode with chmod 750
                """
            ])
        _ = log.take()
        #expect(chmod(path, 0o750) == 0)
        watch.look()
        #expect(troubles.texts.isEmpty && log.take() == ["notice \(path) is open again"])
    }

    @Test func `a problem is logged when it is new, and all of them at each reminder`() {
        troubles.add("first")
        troubles.add("first")
        troubles.add("second")
        #expect(log.take() == ["error first", "error second"])
        troubles.remind()
        #expect(log.take() == ["error first", "error second"])
    }

    @Test func `the secret survives a start`() throws {
        try folder.put([], in: "state/x")
        _ = secret()
        let first = try #require(folder.bytes(of: "state/secret"))
        _ = secret()
        #expect(first.count == 16 && folder.bytes(of: "state/secret") == first)
        #expect(troubles.texts.isEmpty)
    }

    @Test func `a secret of another size is kept aside`() throws {
        try folder.put([1, 2, 3], in: "state/secret")
        _ = secret()
        #expect(folder.bytes(of: "state/secret.damaged") == [1, 2, 3])
        #expect(folder.bytes(of: "state/secret")?.count == 16)
        #expect(troubles.texts.count == 1 && troubles.texts[0].contains("does not hold 16 bytes"))
    }

    @Test func `without a state folder the secret is kept in the spare one, and moves home later`() throws {
        try folder.put([], in: "run/x")
        _ = secret()
        let first = try #require(folder.bytes(of: "run/secret"))
        #expect(troubles.texts.first?.contains("kept in \(folder.path)/run") == true)
        try folder.put([], in: "state/x")
        _ = secret()
        #expect(folder.bytes(of: "state/secret") == first && folder.bytes(of: "run/secret") == nil)
    }

    @Test func `without any folder the secret is in memory`() {
        _ = secret()
        #expect(troubles.texts.first?.contains("kept in memory") == true)
    }

    @Test func `a check finds what a start would report, and changes nothing`() throws {
        try folder.put([1], in: "state/secret")
        try folder.put([UInt8](repeating: 0x41, count: 8_192), in: "state/herald.sqlite")
        try folder.put([], in: "run")
        let check = StateCheck(try folder.configuration(folder.sections))
        #expect(check.problems.count == 3, "\(check.problems)")
        #expect(
            check.problems[0] == "the folder \(folder.path)/run cannot be written: Not a directory; see gateway.runtime"
        )
        #expect(check.problems[1].contains("herald.sqlite"))
        #expect(
            check.problems[2]
                == "the secret \(folder.path)/state/secret does not hold 16 bytes; a start makes a new one")
        #expect(check.text.hasSuffix("calls would be carried all the same\n"))
        #expect(folder.bytes(of: "state/secret") == [1])
        #expect(StateCheck(try GatewayFolder().configuration(folder.sections)).problems.isEmpty)
    }
}
