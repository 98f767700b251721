// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Compares the routes, metrics, log lines and numbers that pages name with the source.
@Suite("Claims of pages")
struct ClaimTests {
    private static let pages =
        ["README.md"]
        + Repository.paths(under: "docs", endingWith: [".md"]).filter {
            !$0.hasPrefix("docs/decisions/") && !$0.hasPrefix("docs/performance/")
        }

    /// A sentence of a page with a number, and the line of the source that makes it true.
    private struct Claim: CustomStringConvertible {
        let page: String
        let sentence: String
        let file: String
        let code: String

        init(_ page: String, _ sentence: String, _ file: String, _ code: String) {
            (self.page, self.sentence, self.file, self.code) = ("docs/" + page, sentence, file, code)
        }

        var description: String { "\(page): \(sentence)" }
    }

    private static let claims = [
        Claim(
            "phones.md", "At most 256 connections are open, for 30 seconds each", "LogoServer.swift",
            "connections = 256"),
        Claim(
            "phones.md", "At most 256 connections are open, for 30 seconds each", "LogoServer.swift",
            "lifetime: Duration = .seconds(30)"),
        Claim("phones.md", "the first 1,000 contacts by name", "LogosSchema.swift", "phonebookContacts = 1_000"),
        Claim("phones.md", "at 20,000, the most", "LogosSchema.swift", "in: 1...20_000)"),
        Claim("phones.md", "A contact has at most three numbers", "PhonebookFormat.swift", "mostNumbers = 3"),
        Claim("phones.md", "in the file, up to 2 MiB of pictures", "Phonebooks.swift", "mostPhotoBytes = 2 << 20"),
        Claim("phones.md", "Phones may keep a picture for an hour", "LogoServer.swift", "\"max-age=3600\""),
        Claim("cards.md", "the first 20 in use", "BrandCards.swift", "most = 20"),
        Claim("cards.md", "`rate_limits.cards` is 120 cards", "RateLimits.swift", "cards: 120)"),
        Claim("cards.md", "cached for five minutes", "CardRoute.swift", "seconds: 300)"),
        Claim("directory.md", "must be PNG or JPEG up to 1 MiB", "LogoStore.swift", "limit = 1 << 20"),
        Claim("directory.md", "AVIF and HEIC up to 5 MiB", "LogoIntake.swift", "limit = 5 << 20"),
        Claim("directory.md", "4,096 × 4,096 pixels", "LogoIntake.swift", "maxPixels = 16 << 20"),
        Claim("directory.md", "1,024 pixels a side", "LogoIntake.swift", "side = 1024"),
        Claim("directory.md", "at most 256 pixels a side", "LogoThumbnail.swift", "side = 256"),
        Claim(
            "directory.md", "256 MiB and five seconds of CPU time", "ConfinedScaling.swift", "memory: UInt = 256 << 20"),
        Claim("directory.md", "`events.keep_days` is 400 by default", "DirectoryConfiguration.swift", "keepDays = 400"),
        Claim(
            "directory.md", "90 days by default", "OutcomesConfiguration.swift",
            "retention = Duration.seconds(7_776_000)"),
        Claim("directory.md", "logs longer than 200,000 characters", "APIPath.swift", "debugLogs = 200_000"),
        Claim("directory.md", "after 50 newer lines of the device", "DeviceLog.swift", "kept = 50"),
        Claim(
            "directory.md", "choose a file (16 MiB) or paste lines (4 MiB)", "ImportPages.swift", "fileLimit = 16 << 20"
        ),
        Claim(
            "directory.md", "choose a file (16 MiB) or paste lines (4 MiB)", "ImportPages.swift", "textLimit = 4 << 20"),
        Claim(
            "directory.md", "less than 256 MiB, or than a tenth of a smaller disk", "DiskSpace.swift",
            "free < min(256 << 20, total / 10)"),
        Claim(
            "directory.md", "after eight hours without a request", "PageSessions.swift",
            "idle = Duration.seconds(8 * 3600)"),
        Claim("operating.md", "24 hours by default", "KeysCommand.swift", "var graceHours = 24"),
        Claim("operating.md", "at most 200,000. The memory", "TransactionBudget.swift", "usual = 200_000"),
        Claim("operating.md", "one call about every 30 s as a trial", "TargetHealth.swift", "retrial: UInt64 = 30_000"),
        Claim(
            "operating.md", "an unknown peer, at most 20 a second".replacing("an ", with: ""), "SenderAdmission.swift",
            "at most 20 a second"),
        Claim(
            "operating.md", "has `limits.calls` calls | 5 |", "TrunkAdmission.swift", ".refused(.number, retryAfter: 5)"
        ),
        Claim(
            "monitoring.md", "One client address may hold 16 connections", "ConnectionShares.swift", "var client = 16"),
        Claim("monitoring.md", "all clients together 64", "ConnectionShares.swift", "var all = 64"),
        Claim(
            "monitoring.md", "stay available for 5 seconds a connection", "ConnectionShares.swift",
            "reserveLife = TimeAmount.seconds(5)"),
        Claim("pages.md", "expires within 21 days", "CertificateStanding.swift", "reminderDays = 21"),
        Claim("threat-model.md", "16 random letters", "TestCallRun.swift", "token: Self.token(16)"),
        Claim("threat-model.md", "15 min, one at a time", "TestCallOrder.swift", "longest = 900"),
        Claim("tracing.md", "`5m` without the option", "TraceCommand.swift", "duration = \"5m\""),
        Claim("tracing.md", "a ring of 8,192 places", "TraceTap.swift", "usualCapacity = 8192"),
        Claim("tracing.md", "Of the 250,000 latest calls", "TraceCalls.swift", "most: Int = 250_000"),
        Claim(
            "tracing.md", "tried again after 1 to 30 seconds", "HEPExporter.swift",
            "longestPause = Duration.seconds(30)"),
        Claim(
            "events.md", "50 by default, at most 1,000", "DirectoryState.swift",
            "min(max(remote.settings.maxBatchSize ?? 50, 1), 1000)"),
        Claim(
            "events.md", "within `outcomes.retry_window` (5 s)", "OutcomesConfiguration.swift",
            "retryWindow = Duration.seconds(5)"),
        Claim(
            "customers.md", "One gateway has at most 1,000 customers", "CustomersSchema.swift", "mostCustomers = 1_000"),
        Claim(
            "cluster.md", "up to 65,536 updates of other gateways' calls", "SiblingQueue.swift", "mostForeign = 65_536"),
        Claim("commands.md", "Its mode is 0660", "ControlServer.swift", "chmod(path, 0o660)"),
        Claim("contract.md", "at 80 % of `expires_in`", "BearerSession.swift", "life * 4 / 5"),
        Claim(
            "contract.md", "at once, then after 1 min, doubling to 1 h", "BearerSession.swift",
            "Backoff(first: .seconds(60), limit: .seconds(3600))"),
        Claim(
            "contract.md", "interval spread by a tenth, backoff", "SyncService.swift",
            "client.interval(schedule), by: 0.1"),
        Claim(
            "contract.md", "Presence every 5 minutes", "DirectoryAccess.swift",
            "presenceInterval = Duration.seconds(300)"),
        Claim(
            "contract.md", "30 s a request, 60 s a resource", "DirectorySettings.swift",
            "requestTimeout: Duration = .seconds(30)"),
        Claim(
            "contract.md", "30 s a request, 60 s a resource", "DirectorySettings.swift",
            "resourceTimeout: Duration = .seconds(60)"),
        Claim("contract.md", "3 attempts; 1, 2, 4 … ≤ 10 s", "DirectorySettings.swift", "attempts = 3"),
        Claim(
            "contract.md", "3 attempts; 1, 2, 4 … ≤ 10 s", "DirectorySettings.swift",
            "Backoff(first: .seconds(1), limit: .seconds(10))"),
        Claim("contract.md", "debug logs longer than 200,000 characters", "APIPath.swift", "debugLogs = 200_000"),
        Claim("contract.md", "for 30 days | `DebugUploadTests`", "UploadLimits.swift", "fileLife: Int64 = 30 * 86_400"),
        Claim(
            "reasons.md", "for the `Retry-After`, at most an hour", "DirectoryExchange.swift",
            "limit = Duration.seconds(3600)"),
        Claim(
            "reasons.md", "A request is tried up to three times, an event once", "DirectorySettings.swift",
            "attempts = 3"),
        Claim(
            "reasons.md", "A request is tried up to three times, an event once", "DirectoryEndpoints.swift",
            "post(APIPath.event, event, attempts: 1)"),
    ]

