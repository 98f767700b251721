// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Synchronization
import TestFixtures
import Testing

@testable import GatewayOperator

@Suite("Pictures by number", .timeLimit(.minutes(8)))
struct NumberPicturesTests {
    /// As Mitel and Aastra phones ask: `NUMBER.png` behind `image server uri`.
    @Test(arguments: [
        "+61255501001", "%2B61255501001", "%2b61255501001", "61255501001", "0255501001", "02-5550-1001",
        "001161255501001",
    ]) func `a number finds its logo however the phone writes it`(number: String) async throws {
        try await PhoneServerFixture().run { port in
            let response = try await LoopbackClient.exchange("GET /pictures/\(number).png HTTP/1.1", port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 200") && response.body == "file 128x128.png")
            #expect(response.head.lowercased().contains("content-type: image/png"))
            #expect(response.head.lowercased().contains("cache-control: max-age=3600"))
        }
    }

    @Test(arguments: [
        ("0255501001.jpg", "file 128x128.jpg", "image/jpeg"), ("0255501001.jpeg", "file 128x128.jpg", "image/jpeg"),
        ("0255501001.bmp", "file 64x64grey.bmp", "image/bmp"),
        ("mitel/0255501001.png", "file 150x150opaque.png", "image/png"),
        ("snom_370/0255501001.BMP", "file 64x64grey.bmp", "image/bmp"),
    ]) func `the extension and the family choose the form`(path: String, body: String, type: String) async throws {
        try await PhoneServerFixture().run { port in
            let response = try await LoopbackClient.exchange("GET /pictures/\(path) HTTP/1.1", port: port)
            #expect(response.body == body && response.head.lowercased().contains("content-type: \(type)"))
        }
    }

    @Test(arguments: [
        "0255509999.png", "+441632960001.png", "anonymous.png", "100.png", ".png", "0255501001", "0255501001.gif",
        "snom_m9/0255501001.jpg", "mitel/0255501001.jpg", "mitel/x/0255501001.png", "/0255501001.png", "%.png",
        "%zz.png",
        "../logos/0255501001.png", "0255501001.png/", "+61255501001999999999999999999999999999999.png",
    ]) func `a number without a brand, a brand without a logo and any other name get 404`(path: String) async throws {
        try await PhoneServerFixture().run { port in
            let response = try await LoopbackClient.exchange("GET /pictures/\(path) HTTP/1.1", port: port)
            #expect(response.head.hasPrefix("HTTP/1.1 404") && response.body.isEmpty)
        }
    }

    @Test func `a phone that has the picture gets 304, until the brand has another`() async throws {
        try await PhoneServerFixture().run { port in
            let tag = "If-None-Match: \"\(PhoneServerFixture.hash)-128x128.png\""
            let known = try await LoopbackClient.exchange("GET /pictures/0255501001.png HTTP/1.1\r\n\(tag)", port: port)
            #expect(known.head.hasPrefix("HTTP/1.1 304"))
            let other = try await LoopbackClient.exchange("GET /pictures/0255501001.jpg HTTP/1.1\r\n\(tag)", port: port)
            #expect(other.head.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a closed gate and branding switched off hide every picture at once`() async throws {
        let fixture = try PhoneServerFixture()
        try await fixture.run { port in
            func status() async throws -> String {
                let response = try await LoopbackClient.exchange("GET /pictures/0255501001.png HTTP/1.1", port: port)
                return String(response.head.prefix(12))
            }
            let open = try await status()
            #expect(open == "HTTP/1.1 200")
            fixture.isEnabled.withLock { $0 = false }
            let off = try await status()
            #expect(off == "HTTP/1.1 404")
            fixture.isEnabled.withLock { $0 = true }
            let index = fixture.current.load().index
            fixture.current.store(BrandingSnapshot(index: index, gates: BrandingGates(capReached: true)))
            let capped = try await status()
            #expect(capped == "HTTP/1.1 404")
        }
    }
}
