// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import PostgreSQL
import Synchronization

/// A PostgreSQL server of `Deploy/postgres`, stopped and deleted with the last reference to it.
///
/// The script stops the server when its input ends, which a killed test process does too.
package final class ThrowawayServer: Sendable {
    /// A reason why there is no server; it fails the test.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The server that all tests of this process share.
    ///
    /// It lives as long as the process.
    package static let shared = Result { try ThrowawayServer() }

    /// The folder of the socket, the log and the certificate.
    package let folder: String
    package let port: String
    private let words: Int32
    private let responses: Mutex<LineReader>
    private let child: pid_t

    /// Starts a server; takes about two seconds.
    ///
    /// - Parameter options: options of `Deploy/postgres`, such as `--tls`.
    package init(_ options: [String] = []) throws {
        let script = #filePath.components(separatedBy: "/Tests/")[0] + "/Deploy/postgres"
        var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&input) == 0, pipe(&output) == 0 else {
            throw Failure(description: "no pipe for Deploy/postgres: \(String(cString: strerror(errno)))")
        }
        for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        let arguments = ([script] + options + ["serve"]).map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        var child = pid_t()
        let failure = posix_spawn(&child, script, &actions, nil, arguments, environment)
        posix_spawn_file_actions_destroy(&actions)
        (arguments + environment).forEach { free($0) }
        close(input[0])
        close(output[1])
        guard failure == 0 else {
            throw Failure(description: "\(script) cannot be started: \(String(cString: strerror(failure)))")
        }
        var reader = LineReader(descriptor: output[0])
        guard let line = reader.next(), let space = line.lastIndex(of: " ") else {
            throw Failure(description: "Deploy/postgres started no server; run it by hand to see why")
        }
        self.child = child
        words = input[1]
        responses = Mutex(reader)
        folder = String(line[..<space])
        port = String(line[line.index(after: space)...])
    }

    deinit {
        close(words)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    /// Starts the server again, stops it, or kills it; blocks until that is done.
    package func perform(_ word: Word) throws {
        try responses.withLock { responses in
            let line = "\(word.rawValue)\n"
            guard write(words, line, line.utf8.count) == line.utf8.count, responses.next() == "\(word.rawValue) done"
            else {
                throw Failure(
                    description: "Deploy/postgres did not carry out \(word.rawValue); see \(folder)/server.log")
            }
        }
    }

    /// Words of `Deploy/postgres serve`.
    package enum Word: String, Sendable {
        case start, stop, kill, promote
        case startStandby = "start-standby"
        case stopStandby = "stop-standby"
    }

    /// The URL of a database on the primary or the standby, whichever takes writes.
    package func clusterURL(_ database: String = "herald", user: String = "herald") -> String {
        "postgres://\(user)@/\(database)?host=\(folder),\(folder)&port=\(port),\((Int(port) ?? 0) + 1)"
            + "&target_session_attrs=read-write"
    }

    /// The URL of a database through the socket.
    package func url(_ database: String = "herald", user: String = "herald") -> String {
        "postgres://\(user)@/\(database)?host=\(folder)&port=\(port)"
    }

    /// The address of a database through the socket.
    package func address(_ database: String = "herald", user: String = "herald") throws -> PostgreSQLAddress {
        try PostgreSQLAddress(url(database, user: user))
    }

    /// Makes an empty database with a name of its own, and returns its name.
    package func makeDatabase() throws -> String {
        let name = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let session = PostgreSQLSession(try address("postgres"))
        try session.script("CREATE DATABASE \(name)")
        return name
    }

    /// A session with an empty database of its own on the shared server.
    package static func session() throws -> PostgreSQLSession {
        let server = try shared.get()
        return PostgreSQLSession(try server.address(server.makeDatabase()))
    }
}

/// Lines from a pipe.
private struct LineReader {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// The next line without its end; nil at the end of the pipe.
    mutating func next() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }
}
