// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import ConfigurationFiles
import DirectoryStore
package import Host
import WebPages

/// `herald-directory doctor`: checks configuration, server, database, disk, keys and logos, and reports cause and remedy.
///
/// It changes nothing but a row that proves that the database can be written.
package struct DirectoryDoctor: Sendable {
    /// Days before the end of a certificate at which a warning is due.
    private static let certificateDays: Int64 = 21
    /// Bytes of a write-ahead log above which a reader seems to keep it from being emptied.
    private static let longLog: Int64 = 1 << 30
    /// Writes that wait for a commit above which the disk is too slow.
    private static let manyWrites = 1_000
    /// Push messages on their second attempt or later, above which a push service seems to be down.
    private static let manyRetries = 100
    /// Seconds after which a backup is old, as for the alert.
    private static let oldBackup: Int64 = 172_800

    private let subject: OperatorSubject
    private let now: Int64

    /// - Parameter now: seconds since 1970.
    package init(_ subject: OperatorSubject, now: Int64) { (self.subject, self.now) = (subject, now) }

    /// The report on a configuration that cannot be used.
    package static func report(of error: ConfigurationError) -> DoctorReport {
        DoctorReport(error.problems.map { DoctorFinding("configuration", .error, "\($0)") })
    }

    /// Runs all checks.
    package func examine() async -> DoctorReport {
        let text = subject.file.map { "\($0) can be used" } ?? "no file, so the defaults hold; name one with --config"
        let configuration = [DoctorFinding("configuration", subject.file == nil ? .note : .ok, text)]
        let running = await subject.server()
        return DoctorReport(
            configuration + (await server(running)) + certificate() + (await database(running?.status)))
    }

    // MARK: Server

    private func server(_ running: RunningServer?) async -> [DoctorFinding] {
        let address = subject.configuration.listen
        guard let running else { return [await silence(at: address)] }
        if let problem = running.readiness.problem {
            return [DoctorFinding("server", .error, "\(address) is not ready: \(problem)")]
        }
        var findings = [DoctorFinding("server", .ok, "runs and is ready at \(address)")]
        if let status = running.status, status.version != subject.version {
            findings.append(
                DoctorFinding(
                    "server", .warning,
                    "the server runs \(status.version), and this program is \(subject.version): restart herald-directory"
                ))
        }
        if let waiting = running.status?.waitingWrites, waiting >= Self.manyWrites {
            findings.append(
                DoctorFinding(
                    "events", .warning,
                    "\(waiting) writes wait for a commit: the disk is too slow, or another program holds the database"))
        }
        if case .at(let own) = subject.configuration.admin { findings.append(await admin(at: own)) }
        return findings
    }

    private func silence(at address: EndpointAddress) async -> DoctorFinding {
        switch await ServerProbe(address, patience: subject.patience).get("/readyz") {
        case .refused:
            DoctorFinding(
                "server", .note, "no server responds at \(address); start it with systemctl start herald-directory")
        case .response(let code, _):
            DoctorFinding(
                "server", .error,
                "another program responds at \(address) (status \(code)); see ss -ltnp, or choose another listen")
        case .failed(let reason):
            DoctorFinding(
                "server", .error, "\(address) does not respond: \(reason); see journalctl -u herald-directory")
        }
    }

    private func admin(at address: EndpointAddress) async -> DoctorFinding {
        guard case .response = await ServerProbe(address, patience: subject.patience).connect() else {
            return DoctorFinding(
                "server", .warning,
                "nobody listens at \(address) (admin.listen): restart herald-directory, as the address needs that")
        }
        return DoctorFinding("server", .ok, "the operator's address \(address) is open")
    }

    private func certificate() -> [DoctorFinding] {
        guard case .at = subject.configuration.admin, let files = subject.configuration.pages.tls else { return [] }
        let certificate: ServerCertificate
        do throws(ServerCertificateProblem) {
            certificate = try ServerCertificate(certificate: files.certificate, key: files.key)
        } catch {
            let problem = "admin.tls.\(error.part.rawValue): \(SystemError.ofUsing(error.path, as: error.wanted))"
            return [DoctorFinding("certificates", .error, problem)]
        }
        let end = Timestamp.string(from: certificate.validUntil)
        let left = certificate.validUntil - now
        guard left >= 0 else {
            return [
                DoctorFinding("certificates", .error, "\(files.certificate) expired at \(end): renew it and reload")
            ]
        }
        let isNear = left < Self.certificateDays * 86_400
        return [
            DoctorFinding(
                "certificates", isNear ? .warning : .ok,
                "\(files.certificate) expires at \(end)" + (isNear ? ": renew it and reload" : ""))
        ]
    }

    // MARK: Push

    private func push(_ database: DirectoryDatabase) async throws -> [DoctorFinding] {
        guard let push = subject.configuration.push else { return [] }
        let figures = try await PushOutbox(database).figures()
        var findings = [DoctorFinding("push", .ok, "\(figures.devices) devices have a confirmed number")]
        if figures.waitingDevices > 0 {
            findings.append(
                DoctorFinding(
                    "push", .note,
                    "\(figures.waitingDevices) devices wait for a confirmation: herald-directory push list"))
        }
        if figures.retried >= Self.manyRetries {
            findings.append(
                DoctorFinding(
                    "push", .warning,
                    "\(figures.retried) messages failed and are tried again: see the log for the push service"))
        }
        if push.allowsPrivateAddresses {
            findings.append(
                DoctorFinding(
                    "push", .warning,
                    "push.allow_private_addresses lets subscriptions name machines of this network: remove it"))
        }
        return findings
    }

    // MARK: Database

    private func database(_ status: DirectoryStatus?) async -> [DoctorFinding] {
        let database: DirectoryDatabase
        do {
            database = try subject.opened()
        } catch let error as OlderSchema {
            return [DoctorFinding("database", .warning, "\(error)")]
        } catch {
            return [DoctorFinding("database", .error, "\(error)")]
        }
        do throws(StoreProblem) {
            try await database.probe()
        } catch {
            return [DoctorFinding("database", .error, "\(database.place) cannot be written: \(error)")]
                + health(database).filter { $0.level == .error }
        }
        do {
            let figures = try await database.operatorFigures(logos: subject.logos, now: now)
            let accounts = try AccountList(database).all(now: now)
            return health(database) + backups(database) + Self.findings(accounts) + keys(figures) + events(figures)
                + logos(figures) + (try await push(database))
        } catch {
            let trouble = database.trouble(of: error) ?? "\(database.place) cannot be read: \(error)"
            return [DoctorFinding("database", .error, trouble)]
        }
    }

    private func health(_ database: DirectoryDatabase) -> [DoctorFinding] {
        let health = database.health(now: now)
        var findings = health.problems.map { DoctorFinding("database", .error, $0) }
        if findings.isEmpty {
            findings.append(
                DoctorFinding("database", .ok, "\(database.place) can be written, with the schema of this version"))
        }
        findings += health.serverTexts.map { DoctorFinding("database", .note, $0) }
        if health.logBytes > Self.longLog {
            findings.append(
                DoctorFinding(
                    "database", .warning,
                    "the write-ahead log has \(health.logBytes >> 20) MiB: a long response or another program keeps SQLite "
                        + "from emptying it"))
        }
        if let free = health.free {
            findings.append(
                DoctorFinding("disk", .ok, "\(database.folder) has \(MemoryLimit.readable(UInt64(max(free, 0)))) free"))
        }
        return findings
    }

    private func backups(_ database: DirectoryDatabase) -> [DoctorFinding] {
        guard !database.isShared else { return [] }
        guard let last = database.lastBackup else {
            return [DoctorFinding("backup", .note, "there is none: herald-directory backup FILE makes one")]
        }
        let text = "the last one is of \(Timestamp.string(from: last))"
        guard now - last > Self.oldBackup else { return [DoctorFinding("backup", .ok, text)] }
        return [DoctorFinding("backup", .warning, text + ": run herald-directory backup, and check its timer")]
    }

    // MARK: Content

    /// Most accounts without brands that have a line.
    private static let mostAccounts = 20

    /// A finding for each account whose gateways get no brands; closed ones are left out.
    static func findings(_ accounts: [AccountList.Summary]) -> [DoctorFinding] {
        let stopped = accounts.filter { !$0.isBranding && $0.status != "closed" && $0.status != "cancelled" }
        let lines = stopped.prefix(mostAccounts).map { account in
            let change = "herald-directory accounts set --account \(account.name)"
            if !AccountState.isOpen(account.status) {
                return DoctorFinding(
                    "accounts", .note,
                    "\(account.name) gets no brands: its status is \(account.status); \(change) --status active ends that"
                )
            }
            if !account.brandingEnabled {
                return DoctorFinding(
                    "accounts", .note,
                    "\(account.name) gets no brands: its branding is off; \(change) --enable-branding ends that")
            }
            return DoctorFinding(
                "accounts", .warning,
                """
                \(account.name) gets no brands until the next month: \(account.used) events are counted, and its cap is \
                \(account.cap ?? 0); raise it with \(change) --cap NUMBER
                """)
        }
        let left = stopped.count - lines.count
        let others = left == 1 ? "1 more account gets" : "\(left) more accounts get"
        guard left > 0 else { return lines }
        return lines + [DoctorFinding("accounts", .note, "\(others) no brands: herald-directory accounts list")]
    }

    private func keys(_ figures: OperatorFigures) -> [DoctorFinding] {
        var findings = figures.endingKeys.map { key in
            let (name, end) = ("\(key.name) (\(key.id)) of account \(key.account)", Timestamp.string(from: key.ends))
            return key.isInUse
                ? DoctorFinding(
                    "keys", .warning,
                    "the rotated key \(name) ends at \(end) and is still used: give its client the new key before")
                : DoctorFinding(
                    "keys", .note, "the rotated key \(name) ends at \(end); its client has the new one, or is away")
        }
        if !figures.accountsWithoutKey.isEmpty {
            let names = figures.accountsWithoutKey.joined(separator: ", ")
            findings.append(
                DoctorFinding(
                    "keys", .note,
                    "no gateway or phone can use \(names) without a key: herald-directory keys add NAME --account ACCOUNT"
                ))
        }
        if figures.adminKeys == 0, subject.configuration.admin != .off {
            findings.append(
                DoctorFinding(
                    "keys", .note,
                    "pages and the operator's API are closed without a key: herald-directory admin-keys add NAME"))
        }
        guard !findings.contains(where: { $0.level == .warning }) else { return findings }
        return [DoctorFinding("keys", .ok, "\(figures.keys) for clients, \(figures.adminKeys) for operators")]
            + findings
    }

    private func events(_ figures: OperatorFigures) -> [DoctorFinding] {
        guard let last = figures.lastEvent else {
            return [DoctorFinding("events", .note, "no client has reported one yet")]
        }
        return [DoctorFinding("events", .ok, "the last one came at \(Timestamp.string(from: last))")]
    }

    private func logos(_ figures: OperatorFigures) -> [DoctorFinding] {
        guard figures.logoProblems.isEmpty else {
            return figures.logoProblems.map { DoctorFinding("logos", .warning, $0) }
        }
        return [DoctorFinding("logos", .ok, "\(figures.logos) of brands can be served")]
    }
}
