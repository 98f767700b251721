// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import Foundation
import GatewaySync
import Logging

/// Asks the directory for its configuration with the gateway's key, and compares the clocks.
struct DoctorDirectory: Sendable {
    /// Seconds of difference between the clocks that a signed request still passes.
    private static let mostSkew: Int64 = 60

    private let configuration: HeraldConfiguration
    private let path: String

    init(_ configuration: HeraldConfiguration, path: String) {
        (self.configuration, self.path) = (configuration, path)
    }

    func findings() async -> [DoctorFinding] {
        guard configuration.directory != nil else {
            return [DoctorFinding("directory", .note, "none is configured")]
        }
        guard let access = try? HeraldConfiguration.load(path: path).directory else {
            return [
                DoctorFinding("directory", .note, "not asked, because its key cannot be read; see the configuration")
            ]
        }
        guard !access.isBearer else {
            return [
                DoctorFinding(
                    "directory", .note,
                    "not asked, because only the gateway may sign in with its device; see herald status")
            ]
        }
        do {
            let silent = Logger(label: "herald.doctor") { _ in SwiftLogNoOpLogHandler() }
            let client = DirectoryClient(try access.settings(version: HeraldVersion.current), logger: silent)
            let result = await Self.probe(client, access.platform)
            await client.shutdown()
            return Self.findings(of: result, access.url)
        } catch {
            return [DoctorFinding("directory", .error, "\(error)")]
        }
    }

    private static func probe(
        _ client: DirectoryClient, _ platform: String
    ) async -> Result<DirectoryProbe, DirectoryError> {
        do throws(DirectoryError) {
            return .success(try await client.probe(platform: platform, timeout: Doctor.patience))
        } catch {
            return .failure(error)
        }
    }

    private static func findings(of result: Result<DirectoryProbe, DirectoryError>, _ url: String) -> [DoctorFinding] {
        switch result {
        case .success(let probe):
            return [DoctorFinding("directory", .ok, "\(url) responds and accepts the key")] + clock(probe.date)
        case .failure(.rejected(status: 404, message: _)):
            return [
                DoctorFinding(
                    "directory", .note, "\(url) responds, and has no remote configuration to test the key with")
            ]
        case .failure(let error):
            return [DoctorFinding("directory", .error, "\(url): \(error)")]
        }
    }

    private static func clock(_ date: Int64?) -> [DoctorFinding] {
        guard let date else { return [] }
        let skew = Int64(Date().timeIntervalSince1970) - date
        guard abs(skew) > mostSkew else { return [DoctorFinding("clock", .ok, "agrees with the directory's")] }
        let side = skew > 0 ? "ahead of" : "behind"
        return [
            DoctorFinding(
                "clock", .warning,
                "\(AgeText.text(abs(skew))) \(side) the directory's: signed requests and certificates "
                    + "fail; correct it with NTP, or ask the directory's operator"
            )
        ]
    }
}
