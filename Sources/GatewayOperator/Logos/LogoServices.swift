// SPDX-License-Identifier: Apache-2.0

import Branding
package import CallAccounting
package import ConfigurationFiles
import Foundation
import GatewayConfiguration
package import GatewayStore
package import GatewaySync
import Host
import Logging
package import ServiceLifecycle

/// The parts that fetch, keep and serve the gateway's own copies of logos.
package struct LogoServices: Sendable {
    package let store: LogoCacheStore
    let traffic = LogoTraffic()
    private let configuration: HeraldConfiguration.Logos
    /// Countries of national numbers in requests of phones.
    private let regions: [Region]

    /// - Parameter trunks: their regions are those of numbers that phones ask for.
    package init(
        _ configuration: HeraldConfiguration.Logos, trunks: [HeraldConfiguration.Trunk], _ database: HeraldDatabase,
        stateFolder: String
    ) {
        self.configuration = configuration
        regions = trunks.compactMap(\.region).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        store = LogoCacheStore(database, stateFolder: stateFolder, settings: configuration.storeSettings)
    }

    /// The service that fetches logos; nil without settings.
    ///
    /// - Parameter isReload: true starts the first round without a pause.
    /// - Parameter publish: rebuilds the index and hands it to the call path.
    package func keeper(
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
            shape: { bytes, form throws(LogoProblem) in try await scaler.picture(bytes, as: form) },
            publish: publish, logger: logger)
    }

    /// The server of the copies, and of pictures by number and phonebooks where they are wanted.
    ///
    /// - Parameter isEnabled: false while `branding.enabled` is false.
    package func server(
        _ current: CurrentBranding, onListening: @escaping @Sendable (_ port: Int) -> Void,
        isEnabled: @escaping @Sendable () -> Bool
    ) -> any Service {
        let logger = Logger(label: "herald.logos")
        let pictures = NumberPictures(
            current, isEnabled: isEnabled, regions: regions, forms: configuration.scaledForms,
            families: configuration.phones)
        let phonebooks = Phonebooks(
            current, isEnabled: isEnabled, logos: store,
            photos: .init(publicURL: configuration.publicURL, families: configuration.phones),
            limit: configuration.phonebookContacts, logger: logger)
        return LogoServer(
            HTTPListener(configuration.listen, key: "logos.listen", onListening: onListening), cache: store,
            traffic: traffic, pictures: configuration.servesPictures ? pictures : nil,
            phonebooks: configuration.servesPhonebook ? phonebooks : nil, logger: logger)
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
    package var storeSettings: LogoCacheStore.Settings {
        var settings = LogoCacheStore.Settings(
            forms: forms, publicURL: publicURL, missing: missing)
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

    private var forms: LogoForms { scales ? .scaled(scaledForms) : .asItCame }

    /// The configured squares, then the forms of the families, each once; empty if logos are served unchanged.
    fileprivate var scaledForms: [LogoForm] {
        guard scales else { return [] }
        let encoding: LogoForm.Encoding =
            switch format {
            case .png: .png
            case .jpeg: .jpeg
            case .bmp: .bmp
            }
        let squares = sizes.map { LogoForm(width: $0, height: $0, encoding) }
        return (squares + phones.map(\.form)).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
