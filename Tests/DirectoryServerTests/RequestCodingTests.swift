// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Crypto
import DirectoryFixtures
import Foundation
import Primitives
import TestFixtures
import Testing

@testable import DirectoryStore

/// Bodies that clients compress (RFC 9110 §8.4); the compressed bytes are Python's.
@Suite("Compressed request bodies", .timeLimit(.minutes(8)), .bothEngines)
struct RequestCodingTests {
    /// One event, in every form that is taken.
    private static let gzip =
        "H4sIAAAAAAACA6tWKsjIz0uNzyvNTUotik81NDNRslLSNjM0sTQ0NTcwNDVT0lHKLy1Jzs9NBUrkZhYXp6YAhVLLUvNK4rNTK4GC"
        + "BYnJ2UDBWgB//eCrTAAAAA=="
    private static let zlib =
        "eNqrVirIyM9Ljc8rzU1KLYpPNTQzUbJS0jYzNLE0NDU3MDQ1U9JRyi8tSc7PTQVK5GYWF6emAIVSy1LzSuKzUyuBggWJydlAwVoA"
        + "kcgYEw=="
    private static let raw =
        "q1YqyMjPS43PK81NSi2KTzU0M1GyUtI2MzSxNDQ1NzA0NVPSUcovLUnOz00FSuRmFhenpgCFUstS80ris1MrgYIFicnZQMFaAA=="
    /// Two members in one body (RFC 1952 §2.2).
    private static let members =
        "H4sIAAAAAAACA6tWKsjIz0uNzyvNTUotik81NDNRslLSNjM0sTQ0NQcALIEIUh4AAAAfiwgAAAAAAAIDMzA0NVPSUcovLUnOz01V"
        + "slLKzSwuTk0BCqWWpeaVxGenVgIFCxKTs4GCtQC2h6njLgAAAA=="
    /// One byte more than 1 MiB of blanks, in about a kilobyte.
    private static let bomb =
        "H4sIAAAAAAACA+3BMQEAAADCoCrrn9IQvkABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJwGDPovoQEA"
        + "EAA="

    private static func post(
        _ coding: String?, _ body: [UInt8], _ directory: RunningDirectory, headers: [String: String] = [:]
    ) async throws -> ReceivedResponse {
        var all = ["X-API-Key": directory.key, "Content-Type": "application/json"]
        all["Content-Encoding"] = coding
        all.merge(headers) { $1 }
        return try await LoopbackClient.ask(
            RawRequest(
                method: "POST", path: "/api/" + APIPath.event, headers: all.map { ($0.key, $0.value) }, body: body),
            port: directory.port)
    }

    private static func bytes(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: text))) }

    // RFC 9110 §8.4.1.2 and §8.4.1.3; some clients send deflate without the header of zlib.
    @Test(arguments: [
        ("gzip", gzip), ("x-gzip", gzip), ("GZIP", gzip), ("gzip", members), ("deflate", zlib), ("deflate", raw),
        ("identity, gzip", gzip),
    ])
    func `a compressed event is read`(coding: String, body: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await Self.post(coding, try Self.bytes(body), directory)
            #expect(response.status == 200, "\(response.text)")
            let kept = try EventLedger(directory.database).page(.init(), limit: 2).events
            #expect(kept.map(\.eventKey) == ["packed"])
        }
    }

    // RFC 9110 §15.5.16 and §12.5.3.
    @Test(arguments: ["br", "zstd", "gzip, gzip", "deflate, gzip", "compress", "x"])
    func `another coding is refused with those that are taken`(coding: String) async throws {
        try await RunningDirectory.run { directory in
            let response = try await Self.post(coding, try Self.bytes(Self.gzip), directory)
            #expect(response.status == 415)
            #expect(response.isEnvelope("unsupported_encoding"), "\(response.text)")
            #expect(response.headers["accept-encoding"] == "gzip, deflate")
        }
    }

    @Test func `a body that grows beyond one mebibyte is refused`() async throws {
        try await RunningDirectory.run { directory in
            let response = try await Self.post("gzip", try Self.bytes(Self.bomb), directory)
            #expect(response.status == 413)
            #expect(response.isEnvelope("too_large"), "\(response.text)")
        }
    }

    @Test func `a body that is not what its coding says is refused`() async throws {
        try await RunningDirectory.run { directory in
            let whole = try Self.bytes(Self.gzip)
            for body in [[], Array("{}".utf8), Array(whole.dropLast(9)), whole + [1, 2, 3]] {
                let response = try await Self.post("gzip", body, directory)
                #expect(response.status == 400)
                #expect(response.isEnvelope("bad_request"), "\(response.text)")
            }
        }
    }

    // api-client-networking: the signature is over the body as it is sent.
    @Test func `a signature is over the bytes as they came`() async throws {
        try await RunningDirectory.run { directory in
            let signing = try SigningSecrets(directory.database).create(forKey: directory.key)
            let body = try Self.bytes(Self.gzip)
            let time = String(ManualTime.start)
            let message = RequestSignature.message(
                id: signing.id, method: "POST", path: "/api/" + APIPath.event, body: body, time: time)
            let code = HMAC<SHA256>.authenticationCode(
                for: message, using: SymmetricKey(data: Data(signing.secret.utf8)))
            let headers = [
                RequestSignature.idHeader: signing.id, RequestSignature.signatureHeader: Hexadecimal.text(code),
                RequestSignature.timeHeader: time,
            ]
            #expect(try await Self.post("gzip", body, directory, headers: headers).status == 200)
        }
    }
}
