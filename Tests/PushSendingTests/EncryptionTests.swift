// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

@testable import PushSending

@Suite("Encryption of web push, to the byte of the RFCs")
struct EncryptionTests {
    @Test func `RFC 8188 3.1: one record`() throws {
        let content = EncryptedContent(salt: try bytes("I1BsxtFttlv3u_Oo94xnmw"), recordSize: 4096, keyID: [])
        let body = try content.seal(
            Array("I am the walrus".utf8), with: SymmetricKey(data: bytes("yqdlZ-tYemfogSmv7Ws5PQ")))
        #expect(base64url(body) == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    }

    @Test func `RFC 8188 3.2: two records, the first one padded`() throws {
        let content = EncryptedContent(
            salt: try bytes("uNCkWiNYzKTnBN9ji3-qWA"), recordSize: 25, keyID: Array("a1".utf8))
        let body = try content.seal(
            Array("I am the walrus".utf8), with: SymmetricKey(data: bytes("BO3ZVPxUlnLORbVGMpbT1Q")), padding: 1)
        #expect(
            base64url(body)
                == "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA")
    }

    @Test func `RFC 8291 Appendix A`() throws {
        let server = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let encryption = WebPushEncryption(serverKey: server, salt: try bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        let browser = Browser(
            key: try .init(rawRepresentation: bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")),
            auth: try bytes("BTBZMqHH6r4Tts7J_aSIgg"))
        #expect(
            base64url(browser.publicKey)
                == "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
        let message = Array("When I grow up, I want to be a watermelon".utf8)
        let body = try encryption.seal(message, p256dh: browser.publicKey, auth: browser.auth, padding: 0)
        #expect(
            base64url(body) == """
                DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A\
                _yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
                """)
        #expect(try browser.open(body) == message)
    }

    @Test(arguments: [0, 1, 255, 256, 257, 3840, 3992, 3993])
    func `a message is padded to a step and never beyond 4096 bytes`(count: Int) throws {
        let browser = Browser()
        let message = [UInt8](repeating: 0x61, count: count)
        let padding = WebPushEncryption.padding(count)
        let body = try WebPushEncryption().seal(
            message, p256dh: browser.publicKey, auth: browser.auth, padding: padding)
        #expect(body.count == min(86 + 17 + (count + 255) / 256 * 256, 4096))
        #expect(try browser.open(body) == message)
        let again = try WebPushEncryption().seal(
            message, p256dh: browser.publicKey, auth: browser.auth, padding: padding)
        #expect(again.prefix(86) != body.prefix(86), "salt and key are new")
    }
}
