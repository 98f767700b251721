// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CheckedHTTP
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySync
import GatewaySyncTesting
import GatewayTesting
import TestFixtures
import Testing
import Trust
import TrustFixtures

@testable import GatewayOperator

/// A gateway of the laboratory that fetches, with a host of certificates on loopback which responds as a test demands.
final class FetchFixture: Sendable {
    static let trust = "{regimes: [private], fetch: on, signers: 1000}"

    let signers = SignerFixture()
    let peer: FaultyPeer
    let publisher: TrustPublisher
    let service: SignerService
    var lab: TrustLab { signers.lab }

    /// - Parameter regime: a file instead of the program's regime private, with the files that it names.
    init(
        trust: String = FetchFixture.trust, regime: RegimeText? = nil,
        _ response: @escaping @Sendable (FaultyPeer.Request, Int) -> FaultyPeer.Response
    ) async throws {
        peer = try FaultyPeer(response)
        try regime?.write(to: signers.folder, port: peer.port)
        try await signers.importSigners([], trust)
        publisher = signers.publisher()
        service = try Self.service(signers, publisher, trust)
        await publisher.look()
    }

    /// A gateway that starts on the same state folder.
    func restarted(trust: String = FetchFixture.trust) throws -> (publisher: TrustPublisher, service: SignerService) {
        let publisher = signers.publisher()
        return (publisher, try Self.service(signers, publisher, trust))
    }

    private static func service(
        _ signers: SignerFixture, _ publisher: TrustPublisher, _ trust: String
    ) throws -> SignerService {
        let settings = try signers.configuration(trust).trustSettings()
        let fetch = CertificateFetch(
            version: "1.2.3",
            resolve: { _ in HostAddress("127.0.0.1").map { [$0] } ?? [] }, total: .seconds(20))
        return SignerService(
            settings, folder: signers.state, requests: signers.requests, signers: signers.current,
            publisher: publisher, fetch: fetch, time: signers.time.clock, logger: signers.log.logger)
    }

    /// Takes in texts as `herald trust import` does, and publishes the result.
    @discardableResult
    func take(_ texts: String...) async throws -> TrustImport.Outcome {
        let files = try texts.enumerated().map { try signers.folder.write($0.element, to: "import-\($0.offset)") }
        let outcome = try await TrustImport(
            signers.configuration(Self.trust), now: self.signers.time.now
        ).take(files)
        await publisher.look()
        return outcome
    }

    /// An address of the host.
    func address(_ path: String = "spc.pem", host: String = "signer.example") -> String {
        "http://\(host):\(peer.port)/\(path)"
    }

    /// A response with the chain of a signer of the laboratory.
    static func chain(_ name: String, _ headers: [String: String] = [:]) -> FaultyPeer.Response {
        let lab = TrustLab.shared
        let names = lab.certificates[name]?.served ?? []
        return .status(200, headers: headers, body: names.map { lab.pem($0) + "\n" }.joined())
    }

    /// The rules of the laboratory's regime, which allows private networks.
    var rules: [AddressRules] {
        get throws { Array(try signers.configuration(Self.trust).trustSettings().fetchRules.values) }
    }

    /// The rules of a regime that allows all ports and `http`, and no private network.
    static var publicRules: [AddressRules] {
        var rules = AddressRules()
        (rules.ports, rules.allowsHTTP) = (nil, true)
        return [rules]
    }

    /// The verdict on a call now whose token names an address; its requests go to the service as those of a trunk.
    ///
    /// - Parameter rules: the addresses that are allowed to the trunk; nil for those of the laboratory's regime.
    @discardableResult
    func call(
        _ address: String, by name: String = "spc", age: Int64 = 5, trunk: UInt16 = 1, dest: String = "12025551001",
        rules: [AddressRules]? = nil
    ) throws -> TrustVerdict {
        let header = #"{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"\#(address)"}"#
        let value = try lab.signed(
            TrustLab.claims(dest: dest, iat: signers.time.now - age), by: name, header: header,
            parameters: ";info=<\(address)>;alg=ES256;ppt=shaken")
        let regimes = try signers.configuration(Self.trust).trustSettings().regimes.map(\.regime)
        let allowed = rules ?? regimes.map(\.addresses)
        var policy = TrunkTrustPolicy(regimes: regimes, regimeSet: RegimeSet.number(of: regimes.map(\.name)))
        policy.fetchRules = allowed
        var memory = TrustMemory()
        let verdict = signers.snapshot.verify([value], under: policy, at: signers.time.now, with: &memory)
        for request in verdict.requests { signers.requests.add(request, trunk: trunk, rules: allowed) }
        return verdict
    }

    /// Carries out what calls have requested: fetches, a batch of the store, and a look at the file.
    func settle() async {
        await service.round()
        await service.finishFetches()
        signers.time.advance(by: .seconds(2))
        await service.round()
        await publisher.look()
    }

    /// The stored state of an address.
    func stored(_ address: String) async throws -> StoredFetch? {
        try await SignerReader(folder: signers.state).fetch(of: address).state
    }
}

/// A regime of the operator in the place of `private`.
struct RegimeText: Sendable {
    /// Keys beside those that open it to the host of a test; `PORT` is the host's.
    var keys: String
    /// Files beside the regime, with their contents.
    var files: [String: String]
    /// Whether private networks are open.
    var isPrivate = true

    func write(to folder: TemporaryFolder, port: UInt16) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/regimes", withIntermediateDirectories: true)
        let open = "keys: p256_rsa\ntnauthlist: any\nx5u_ports: any\nx5u_http: true\nx5u_private: \(isPrivate)\n"
        try folder.write(open + keys.replacing("PORT", with: "\(port)"), to: "regimes/private.yaml")
        for (name, text) in files { try folder.write(text, to: "regimes/" + name) }
    }
}
