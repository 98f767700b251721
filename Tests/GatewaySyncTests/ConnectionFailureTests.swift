// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import TestFixtures
import Testing

@testable import GatewaySync

@Suite("Why a connection failed, in an operator's words")
struct ConnectionFailureTests {
    @Test(
        arguments: [
            (IOError(errnoCode: 111, reason: "connect(descriptor:)"), "Connection refused"),
            (IOError(errnoCode: 104, reason: "read(descriptor:)"), "Connection reset by peer"),
            (ChannelError.connectTimeout(.seconds(10)), "no connection in time"),
            (ChannelError.eof, "the connection ended"), (CancellationError(), "stopped"),
            (NIOSSLError.handshakeFailed(BoringSSLError.zeroReturn), "the TLS handshake failed"),
            (NIOSSLError.uncleanShutdown, "the TLS connection ended"),
            (
                NIOSSLExtraError.failedToValidateHostname,
                "its certificate is for another name than the one in directory.url"
            ),
            (HTTPParserError.invalidEOFState, "the connection ended before the response was complete"),
            (HTTPParserError.invalidVersion, "the server does not speak HTTP"),
        ] as [(any Error, String)]) func `errors of the libraries are reported without their names`(
            error: any Error, text: String
        )
    {
        #expect(ConnectionFailure.text(error) == text)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Le", "the connection ended before the response was complete"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"success\":true", "broke off"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"success\"", "broke off"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{\"success\"", "broke off"),
    ]) func `a server that began to speak HTTP is not reported as one that does not`(text: String, cause: String)
        async throws
    {
        let peer = try FaultyPeer { _, _ in .raw(text) }
        try await withClient(of: peer) { client in
            let error = await #expect(throws: DirectoryError.self) { try await client.sync(since: nil, deviceID: "d") }
            let description = "\(try #require(error))"
            #expect(description.contains(cause), "\(description)")
            #expect(!description.contains("does not speak HTTP"), "\(description)")
        }
    }

    @Test func `what is no failure of a connection has no such reason`() {
        struct Other: Error {}
        #expect(ConnectionFailure.text(Other()) == nil)
    }
}
