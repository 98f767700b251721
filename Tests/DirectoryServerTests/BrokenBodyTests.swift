// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import Logging
import Synchronization
import TestFixtures
import Testing

@Suite("Bodies that break the rules of HTTP", .timeLimit(.minutes(8)), .bothEngines)
struct BrokenBodyTests {
    /// RFC 9112 §7.1: a chunk begins with its size in hexadecimal digits and ends with CRLF.
    @Test(arguments: ["zz\r\n{}\r\n0\r\n\r\n", "-1\r\n{}\r\n", "2\r\n{}xx0\r\n\r\n", "FFFFFFFFFFFFFFFFFF\r\n"])
    func `broken chunks are the client's fault and no error of the server`(chunks: String) async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            LineLog { line, level in if level >= .warning { lines.withLock { $0.append(line) } } }
        }
        try await RunningDirectory.run(logger: logger) { directory in
            let response = try await LoopbackClient.ask(
                RawRequest(
                    method: "POST", path: "/" + APIPath.event,
                    headers: [("X-API-Key", directory.key), ("Transfer-Encoding", "chunked")],
                    body: Array(chunks.utf8), announced: -1),
                port: directory.port)
            #expect(response.status == 400, "\(response.text)")
            #expect(response.isEnvelope("bad_request") || response.body.isEmpty)
        }
        #expect(lines.withLock { $0 } == [])
    }

    @Test(arguments: ["POST", "PUT"])
    func `broken chunks of a registration are the client's fault too`(method: String) async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            LineLog { line, level in if level >= .warning { lines.withLock { $0.append(line) } } }
        }
        try await RunningDirectory.run(logger: logger, edit: { $0.offersRegistrations = true }) { directory in
            let token = try await CamaraClient(directory).token()
            let id = method == "PUT" ? "/019b7a3e-5c00-7d41-9c3e-0a2b4c6d8e1f" : ""
            let response = try await LoopbackClient.ask(
                RawRequest(
                    method: method, path: CamaraClient.registrations + id,
                    headers: [("Authorization", "Bearer \(token)"), ("Transfer-Encoding", "chunked")],
                    body: Array("zz\r\n{}\r\n0\r\n\r\n".utf8), announced: -1),
                port: directory.port)
            #expect(response.status == 400, "\(response.text)")
            let isRefused = response.isErrorInfo(400, "INVALID_ARGUMENT") && response.headers["connection"] == "close"
            #expect(isRefused || response.body.isEmpty, "\(response.text)")
        }
        #expect(lines.withLock { $0 } == [])
    }
}
