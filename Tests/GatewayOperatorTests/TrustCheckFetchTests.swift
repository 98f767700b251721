// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import GatewayStore
import GatewaySync
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// Requirements: a check has the cause of a call, and the reason why the signer of a token is not known.
@Suite("herald trust check: signers without a certificate", .timeLimit(.minutes(8)))
struct TrustCheckFetchTests {
    private static let on = FetchFixture.trust

    /// The report on a token that names an address.
    private func report(
        _ gateway: FetchFixture, _ address: String, _ trust: String = on
    ) async throws -> (text: String, causes: [TrustCause]) {
        let header = #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"\#(address)"}"#
        let value = try gateway.lab.signed(
            TrustLab.claims(iat: gateway.signers.time.now - 5), header: header,
            parameters: ";info=<\(address)>;alg=ES256;ppt=shaken")
        let check = try TrustCheck(
            .init(caller: "+12025551000", called: "+12025551001", at: "\(gateway.signers.time.now)"), regime: nil,
            gateway.signers.configuration(trust), path: gateway.signers.folder.path + "/herald.yaml")
        let verdict = await check.verdict(on: [value])
        return (await check.text([value], verdict), verdict.causes)
    }

    /// Responses of a host, with the part of the report that explains them.
    private static let failures: [(response: FaultyPeer.Response, cause: TrustCause, reason: String)] = [
        (.status(404), .certificateUnreachable, "certificate_unreachable by the last fetch: the server returned 404"),
        (.status(302), .certificateUnreachable, "it redirects (302), which is not followed"),
        (.raw(""), .certificateUnreachable, "the connection failed"),
        (.endless("HTTP/1.1 200 OK\r\n\r\n"), .certificateUnreachable, "it is larger than 65536 bytes"),
        (.status(200, body: "<html>"), .certificateMalformed, "something else than certificates in PEM"),
        (FetchFixture.chain("alien"), .untrustedSigner, "no chain to an anchor of regime private"),
    ]

    @Test(arguments: failures.indices)
    func `the reason of a failed fetch is in the report`(index: Int) async throws {
        let (response, cause, reason) = Self.failures[index]
        let gateway = try await FetchFixture { _, _ in response }
        let address = gateway.address()
        try gateway.call(address)
        await gateway.settle()
        #expect(try gateway.call(address).causes == [cause])
        let report = try await report(gateway, address)
        #expect(report.causes == [cause], "as the call has it")
        #expect(report.text.contains(reason), "\(report.text)")
        #expect(report.text.contains("; 1 failed in a row, the next one for a call after 2016-08-"), "\(report.text)")
    }

    @Test func `an address in a private network names the key that opens it`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        try gateway.call(gateway.address(), rules: FetchFixture.publicRules)
        await gateway.settle()
        let report = try await report(gateway, gateway.address())
        #expect(report.causes == [.certificateUnreachable])
        #expect(report.text.contains("127.0.0.1 is no public address; see x5u_private"), "\(report.text)")
    }

    @Test func `an address without a fetch has the reason for that`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        let waiting = try await report(gateway, gateway.address())
        #expect(waiting.causes == [.signerNotYetKnown])
        #expect(waiting.text.contains("has not been fetched yet: a fresh call"), "\(waiting.text)")
        let off = try await report(gateway, gateway.address(), "{regimes: [private]}")
        #expect(off.text.contains("not fetched, since fetch is off; import its chain"), "\(off.text)")
        // Another regime allows the address, and fetches nothing.
        let open = "verify: true\nfetch: off\nx5u_ports: any\nx5u_http: true\nx5u_private: true\n"
        let strict = "anchors: [regimes/lab.pem]\nfetch: on\n"
        try gateway.signers.folder.write(open, to: "open.yaml")
        try gateway.signers.folder.write(strict, to: "strict.yaml")
        let refused = try await report(gateway, gateway.address(), "{regimes: [strict.yaml, open.yaml]}")
        #expect(
            refused.text.contains("is not fetched: no regime with fetch: on allows it; see x5u_ports"),
            "\(refused.text)")
    }

    @Test func `a stored signer that does not count has its reason as before`() async throws {
        let gateway = try await FetchFixture { _, _ in FetchFixture.chain("spc") }
        try await gateway.take(gateway.lab.file(["alien"]))
        let report = try await report(gateway, gateway.signers.address("alien"))
        #expect(report.causes == [.untrustedSigner])
        #expect(report.text.contains("no chain to an anchor of regime private; issuer"), "\(report.text)")
        #expect(!report.text.contains("by the last fetch"))
    }
}
