// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import ConfigurationFiles
import GatewayStore
import Logging
import SIPTransport

/// Reads the configuration file again and applies it between two messages: trunks, targets, policy, limits, TLS files.
///
/// A file with a problem changes nothing. The log names settings that need a restart; they keep their values until then.
struct ConfigurationReload: Sendable {
    let path: String
    let fixed: RestartOnlySettings
    let settings: LiveSettings
    /// Nil where no address uses TCP or TLS.
    let streams: StreamTransport?
    let resolver: NextHopResolver
    let recorder: OutcomeRecorder
    let logger: Logger
    /// Receives the settings of traces.
    var onTrace: @Sendable (HeraldConfiguration.Trace) -> Void = { _ in }

    /// Reloads once and logs the result.
    func run() async {
        do {
            var next = try HeraldConfiguration.load(path: path)
            let waiting = fixed.restore(in: &next)
            // Peers name listen entries by position, so another list makes all of them ambiguous.
            guard !waiting.contains("listen") else {
                logger.error("listen has changed: nothing of the new configuration is used before the next start")
                return
            }
            guard try await apply(next) else { return }
            report(next, waiting)
        } catch {
            logger.error(Self.refusal, metadata: ["problem": "\(error)"])
        }
    }

    /// Applies a configuration as a whole; false where the name of a next hop has no address.
    ///
    /// - Throws: when a TLS file or a peer cannot be used; the current settings stay.
    private func apply(_ next: HeraldConfiguration) async throws -> Bool {
        let names = try next.trunkNames()
        // A peer without an address would become an unknown peer, even for its calls in progress.
        let unknown = await resolver.learn(next.nextHopNames)
        guard unknown.isEmpty else {
            let hosts = unknown.map(\.host).joined(separator: ", ")
            logger.error(Self.refusal, metadata: ["problem": "no address for \(hosts) yet; try again"])
            return false
        }
        try streams?.reloadIdentities()
        try settings.use(next)
        resolver.replace(names: next.nextHopNames)
        recorder.setTrunks(names)
        onTrace(next.trace)
        return true
    }

    private func report(_ next: HeraldConfiguration, _ waiting: [String]) {
        logger.notice(
            "configuration reloaded", metadata: ["trunks": "\(next.trunks.count)", "pbx": "\(next.pbx.count)"])
        for remark in next.remarks { logger.notice("\(remark)") }
        CertificateReport.warn(of: next, logger)
        guard !waiting.isEmpty else { return }
        logger.warning("some changes need a restart", metadata: ["sections": "\(waiting.joined(separator: ", "))"])
    }

    private static let refusal: Logger.Message = "the configuration was not reloaded, the old one stays in force"
}
