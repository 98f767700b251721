// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewaySync
import Host
import Logging
import Primitives

/// Asks the directory for its configuration with the key or the stored session of the gateway and of each customer, and
/// compares the clocks.
///
/// It neither signs in nor renews a token, because a device has one session, and that is the gateway's.
struct DoctorDirectory: Sendable {
    /// Seconds of difference between the clocks that a signed request still passes.
    private static let mostSkew: Int64 = 60
    /// Accounts of customers that are asked at once.
    private static let mostAtOnce = 16

    private let configuration: HeraldConfiguration
    private let path: String

    init(_ configuration: HeraldConfiguration, path: String) {
        (self.configuration, self.path) = (configuration, path)
    }

    func findings() async -> [DoctorFinding] {
        guard configuration.directory != nil || !configuration.customers.isEmpty else {
            return [DoctorFinding("directory", .note, "none is configured")]
        }
        guard let loaded = try? HeraldConfiguration.load(path: path, lists: .ignored) else {
            return [
                DoctorFinding("directory", .note, "not asked, because its key cannot be read; see the configuration")
            ]
        }
        var own: [DoctorFinding] = []
        if let access = loaded.directory { own = await Self(loaded, path: path).findings(access) }
        return own + (await Self.findings(ofCustomers: loaded, path: path))
    }

    /// A finding for each account of a customer with a problem, and one for all others.
    private static func findings(ofCustomers loaded: HeraldConfiguration, path: String) async -> [DoctorFinding] {
        var seen: Set<HeraldConfiguration.DirectoryAccess> = []
        let accounts = loaded.customers.filter { seen.insert($0.directory).inserted }
        guard !accounts.isEmpty else { return [] }
        let members = Dictionary(grouping: loaded.customers, by: \.directory).mapValues(\.count)
        var rest = accounts[...]
        let found = await withTaskGroup(of: [DoctorFinding].self) { group in
            func ask() {
                guard let customer = rest.popFirst() else { return }
                let others = (members[customer.directory] ?? 1) - 1
                let names = customer.name + (others > 0 ? " and \(others) more of its account" : "")
                group.addTask {
                    let doctor = Self(loaded.seen(by: customer), path: path)
                    return await doctor.findings(customer.directory).filter { $0.area == "directory" }.map {
                        DoctorFinding("customers", $0.level, "\(names): \($0.text)")
                    }
                }
            }
            for _ in 0..<mostAtOnce { ask() }
            var all: [DoctorFinding] = []
            for await findings in group {
                all += findings
                ask()
            }
            return all
        }
        let problems = found.filter { $0.level != .ok }.sorted { $0.text < $1.text }
        let good = accounts.count - problems.count
        let summary = DoctorFinding("customers", .ok, "\(good) of \(accounts.count) directory accounts are accepted")
        return (good > 0 ? [summary] : []) + problems
    }

    private func findings(_ access: HeraldConfiguration.DirectoryAccess) async -> [DoctorFinding] {
        do {
            let silent = Logger(label: "herald.doctor") { _ in SwiftLogNoOpLogHandler() }
            let client = DirectoryClient(try access.settings(version: HeraldVersion.current), logger: silent)
            let findings = await findings(client, access)
            await client.shutdown()
            return findings
        } catch {
            return [DoctorFinding("directory", .error, "\(error)")]
        }
    }

    private func findings(
        _ client: DirectoryClient, _ access: HeraldConfiguration.DirectoryAccess
    ) async -> [DoctorFinding] {
        let tokens = HeraldConfiguration.tokenFile(in: configuration.state)
        let token = access.isBearer ? client.storedToken(inFile: tokens) : nil
        do throws(DirectoryError) {
            let probe = try await client.probe(
                platform: access.platform, timeout: Doctor.patience, with: token.map { .token($0) } ?? .key)
            let what = token == nil ? "the key" : "the gateway's session"
            let responds = "\(ShownURL.text(access.url)) responds and accepts \(what)"
            return [DoctorFinding("directory", .ok, responds)] + Self.clock(probe.date)
        } catch {
            return [await finding(of: error, client, access, hasToken: token != nil)]
        }
    }

    private func finding(
        of error: DirectoryError, _ client: DirectoryClient, _ access: HeraldConfiguration.DirectoryAccess,
        hasToken: Bool
    ) async -> DoctorFinding {
        let url = ShownURL.text(access.url)
        switch error {
        case .rejected(status: 404, message: _):
            return DoctorFinding(
                "directory", .note, "\(url) responds, and has no remote configuration to test the key with")
        case .unauthorised(status: 401, let message) where hasToken:
            return Self.finding(ofSession: message, error, url)
        case .unauthorised where access.isBearer:
            return DoctorFinding(
                "directory", .warning,
                "\(url) responds, and does not accept the key itself; no session is stored, and only the gateway signs in: "
                    + "start it, then see herald status. \(error)")
        case .unavailable:
            // The library of the client reports only that it refuses the certificate.
            let problem = await client.certificateProblem(patience: Doctor.patience)
            return DoctorFinding("directory", .error, "\(url): \(problem ?? "\(error)")")
        default:
            return DoctorFinding("directory", .error, "\(url): \(error)")
        }
    }

    /// The directory's refusal of a stored access token.
    private static func finding(
        ofSession message: ServerMessage, _ error: DirectoryError, _ url: String
    ) -> DoctorFinding {
        switch message.code {
        case AuthenticationCode.accessTokenExpired, AuthenticationCode.mobileTokenExpired:
            return DoctorFinding(
                "directory", .ok,
                "\(url) responds; the access token has expired, and the gateway renews it with its next request")
        case AuthenticationCode.refreshTokenExpired, AuthenticationCode.deviceNotRegistered:
            return DoctorFinding(
                "directory", .warning,
                "\(url) has ended the gateway's session, and the gateway signs in again with its API key; if herald sync "
                    + "fails, check the key and the account. \(error)")
        default: return DoctorFinding("directory", .error, "\(url): \(error)")
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