    @Test func `a number on a page is the number in the source`() throws {
        for claim in Self.claims {
            let page = Self.flat(try Repository.text(claim.page))
            #expect(
                page.contains(Self.flat(claim.sentence)), "\(claim) is not on the page: correct the row, or remove it")
            let paths = Repository.paths(under: "Sources").filter { $0.hasSuffix("/" + claim.file) }
            let isTrue = try paths.contains { Self.flat(try Repository.text($0)).contains(Self.flat(claim.code)) }
            #expect(isTrue, "\(claim): \(claim.file) has no \(claim.code): correct the page")
        }
    }

    @Test func `every metric that a page, a rule or a dashboard names exists`() throws {
        var metrics: Set<String> = []
        for path in Repository.paths(under: "Sources", endingWith: [".swift"]) {
            metrics.formUnion(
                try Repository.text(path).matches(of: /"((?:herald|process)_[a-z_]+)"/).map { String($0.1) })
        }
        let others = [
            "herald_owner", "herald_threads", "herald_memory", "herald_datagrams", "herald_confinement", "herald_tests",
            "herald_node",
        ]
        for path in Self.pages + Repository.paths(under: "Config/prometheus")
            + Repository.paths(under: "Config/grafana")
        {
            for match in try Repository.text(path).matches(of: /\bherald_[a-z_]+/) {
                let name = String(match.0)
                let base = ["_bucket", "_count", "_sum"].first { name.hasSuffix($0) }.map {
                    String(name.dropLast($0.count))
                }
                let isKnown = metrics.contains(name) || base.map(metrics.contains) == true || others.contains(name)
                // A family of metrics, such as herald_customer_….
                let isFamily = name.hasSuffix("_") && metrics.contains { $0.hasPrefix(name) }
                #expect(isKnown || isFamily, "\(path) names \(name), which no program has")
            }
        }
    }

    @Test func `indexes that a page makes before an upgrade are those of the schema`() throws {
        let schema = try Repository.text("Sources/GatewayCluster/SharedLedger/SharedSchema.swift")
        let made = try Repository.lines("docs/shared-ledger.md").filter { $0.hasPrefix("CREATE INDEX CONCURRENTLY") }
        #expect(!made.isEmpty)
        for index in made {
            let step = index.replacing("INDEX CONCURRENTLY", with: "INDEX IF NOT EXISTS")
            #expect(schema.contains(step), "no step of the schema has: \(step)")
        }
    }

    @Test func `the architecture names every actor among the threads`() throws {
        let page = try Repository.text("ARCHITECTURE.md")
        let start = try #require(page.firstRange(of: "## Threads"))
        let threads = page[start.upperBound...].prefix { $0 != "#" }
        for path in Repository.paths(under: "Sources", endingWith: [".swift"]) {
            for match in try Repository.text(path).matches(of: /(?m)^(?:package |public )?actor ([A-Za-z]+)/) {
                #expect(threads.contains("`\(match.1)`"), "\(path): Threads of ARCHITECTURE.md do not have \(match.1)")
            }
        }
    }

    @Test func `what the compiler does not check for Sendable is a pointer of a C library`() throws {
        for path in Repository.paths(under: "Sources", endingWith: [".swift"]) {
            let text = try Repository.text(path)
            #expect(!text.contains("@unchecked " + "Sendable"), "\(path): let the compiler check the type")
            for line in text.split(separator: "\n") where line.contains("nonisolated" + "(unsafe)") {
                #expect(line.contains("let ") && line.contains("OpaquePointer"), "\(path): \(line)")
            }
        }
    }

    // The optimiser sees nothing of a `package` declaration in another module (docs/decisions/0018).
    @Test(arguments: [
        "Primitives", "Host", "Branding", "Trust", "SIPCore", "CallAccounting", "CallPath", "SIPTransport",
    ])
    func `the call path declares public what other targets use`(target: String) throws {
        let sources = Repository.paths(under: "Sources/\(target)", endingWith: [".swift"])
        #expect(!sources.isEmpty)
        for path in sources {
            for line in try Repository.lines(path) where line.contains(#/^ *([@a-z][^ ]* )*package /#) {
                Issue.record("\(path): \(line)")
            }
        }
    }

    @Test func `the store of the directory shows nobody the types of GRDB`() throws {
        let sources = Repository.paths(under: "Sources/DirectoryStore", endingWith: [".swift"])
        #expect(!sources.isEmpty)
        for path in sources {
            #expect(!(try Repository.text(path).contains(/(?m)^(package|public) import GRDB/)), "\(path)")
        }
    }

    @Test func `every route that a page names exists`() throws {
        let routes = try Self.routes
        #expect(routes.count > 40)
        var checked = 0
        for page in Self.pages {
            for match in try Repository.text(page).matches(of: /`(?:GET |POST |PUT |DELETE |HEAD )?(\/[^`\s]*)`/) {
                let path = String(match.1.prefix { $0 != "?" && $0 != "#" })
                guard !Self.files.contains(where: path.hasPrefix), !Self.elsewhere.contains(path) else { continue }
                checked += 1
                #expect(routes.contains { Self.fits(path, $0) }, "\(page) names \(path), which no program serves")
            }
        }
        #expect(checked > 40)
    }

    @Test func `every request of the control socket is on the page of commands, and no other`() throws {
        let source = try ["ControlRoutes.swift", "CallRoutes.swift"].map { try Repository.text(named: $0) }.joined()
        let known = Set(
            source.matches(of: /router\.(get|post)\("(\/v1\/[a-z\/-]+)"\)/).map { "\($0.1.uppercased()) \($0.2)" })
        #expect(known.count > 8)
        let page = try Repository.text("docs/commands.md")
        let named = Set(page.matches(of: /`((?:GET|POST) \/v1\/[a-z\/-]+)`/).map { String($0.1) })
        #expect(named == known)
    }

    @Test func `every log line that a table quotes is in the source`() throws {
        let source = Self.joined(
            try Repository.paths(under: "Sources", endingWith: [".swift"]).map { try Repository.text($0) }.joined())
        var checked = 0
        for page in Self.pages {
            var isTable = false
            for line in try Repository.lines(page) {
                guard line.hasPrefix("|") else { isTable = false; continue }
                let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
                let first = cells.first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
                if first == "line" || first == "log line" || first == "output" { isTable = true; continue }
                guard isTable, let quote = first.firstMatch(of: /`([^`]+)`/) else { continue }
                checked += 1
                let piece = Self.fixedPart(of: String(quote.1))
                #expect(source.contains(piece), "\(page) quotes '\(quote.1)'; no program writes '\(piece)'")
            }
        }
        #expect(checked > 10)
    }

    // MARK: Parts

    /// Text with each run of white space as one blank.
    private static func flat(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Source with its broken string literals joined and interpolations replaced by `…`.
    private static func joined(_ source: String) -> String {
        var text = source.replacing(/\\\n\s*/, with: "").replacing(/"\s*\n\s*\+ "/, with: "")
        text.replace(/\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/, with: "…")
        return flat(text)
    }

    /// The longest part of a quoted line without numbers, addresses and names of an example.
    private static func fixedPart(of line: String) -> String {
        let parts = line.split { $0 == "…" || $0.isNumber || $0 == ":" || $0 == ";" }
        let trimmed = parts.map { $0.trimmingCharacters(in: .whitespaces) }
        return trimmed.max { $0.count < $1.count } ?? line
    }

    /// Beginnings of paths of files and folders.
    private static let files = [
        "/etc", "/var", "/run", "/usr", "/srv", "/root", "/dev", "/proc", "/sys", "/tmp", "/opt", "/home",
    ]
    /// Paths of other products: the published document's, and a web server in front of the gateway.
    private static let elsewhere: Set<String> = ["/app/api/…", "/phonebook.xml"]

    /// The routes of both programs, with `:name` for a part that varies.
    private static var routes: Set<String> {
        get throws {
            var routes: Set<String> = []
            for folder in ["GatewayOperator", "GatewayDoors", "DirectoryServer", "WebPages"] {
                for path in Repository.paths(under: "Sources/" + folder, endingWith: [".swift"]) {
                    routes.formUnion(
                        try Repository.text(path).matches(of: /"(\/[a-z0-9][A-Za-z0-9\/{}:.*-]*)"/).map { String($0.1) }
                    )
                }
            }
            let openAPI = try Repository.text("Sources/DirectoryServer/openapi.yaml")
            routes.formUnion(openAPI.matches(of: /\n  (\/[^:\s]+):/).map { String($0.1) })
            for path in Repository.paths(under: "Sources/DirectoryServer/Admin", endingWith: [".swift"]) {
                routes.formUnion(
                    try Repository.text(path).matches(of: /\("([a-z][a-z\/:_-]*)", \[\(\./).map { "/admin/v1/\($0.1)" })
            }
            let formats = try Repository.text(named: "PhonebookFormat.swift").matches(of: /"([a-z]+\.(?:xml|vcf))"/)
            routes.insert("/admin/v1")
            return routes.union(formats.map { "/phonebook/\($0.1)" })
        }
    }

    /// True if a path of a page is a route or lies below one.
    private static func fits(_ path: String, _ route: String) -> Bool {
        func parts(_ text: String) -> [Substring] { text.split(separator: "/") }
        let (named, known) = (parts(path), parts(route))
        // The files of a customer have the paths of the others, behind its name.
        if named.first == "customers", named.count > 2 {
            return fits("/" + named.dropFirst(2).joined(separator: "/"), route)
        }
        func areEqual(_ name: Substring, _ part: Substring) -> Bool {
            name == part || part.hasPrefix(":") || part.hasPrefix("{") || name.hasPrefix("{")
                // A page writes what varies in capitals.
                || name.first { $0.isLetter }?.isUppercase == true
        }
        // A table may leave out the beginning that its paths share.
        if named.count <= known.count { return zip(named, known.suffix(named.count)).allSatisfy(areEqual) }
        guard ["/pictures/", "/logos/", "/phonebook/"].contains(route) else { return false }
        return zip(named, known).allSatisfy(areEqual)
    }
}
