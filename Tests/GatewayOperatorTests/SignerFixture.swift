// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayStore
import GatewaySyncTesting
import GatewayTesting
import TestFixtures
import Trust
import TrustFixtures

@testable import GatewayOperator

/// The signers of a gateway of the laboratory, with real files; the clock is that of its vectors.
final class SignerFixture: Sendable {
    let lab = TrustLab.shared
    let folder = TemporaryFolder()
    let log = LogLines()
    let time = ManualTime(start: TrustLab.shared.now)
    let requests = SignerRequests()
    let current = CurrentTrust()

    var state: String { folder.path + "/state" }
    var file: String { HeraldDatabase.signersPath(in: state) }
    /// The signers of the call path.
    var snapshot: TrustSnapshot { current.load().snapshot }

    /// A configuration with these regimes, whose anchors are the roots of the laboratory.
    func configuration(_ trust: String = "{regimes: [private]}") throws -> HeraldConfiguration {
        try FileManager.default.createDirectory(atPath: folder.path + "/regimes", withIntermediateDirectories: true)
        try folder.write(lab.pem("root") + "\n" + lab.pem("rsa_root"), to: "regimes/lab.pem")
        let text = """
            gateway: {state: state, runtime: run}
            listen: [{address: 127.83.21.1}]
            trunks: [{sources: [127.83.21.2]}]
            pbx: [{address: 127.83.21.3}]
            trust: \(trust)

            """
        return try HeraldConfiguration.load(path: try folder.write(text, to: "herald.yaml"))
    }

    /// Imports signers as another process does, by connections of its own.
    @discardableResult
    func importSigners(
        _ names: [String], _ trust: String = "{regimes: [private]}"
    ) async throws -> TrustImport.Outcome {
        let importer = try TrustImport(configuration(trust), now: self.time.now)
        return try await importer.take(names.isEmpty ? [] : [try folder.write(lab.file(names), to: "chains.pem")])
    }

    func publisher(_ regimes: [String] = ["private"]) -> TrustPublisher {
        TrustPublisher(folder: state, regimes: regimes, current: current, time: time.clock, logger: log.logger)
    }

    func service(_ publisher: TrustPublisher, _ trust: String = "{regimes: [private]}") throws -> SignerService {
        SignerService(
            try configuration(trust).trustSettings(), folder: state, requests: requests, signers: current,
            publisher: publisher, time: time.clock, logger: log.logger)
    }

    func stored() throws -> StoredTrust { try SignerReader(folder: state).contents() }

    /// The address of a signer of the laboratory.
    func address(_ name: String) -> String { lab.certificates[name]?.x5u ?? "" }

    /// The base64 texts of certificates, as a token has them.
    func texts(_ names: [String]) -> [String] { names.map { Data(lab.der($0)).base64EncodedString() } }

    /// The base64 texts of a signer's chain.
    func chain(_ name: String) -> [String] { lab.chain(name).map { Data($0).base64EncodedString() } }

    /// The verdict of the call path on a case of the vectors.
    func verdict(on item: TrustLab.Case, regime: String = "private") throws -> TrustVerdict {
        var message: [UInt8] = []
        var ranges: [Range<Int>] = []
        for field in item.identity {
            let start = message.count
            message += Array(field.utf8)
            ranges.append(start..<message.count)
        }
        let regimes = try configuration("{regimes: [\(regime)]}").trustSettings().regimes.map(\.regime)
        let policy = TrunkTrustPolicy(regimes: regimes, regimeSet: RegimeSet.number(of: [regime]))
        let called = CanonicalNumber(item.called)
        var memory = TrustMemory()
        return snapshot.verify(
            message.span, ranges, of: SignedCall(caller: CanonicalNumber(item.caller), called: called, to: called),
            under: policy, at: item.now, with: &memory)
    }
}
