// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
package import ConfigurationFiles
import Foundation
import GatewayConfiguration
package import GatewayStore
import GatewaySync
import Host
import Logging
package import ServiceLifecycle
import Synchronization

/// The parts that fetch, keep and serve the gateway's own copies of one account's logos.
///
/// Any thread.
package final class LogoServices: Sendable {
    package let store: LogoCacheStore
    let traffic: LogoTraffic
    private let current: CurrentBranding
    /// Countries of national numbers in requests of phones.
    private let regions: [Region]
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        var configuration: HeraldConfiguration.Logos
        /// Made at the first request.
        var files: PhoneFiles?
    }

    /// - Parameters:
    ///   - store: the brands that name the logos.
    ///   - folder: the account's folder.
    ///   - total: counts the traffic of all accounts; nil for the account that has the total itself.
    ///   - logger: names the account.
    init(
        _ configuration: HeraldConfiguration.Logos, _ brands: BrandCacheStore, in folder: String,
        _ current: CurrentBranding, _ regions: [Region], partOf total: LogoTraffic?, _ logger: Logger
    ) {
        traffic = LogoTraffic(partOf: total)
        self.current = current
        self.regions = regions
        var own = Logger(label: "herald.logos")
        own[metadataKey: "customer"] = logger[metadataKey: "customer"]
        self.logger = own
        state = Mutex(State(configuration: configuration))
        store = LogoCacheStore(brands, stateFolder: folder, settings: configuration.storeSettings)
    }

    /// Applies other settings.
    func use(_ configuration: HeraldConfiguration.Logos) {
        store.use(configuration.storeSettings)
        state.withLock { $0 = State(configuration: configuration) }
    }

    /// The service that fetches logos.
    ///
    /// - Parameters:
    ///   - isReload: true starts the first round without a pause.
    ///   - publish: rebuilds the index and hands it to the call path.
    func keeper(
        _ configuration: HeraldConfiguration.Logos, isReload: Bool,
        publish: @escaping @Sendable () async throws -> Void
    ) -> LogoService {
        let scaler = LogoScaler(maxPixels: configuration.maxPixels, maxFile: configuration.maxFile)
        if configuration.scales { scaler.reportIfMissing(to: logger) }
        var settings = configuration.fetchSettings
        if isReload { settings.startSpread = .zero }
        return LogoService(
            settings, cache: store, traffic: traffic, current: current,
            shape: { bytes, form throws(LogoProblem) in try await scaler.picture(bytes, as: form) },
            publish: publish, logger: logger)
    }

    /// The files for phones.
    ///
    /// - Parameter isEnabled: false while `branding.enabled` is false.
    func files(isEnabled: @escaping @Sendable () -> Bool) -> PhoneFiles {
        state.withLock { state in
            if let files = state.files { return files }
            let files = files(state.configuration, isEnabled)
            state.files = files
            return files
        }
    }

    private func files(
        _ configuration: HeraldConfiguration.Logos, _ isEnabled: @escaping @Sendable () -> Bool
    ) -> PhoneFiles {
        let pictures = NumberPictures(
            current, isEnabled: isEnabled, regions: regions, forms: configuration.scaledForms,
            families: configuration.phones)
        let phonebooks = Phonebooks(
            current, isEnabled: isEnabled, logos: store,
            photos: .init(publicURL: configuration.publicURL, families: configuration.phones),
            limit: configuration.phonebookContacts, logger: logger)
        return PhoneFiles(
            cache: store, traffic: traffic, pictures: configuration.servesPictures ? pictures : nil,
            phonebooks: configuration.servesPhonebook ? phonebooks : nil)
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

extension HeraldConfiguration.Logos {
    /// The server for phones: copies of logos, and pictures by number and phonebooks where they are wanted.
    ///
    /// - Parameters:
    ///   - brands: the brands of a customer's account, or those of calls without a customer for nil.
    ///   - isEnabled: false while `branding.enabled` is false.
    package func server(
        _ brands: @escaping @Sendable (_ customer: String?) -> AccountBrands?,
        onListening: @escaping @Sendable (_ port: Int) -> Void, isEnabled: @escaping @Sendable () -> Bool
    ) -> any Service {
        LogoServer(
            HTTPListener(listen, key: "logos.listen", onListening: onListening),
            files: { brands($0)?.logos?.files(isEnabled: isEnabled) }, logger: Logger(label: "herald.logos"))
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
