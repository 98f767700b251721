// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import SIPCore

extension GatewayStatus.UnknownCallers {
    /// Copies the summary, with the line of the configuration that admits each address.
    init(_ summary: UnknownCallers.Summary, _ trunks: [HeraldConfiguration.Trunk]) {
        self.init(
            invites: summary.invites, addresses: summary.addresses, isMore: summary.isMore,
            callers: summary.callers.map { caller in
                let rejection = caller.rejection
                let isListed = rejection.cause == .otherPortOrCertificate
                return Caller(
                    address: rejection.source.bareHostText, invites: caller.invites, last: rejection.last / 1_000_000,
                    cause: rejection.causeText,
                    line: isListed ? nil : Self.line(admitting: rejection.source.hostText, trunks))
            })
    }

    /// The key `sources` with the new address; with all of its values for a lone trunk.
    private static func line(admitting host: String, _ trunks: [HeraldConfiguration.Trunk]) -> String {
        guard trunks.count == 1, let trunk = trunks.first else {
            return "sources: [\(YAMLScalar.text(host)), …]"
        }
        return trunk.sources(with: host)
    }
}

extension HeraldConfiguration.Trunk {
    /// The line of `herald.yaml` with all sources of the trunk and one more.
    func sources(with host: String) -> String {
        "sources: " + YAMLScalar.list(sources.map(\.description) + [host])
    }
}
