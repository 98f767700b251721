// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
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
            (HTTPParserError.invalidVersion, "the server does not speak HTTP"),
        ] as [(any Error, String)]) func `errors of the libraries are reported without their names`(
            error: any Error, text: String
        )
    {
        #expect(ConnectionFailure.text(error) == text)
    }

    @Test func `what is no failure of a connection has no such reason`() {
        struct Other: Error {}
        #expect(ConnectionFailure.text(Other()) == nil)
    }
}
