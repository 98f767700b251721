// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import Foundation
import GatewayAdmin
import GatewayStore
import GatewaySync
import Logging
import MetricsPage
import ServiceLifecycle

/// The parts that fetch, keep and serve the gateway's own copies of logos.
struct LogoServices: Sendable {
    let store: LogoStore
    let traffic = LogoTraffic()
    private let listen: EndpointAddress

    init(_ configuration: HeraldConfiguration.Logos, _ database: HeraldDatabase, stateFolder: String) {
        listen = configuration.listen
        store = LogoStore(database, stateFolder: stateFolder, settings: configuration.storeSettings)
    }

    /// The service that fetches logos; nil without settings.
    ///
    /// - Parameter isReload: true starts the first round without a pause.
    /// - Parameter publish: rebuilds the index and hands it to the call path.
    func keeper(
        _ configuration: HeraldConfiguration.Logos?, _ current: CurrentBranding, isReload: Bool,
        publish: @escaping @Sendable () async throws -> Void
    ) -> LogoService? {
        guard let configuration else { return nil }
        let scaler = LogoScaler(maxPixels: configuration.maxPixels, maxFile: configuration.maxFile)
        let logger = Logger(label: "herald.logos")
        if configuration.scales { scaler.reportIfMissing(to: logger) }
        var settings = configuration.fetchSettings
        if isReload { settings.startSpread = .zero }
        return LogoService(
            settings, cache: store, traffic: traffic, current: current,
            shape: { bytes, size, format throws(LogoProblem) in
                try await scaler.square(bytes, size: size, format: format)
            },
            publish: publish, logger: logger)
    }

    /// The server of the copies.
    func server(_ gate: StartGate) -> any Service {
        LogoServer(
            HTTPListener(listen, key: "logos.listen", onListening: gate.expectServer()), cache: store,
            traffic: traffic, logger: Logger(label: "herald.logos"))
    }

    /// Totals for the status page; nil while the store cannot be read.
    func status() async -> GatewayStatus.Logos? {
        guard let totals = try? await store.totals() else { return nil }
        return .init(
            known: totals.known, ready: totals.ready, failed: totals.failed.values.reduce(0, +), bytes: totals.bytes,
            served: traffic.served)
    }

    /// Gauges of known, ready and failed logos; empty while the store cannot be read.
    func gauges() async -> [GaugeSample] {
        guard let totals = try? await store.totals() else { return [] }
        return [
            GaugeSample(
                name: "herald_logos_known", help: "Distinct logos that brands refer to", value: Double(totals.known)),
            GaugeSample(
                name: "herald_logos_ready", help: "Logos with a copy that is served", value: Double(totals.ready)),
            GaugeSample(
                name: "herald_logo_store_bytes", help: "Bytes of all copies of logos", value: Double(totals.bytes)),
        ]
            + totals.failed.sorted { $0.key < $1.key }.map { reason, count in
                GaugeSample(
                    name: "herald_logos_failed", help: "Logos whose last fetch failed, by reason",
                    labels: [MetricLabel("reason", reason)], value: Double(count))
            }
    }
}

extension HTTPListener {
    /// A listener on a configured address; errors name `key`.
    init(_ address: EndpointAddress, key: String, onListening: @escaping @Sendable (_ port: Int) -> Void) {
        self.init(host: address.host, port: Int(address.port), key: key, onListening: onListening)
    }
}

extension HeraldConfiguration.Logos {
    /// Sizes, formats and limits of the store, and the URL for Call-Info.
    var storeSettings: LogoStore.Settings {
        var settings = LogoStore.Settings(
            forms: forms, publicURL: publicURL, missing: missing == .original ? .original : .none)
        settings.maxTotal = maxTotal
        settings.grace = grace.components.seconds
        return settings
    }

    /// Hosts, limits and intervals of fetches.
    fileprivate var fetchSettings: LogoSettings {
        var settings = LogoSettings(hosts: Set(hosts), forms: forms, version: HeraldVersion.current)
        settings.allowsPrivate = allowsPrivate
        settings.allowsHTTP = allowsHTTP
        settings.maxFile = maxFile
        settings.maxPixels = maxPixels
        settings.timeout = timeout
        settings.refresh = refresh
        return settings
    }

    private var forms: LogoForms {
        guard scales else { return .asItCame }
        switch format {
        case .png: return .squares(sizes, .png)
        case .jpeg: return .squares(sizes, .jpeg)
        case .bmp: return .squares(sizes, .bmp)
        }
    }
}
