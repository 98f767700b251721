// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import Foundation
import HTTPTypes
import Logging
import Primitives
import WebPages

/// The pages of a gateway on its admin port.
///
/// Read-only but for a sync. All facts come from `GatewayPageSource`.
struct GatewayPages: Sendable {
    /// The access to the pages.
    enum Access: Hashable, Sendable {
        /// Everybody on this machine.
        case thisMachine
        /// Holders of a token; `isSecure` if the admin port speaks TLS.
        case token(Concealed<String>, isSecure: Bool)
        /// Nobody; the text explains how to open the pages.
        case off(String)
    }

    let source: any GatewayPageSource
    let rates: CallRates
    let numbers: NumberDisplay
    /// Seconds since 1970.
    let now: @Sendable () -> Int64
    let zone: LocalZone
    private let name: String
    private let version: String
    private let access: Access
    private let logger: Logger

    /// - Parameters:
    ///   - name: of the gateway.
    ///   - numbers: the form of telephone numbers until a person asks for whole ones.
    ///   - now: seconds since 1970; replaced by tests, like the zone of local times.
    init(
        source: any GatewayPageSource, rates: CallRates, name: String, version: String, numbers: NumberDisplay,
        access: Access, logger: Logger,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }, zone: LocalZone = .ofProcess
    ) {
        self.source = source
        self.rates = rates
        self.name = name
        self.version = version
        self.numbers = numbers
        self.access = access
        self.logger = logger
        (self.now, self.zone) = (now, zone)
    }

    /// The site with all pages.
    ///
    /// - Throws: the error of a template, which no configuration causes.
    func site() throws -> PageSite {
        let access: PageAccess =
            switch access {
            case .thisMachine: .loopback
            case .token(let token, let isSecure): .token(token.reveal(), isSecure: isSecure)
            case .off(let text): .off(text)
            }
        return PageSite(
            name: "herald \(name)", version: version, templates: try PageTemplates(Self.templates), access: access,
            pages: pages, masksNumbers: numbers != .full,
            loginHelp: LoginHelp(
                "The token is in the file on the gateway that admin.token_file of herald.yaml names."),
            logger: logger)
    }

    private var pages: [Page] {
        [
            Page(.get, "/", entry: "Gateway") { page in await overview(Self.span(page)) },
            Page(.get, "/live") { page in
                let span = Self.span(page)
                return .live(LiveParts(every: .seconds(2)) { await overviewParts(span) })
            },
            Page(.post, "/sync") { page in await sync(page) },
            Page(.get, "/calls", entry: "Calls") { page in try await calls(page) },
            Page(.get, "/calls.csv") { page in try export(.csv, page) },
            Page(.get, "/calls.jsonl") { page in try export(.json, page) },
            Page(.get, "/calls/:row") { page in try await call(page) },
            Page(.get, "/calls/:row/card") { page in try await whyCard(page) },
            Page(.get, "/customers", entry: "Customers", isListed: { !source.customerNames().isEmpty }) { _ in
                try await customers()
            },
            Page(.get, "/shadow", entry: "Shadow", isListed: { !source.namesInShadow().isEmpty }) { page in
                try await shadow(page)
            },
            Page(.get, "/alarms", entry: "Alarms", isListed: { !source.alarms.alarms.isEmpty }) { page in alarms(page)
            },
            Page(.get, "/preview", entry: "Preview") { page in try await preview(page) },
            Page(.get, "/logos/:name") { page in try logo(page) },
        ]
    }

    private static var templates: [String: [UInt8]] {
        [
            "overview": PackageResources.overview_mustache, "steps": PackageResources.steps_mustache,
            "troubles": PackageResources.troubles_mustache,
            "decisions": PackageResources.decisions_mustache, "answers": PackageResources.answers_mustache,
            "top": PackageResources.top_mustache, "outcomes": PackageResources.outcomes_mustache,
            "now": PackageResources.now_mustache, "peers": PackageResources.peers_mustache,
            "rejected": PackageResources.rejected_mustache, "brands": PackageResources.brands_mustache,
            "up": PackageResources.up_mustache, "calls": PackageResources.calls_mustache,
            "call": PackageResources.call_mustache, "customers": PackageResources.customers_mustache,
            "preview": PackageResources.preview_mustache, "shadow": PackageResources.shadow_mustache,
            "alarms": PackageResources.alarms_mustache,
        ]
    }

    /// A telephone number as this session sees it.
    func shown(_ number: String, _ page: PageRequest) -> String {
        page.showsNumbers ? number : numbers.shown(number) ?? "hidden"
    }
}

// The first page and its live parts.
extension GatewayPages {
    /// The time that an address asks for; a day for any other value.
    static func span(_ page: PageRequest) -> CountSpan { page.query("span").flatMap(CountSpan.init) ?? .day }

    private func overview(_ span: CountSpan) async -> PageResult {
        .page(template: "overview", title: "Gateway \(name)", content: await overviewValues(span))
    }

    private func overviewParts(_ span: CountSpan) async -> [LiveParts.Part] {
        let values = await overviewValues(span)
        let names = [
            "steps", "troubles", "decisions", "answers", "top", "rejected", "peers", "now", "outcomes", "brands", "up",
        ]
        return names.map { LiveParts.Part(id: $0, template: $0, values: values) }
    }

    private func overviewValues(_ span: CountSpan) async -> OverviewValues {
        var (counts, problem): (SpanCounts?, String?) = (nil, nil)
        do {
            counts = try await source.counts(of: span)
        } catch {
            problem = "The ledger cannot be read: \(error)"
        }
        return OverviewValues(
            await source.status(), await source.furtherTroubles(), source.traffic(), rates.recent, span, counts,
            problem: problem, zone, at: now())
    }

    /// Syncs with the directory of the gateway, or of the form's customer.
    private func sync(_ page: PageRequest) async -> PageResult {
        let customer = page.form["customer"]
        let sync = await source.syncNow(customer: customer.isEmpty ? nil : customer)
        let (path, subject) = customer.isEmpty ? ("/", "") : ("/customers", "\(customer): ")
        guard sync.result == .succeeded else {
            return .redirect(
                to: path, notice: PageNotice(.error, subject + PageTroubles.sentence(sync.error ?? "the sync failed")))
        }
        let closed = (sync.closed ?? []).map { " The gate \($0.gate) is closed: calls pass without a brand." }
        let change = "\(sync.written ?? 0) written, \(sync.removed ?? 0) removed, \(sync.numbers ?? 0) numbers in use"
        return .redirect(to: path, notice: PageNotice(.done, "\(subject)Synced: \(change)." + closed.joined()))
    }

    /// The gateway's own copy of a logo.
    private func logo(_ page: PageRequest) throws -> PageResult {
        let name = page.pathPart("name")
        let types = ["png": "image/png", "jpg": "image/jpeg", "bmp": "image/bmp"]
        guard let type = name.split(separator: ".").last.flatMap({ types[String($0)] }), let bytes = source.logo(name)
        else { throw PageProblem(.notFound, "There is no copy of this logo. herald logos lists the copies.") }
        return .file(bytes: bytes, type: type)
    }
}
