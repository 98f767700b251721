// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import Dispatch
import GatewayStore
import Logging
import SIPCore
import SIPTransport
import ServiceLifecycle
import UnixSignals

/// Reads the configuration again at SIGHUP: trunks, targets, policy, limits and TLS files change between two messages.
///
/// A file with a problem changes nothing. What cannot change while calls are carried (addresses, folders, workers, the
/// directory, how names are rendered) is named in the log and waits for the next start.
struct ReloadService: Service {
    let hangups: UnixSignalsSequence
    let path: String
    /// What runs since the start.
    let configuration: HeraldConfiguration
    let settings: LiveSettings
    let streams: StreamTransport?
    let resolver: NextHopResolver
    let recorder: OutcomeRecorder
    let logger: Logger

    func run() async throws {
        for await _ in hangups.cancelOnGracefulShutdown() { await reload() }
    }

    private func reload() async {
        do {
            var next = try HeraldConfiguration.load(path: path)
            let waiting = keepFixed(in: &next)
            // Peers name listen entries by position, which means those of the running gateway.
            guard !waiting.contains("listen") else {
                logger.error("listen has changed: nothing of the new configuration is used before the next start")
                return
            }
            let names = try next.trunkNames()
            // A peer without an address would get no calls and be a stranger, with the calls it has.
            let unknown = await resolver.learn(next.nextHopNames)
            guard unknown.isEmpty else {
                logger.error(
                    "the configuration was not reloaded, the old one stays in force",
                    metadata: [
                        "problem": "no address for \(unknown.map(\.host).joined(separator: ", ")) yet; try again"
                    ])
                return
            }
            try streams?.reloadIdentities()
            try settings.use(next)
            resolver.replace(names: next.nextHopNames)
            recorder.setTrunks(names)
            logger.notice(
                "configuration reloaded",
                metadata: ["trunks": "\(next.trunks.count)", "pbx": "\(next.pbx.count)"])
            for remark in next.remarks { logger.notice("\(remark)") }
            CertificateReport.warn(of: next, logger)
            if !waiting.isEmpty {
                logger.warning(
                    "some changes need a restart", metadata: ["sections": "\(waiting.joined(separator: ", "))"])
            }
        } catch {
            logger.error(
                "the configuration was not reloaded, the old one stays in force", metadata: ["problem": "\(error)"])
        }
    }

    /// Puts back what must stay as it was at the start, and names what was different.
    private func keepFixed(in next: inout HeraldConfiguration) -> [String] {
        var changed: [String] = []
        func keep<Part: Equatable>(_ name: String, _ part: WritableKeyPath<HeraldConfiguration, Part>) {
            guard next[keyPath: part] != configuration[keyPath: part] else { return }
            changed.append(name)
            next[keyPath: part] = configuration[keyPath: part]
        }
        keep("listen", \.listen)
        keep("gateway.id", \.id)
        keep("gateway.state", \.state)
        keep("gateway.runtime", \.runtime)
        keep("gateway.workers", \.workers)
        keep("gateway.drain", \.drain)
        keep("directory", \.directory)
        keep("brands", \.brandsFile)
        keep("logos", \.logos)
        keep("outcomes", \.outcomes)
        keep("admin", \.admin)
        keep("streams", \.streams)
        keep("timers", \.timers)
        keep("limits.max_transactions", \.limits.maxTransactions)
        // Streams are framed by what was in force when they began.
        if streams != nil { keep("limits.max_message", \.limits.maxMessage) }
        keep("dns", \.nameServers)
        keep("log", \.log)
        let (rendering, old) = (next.renderingProfile, configuration.renderingProfile)
        if rendering != old { changed.append("branding (how names are written)") }
        return changed
    }
}
