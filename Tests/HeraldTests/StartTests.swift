// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import GRDB
import Testing

/// Runs the built program, which is in the folder of the tests.
@Suite("A start of herald that fails", .serialized, .timeLimit(.minutes(8)))
final class StartTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/herald-start-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs herald to its end; `sections` follow those every configuration needs.
    ///
    /// - Parameter wrapper: a program with its arguments that starts herald.
    private func run(
        state: String = "state", _ sections: String = "admin: {enabled: false}", through wrapper: [String] = []
    ) async throws -> ChildProgram {
        // An address of the loopback network that no other test has.
        let text = """
            gateway: {state: \(state), runtime: run}
            listen: [{address: 127.83.17.1:5060}]
            trunks: [{sources: [127.83.17.2]}]
            pbx: [{address: 127.83.17.3:5060}]
            \(sections)

            """
        try text.write(toFile: folder + "/herald.yaml", atomically: true, encoding: .utf8)
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let command =
            wrapper + [tests.appendingPathComponent("herald").path, "run", "--config", folder + "/herald.yaml"]
        return try await ChildProgram.run(command[0], Array(command.dropFirst()))
    }

    /// Runs its arguments, with standard error in the file `$0`, until the log says that the gateway is ready.
    private static let stopOnceReady = """
        "$@" 2>"$0" & child=$!
        for turn in $(seq 600); do
            grep -q "ready for calls" "$0" && break
            kill -0 "$child" || break
            sleep 0.1
        done
        kill -TERM "$child"; wait "$child"; status=$?; cat "$0" >&2; exit "$status"
        """

    @Test func `a run at the lowest log level writes no secret`() async throws {
        let secret: [UInt8] = Array("\u{1}\u{2}gateway-secret".utf8)
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
        try Data(secret).write(to: URL(fileURLWithPath: folder + "/state/secret"))
        for name in ["api-key", "signing", "webhook", "hep", "pages", "kafka"] {
            try "the-secret-of-\(name)".write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
        }
        // Stops it as systemd would, after its services have started.
        let ended = try await run(
            """
            admin: {listen: '127.83.17.1:9470', token_file: pages}
            log: {level: trace}
            directory: {url: 'http://127.0.0.1:9', api_key_file: api-key, bearer: true, signing: {id: a, secret_file: signing}}
            outcomes: {webhook: {url: 'http://127.0.0.1:9', secret_file: webhook}, \
            kafka: {brokers: ['127.0.0.1:9'], topic: t, sasl: {mechanism: PLAIN, user: u, password_file: kafka}, tls: {}}}
            trace: {hep: {collector: '127.0.0.1:9060', auth_key_file: hep}}
            """, through: ["sh", "-c", Self.stopOnceReady, folder + "/log"])
        #expect(
            ended.errors.contains("ready for calls") && ended.errors.contains("StateWatchService"), "\(ended.errors)")
        #expect(!ended.errors.contains("the-secret-of-"))
        #expect(!ended.errors.contains(secret.map { "\($0)" }.joined(separator: ", ")))
    }

    @Test(arguments: [
        ("admin.listen", "admin: {listen: '127.0.0.1:PORT'}"),
        (
            "logos.listen",
            """
            admin: {enabled: false}
            directory: {url: 'http://127.0.0.1:9', api_key_file: api-key}
            logos: {listen: '127.0.0.1:PORT'}
            """
        ),
    ]) func `a taken port is reported before the first call, with the remedy`(key: String, text: String) async throws {
        let taken = try TakenPort()
        try "key".write(toFile: folder + "/api-key", atomically: true, encoding: .utf8)
        let refused = try await run(text.replacing("PORT", with: "\(taken.port)"))
        #expect(refused.code == 1)
        #expect(
            refused.errors.hasSuffix(
                """
                Error: cannot listen on TCP 127.0.0.1:\(taken.port): Address already in use; \
                see who uses it with `ss -ltnp`, or change \(key)

                """), "\(refused.errors)")
        #expect(!refused.errors.contains("ready for calls"))
    }

    @Test func `its files are for its user and group alone, also in a folder that everybody may read`() async throws {
        let state = folder + "/state"
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        // Ends once everything is open: the operator's page is the last to listen.
        let taken = try TakenPort()
        _ = try await run("admin: {listen: '127.0.0.1:\(taken.port)'}")
        let names = try FileManager.default.contentsOfDirectory(atPath: state)
        #expect(Set(names).isSuperset(of: ["herald.sqlite", "brands.sqlite", "secret"]))
        for name in names {
            let mode = try FileManager.default.attributesOfItem(atPath: state + "/" + name)[.posixPermissions] as? Int
            #expect((mode ?? 0o777) & 0o007 == 0, "\(name)")
        }
    }

    @Test(arguments: [("state", "gateway.state"), ("run", "gateway.runtime")])
    func `two gateways do not share a folder`(name: String, key: String) async throws {
        let path = folder + "/" + name
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let other = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
        let refused = try await run()
        #expect(refused.code == 1)
        #expect(
            refused.errors == """
                Error: another herald uses the folder \(path); stop it, or give this one a \(key) of its own

                """)
    }

    @Test func `damaged brand records stop no call: they are set aside and begun anew`() async throws {
        let brands = folder + "/state/brands.sqlite"
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: brands))
        // Ends once everything is open: the operator's page is the last to listen.
        let taken = try TakenPort()
        let ended = try await run("admin: {listen: '127.0.0.1:\(taken.port)'}")
        #expect(ended.errors.contains("the brand records were set aside and begun anew"), "\(ended.errors)")
        #expect(ended.errors.contains("cannot listen on TCP 127.0.0.1:\(taken.port)"))
        #expect(FileManager.default.fileExists(atPath: brands + ".aside"))
        let again = try await run("admin: {listen: '127.0.0.1:\(taken.port)'}")
        #expect(!again.errors.contains("set aside"))
        // The same for a good file with damaged pages. A program that ends so may leave all of them in the write-ahead log.
        let database = try DatabaseQueue(path: brands)
        try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try database.close()
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: brands)[.size] as? Int)
        try #require(size > 8_192)
        let file = try #require(FileHandle(forWritingAtPath: brands))
        try file.seek(toOffset: 8_192)
        try file.write(contentsOf: Data(repeating: 0x41, count: size - 8_192))
        try file.close()
        let inside = try await run("admin: {listen: '127.0.0.1:\(taken.port)'}")
        #expect(inside.errors.contains("the brand records were set aside and begun anew"), "\(inside.errors)")
        #expect(inside.errors.contains("cannot listen on TCP 127.0.0.1:\(taken.port)"))
    }

    /// Starts as far as the last port to listen on, so everything before it has worked.
    private func startsAllTheSame(state: String = "state", sections: String = "") async throws -> String {
        let taken = try TakenPort()
        let secret = folder + "/cluster-secret"
        try "00112233445566778899aabbccddeeff\n".write(toFile: secret, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        let ended = try await run(state: state, "admin: {listen: '127.0.0.1:\(taken.port)'}\n" + sections)
        #expect(ended.errors.contains("cannot listen on TCP 127.0.0.1:\(taken.port)"), "\(ended.errors)")
        return ended.errors
    }

    @Test func `a folder that cannot be made stops no call, and the log has the remedy`() async throws {
        let log = try await startsAllTheSame(state: "/dev/null/state")
        #expect(log.contains("the folder /dev/null/state cannot be made: Not a directory; see gateway.state"), "\(log)")
        #expect(log.contains("outcomes cannot be stored"), "\(log)")
        #expect(log.contains("the secret /dev/null/state/secret can be neither read nor written"), "\(log)")
        #expect(log.contains("the brand records are kept in \(folder)/run until the next start"), "\(log)")
    }

    @Test func `a secret kept in the spare folder is used again, and moves home when it can`() async throws {
        _ = try await startsAllTheSame(state: "/dev/null/state")
        let kept = try Data(contentsOf: URL(fileURLWithPath: folder + "/run/secret"))
        #expect(kept.count == 16)
        _ = try await startsAllTheSame(state: "/dev/null/state")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/run/secret")) == kept)
        _ = try await startsAllTheSame()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/state/secret")) == kept)
        #expect(!FileManager.default.fileExists(atPath: folder + "/run/secret"))
    }

    @Test func `a secret of another size is kept aside and stops no call`() async throws {
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
        try Data(repeating: 1, count: 7).write(to: URL(fileURLWithPath: folder + "/state/secret"))
        let log = try await startsAllTheSame()
        #expect(log.contains("does not hold 16 bytes"), "\(log)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/state/secret")).count == 16)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/state/secret.damaged")).count == 7)
    }

    @Test func `a ledger of a newer herald stops no call and stays as it is`() async throws {
        _ = try await startsAllTheSame()
        let ledger = folder + "/state/herald.sqlite"
        let queue = try DatabaseQueue(path: ledger)
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO grdb_migrations VALUES ('ledger of tomorrow');
                    ALTER TABLE call ADD COLUMN tomorrow TEXT NOT NULL DEFAULT 'x';
                    """)
        }
        try queue.close()
        // With a shared ledger a list of changes would be written into the file.
        for sections in ["", cluster] {
            let log = try await startsAllTheSame(sections: sections)
            #expect(log.contains("\(ledger) was written by a newer herald; install that version again"), "\(log)")
        }
        let kept = try await DatabaseQueue(path: ledger).read { database in
            try Int.fetchOne(
                database,
                sql: "SELECT (SELECT count(*) FROM call) + (SELECT count(*) FROM sqlite_master WHERE type = 'trigger')")
        }
        #expect(kept == 0)
    }

    /// A shared ledger on a server that is away.
    private var cluster: String {
        """
        cluster:
          secret_file: cluster-secret
          listen: '127.83.17.1:5070'
          siblings: ['127.83.17.9:5070']
          route: 127.83.17.1
          ledger: 'postgres://herald@127.0.0.1:9/herald'
        """
    }

    @Test func `changes for a shared ledger are listed from the opening of the file on, without PostgreSQL`()
        async throws
    {
        for (sections, triggers) in [("", 0), (cluster, 6), ("", 0)] {
            _ = try await startsAllTheSame(sections: sections)
            let found = try await DatabaseQueue(path: folder + "/state/herald.sqlite").read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'")
            }
            #expect(found == triggers)
        }
    }
}

/// A TCP port in use.
private final class TakenPort {
    let port: Int
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        try #require(isBound)
    }

    deinit { close(descriptor) }
}
