// SPDX-License-Identifier: Apache-2.0

import Branding
import ConfigurationFiles
import Foundation
import Gateway
import GatewayStore
import GatewaySync
import SIPCore

// Turns what the configuration says into what the parts take.

extension HeraldConfiguration {
    /// The settings of the call path; `bound` are the addresses of the open sockets, in the order of `listen`.
    func gatewaySettings(bound: [PeerAddress], secret: Secret) throws -> GatewaySettings {
        let sockets = zip(listen, bound).enumerated().map { position, pair in
            LocalSocket(
                position: position, address: pair.1, advertisedHost: pair.0.advertise?.host,
                advertisedPort: pair.0.advertise?.port)
        }
        let topology = GatewayTopology(
            sockets: sockets, trunks: try trunks.enumerated().map { try $1.peer(position: $0) },
            pbxs: try pbx.enumerated().map { try $1.peer(position: $0) })
        return GatewaySettings(
            topology: topology, secret: secret,
            timers: TransactionTimers(t1: timers.t1, t2: timers.t2, t4: timers.t4, c: timers.c),
            limits: SIPLimits(messageBytes: limits.maxMessage, headerFields: limits.maxHeaders),
            mostTransactions: limits.maxTransactions, strangers: strangers == .refuse ? .refuse : .drop,
            brands: branding.isEnabled, writesCallInfo: branding.writesCallInfo)
    }

    /// How brands become header bytes.
    var renderingProfile: RenderingProfile {
        RenderingProfile(
            maxNameBytes: branding.maxNameBytes, maxReasonCharacters: branding.maxReasonCharacters,
            percent: branding.percent == .keep ? .keep : .spellOut, allowInsecureLogos: branding.allowsInsecureLogos)
    }

    /// How outcomes are recorded and told.
    var recorderSettings: OutcomeRecorder.Settings {
        var settings = OutcomeRecorder.Settings()
        settings.vocabulary.surface = outcomes.surface
        settings.vocabulary.reportsNoMatch = outcomes.reportsNoMatch
        let words = outcomes.vocabulary
        settings.vocabulary.displayed = words["displayed"] ?? settings.vocabulary.displayed
        settings.vocabulary.callSeen = words["call_seen"] ?? settings.vocabulary.callSeen
        settings.vocabulary.missed = words["missed"] ?? settings.vocabulary.missed
        settings.vocabulary.returned = words["returned"] ?? settings.vocabulary.returned
        settings.vocabulary.brandingDisabled = words["branding_disabled"] ?? settings.vocabulary.brandingDisabled
        settings.vocabulary.error = words["error"] ?? settings.vocabulary.error
        settings.vocabulary.noMatch = words["no_match"] ?? settings.vocabulary.noMatch
        settings.returns = ReturnPolicy(
            window: outcomes.returnedWindow.components.seconds,
            originals: outcomes.returnedOriginals == .any ? .any : .unanswered)
        settings.limits = OutcomeMachine.Limits(answered: outcomes.maxCallDuration.components.seconds)
        settings.trunks = trunks.map(\.name)
        settings.retentionDays = Int(outcomes.retention.components.seconds / 86_400)
        return settings
    }
}

extension HeraldConfiguration.DirectoryAccess {
    /// What the directory client is told.
    func settings(version: String) throws -> DirectorySettings {
        guard let address = DirectoryAddress(url) else {
            throw CommandFailure("directory.url \"\(url)\" is no address of a directory")
        }
        guard let key = APIKey(key.reveal()) else {
            throw CommandFailure("directory.api_key holds no usable key")
        }
        var settings = DirectorySettings(address: address, key: key, version: version)
        settings.connectTimeout = timeout
        settings.requestTimeout = timeout
        settings.syncLimit = maxBody
        return settings
    }

    /// When the sync service does what.
    var schedule: SyncSchedule {
        var schedule = SyncSchedule()
        schedule.interval = syncInterval
        schedule.fullRefresh = fullSyncInterval
        schedule.presence = presenceInterval
        schedule.acknowledges = acknowledges
        return schedule
    }
}

extension HeraldConfiguration.Trunk {
    fileprivate func peer(position: Int) throws -> TrunkPeer {
        TrunkPeer(
            position: position, name: name, sources: try sources.map { try $0.source() }, nextHop: try nextHop.peer(),
            socket: listener, isTrusted: isTrusted, policy: BrandingPolicy(rawValue: policy.rawValue) ?? .standard,
            normaliser: NumberNormaliser(region: region),
            identityOrder: identity.map { identity in
                switch identity {
                case .pai: .pAssertedIdentity
                case .rpid: .remotePartyID
                case .from: .from
                }
            },
            keepsForeignCallInfo: foreignCallInfo == .keep, trunkHeader: trunkHeader, pbx: pbx)
    }
}

extension HeraldConfiguration.PBX {
    fileprivate func peer(position: Int) throws -> PBXPeer {
        PBXPeer(
            position: position, name: name, sources: try sources.map { try $0.source() }, address: try address.peer(),
            socket: listener, largestDatagram: largestDatagram)
    }
}

extension EndpointAddress {
    /// The address as the call path uses it.
    func peer() throws -> PeerAddress {
        guard let address = PeerAddress(host: Array(host.utf8)[...], port: port) else {
            throw CommandFailure("\(self) is no address")
        }
        return address
    }
}

extension SourceRange {
    fileprivate func source() throws -> PeerSource {
        guard let network = PeerAddress(host: Array(host.utf8)[...], port: port ?? 0) else {
            throw CommandFailure("\(host) is no address")
        }
        return PeerSource(network: network, prefixLength: prefixLength, port: port)
    }
}
