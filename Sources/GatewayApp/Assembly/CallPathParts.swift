// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles
import GatewayConfiguration
import GatewayOperator
import Host
import SIPCore
import SIPTransport

/// The call path with its settings and threads; nothing is received before `WorkerService` starts the threads.
///
/// Third phase of a start.
struct CallPathParts {
    let foundation: GatewayFoundation
    let disabledTargets: DisabledTargets
    let settings: LiveSettings
    let names: LiveNameLookup
    let resolver: NextHopResolver
    let budget: TransactionBudget
    /// Nil without a `trust` section.
    let trust: TrustServices?
    let shared: GatewayShared
    let workers: GatewayWorkers
    let addresses: AddressWatch

    /// Builds the parts on the open sockets and the loaded brands.
    init(_ start: GatewayStart, _ resources: GatewayResources, _ state: StoredState) throws {
        let configuration = start.configuration
        let (transport, reachability) = (resources.transport, resources.reachability)
        budget = configuration.budget(of: resources.memory)
        disabledTargets = DisabledTargets(in: configuration.state, logger: start.logger)
        foundation = GatewayFoundation(
            bound: transport.bound, secret: resources.secret.secret,
            health: disabledTargets.registry(of: configuration, onChange: reachability.targetChanged),
            trunks: TrunkRegister(onRegistrar: reachability.registrarFound), mostTransactions: budget.most,
            customer: state.accounts.customer)
        let streams = transport.streams
        settings = try LiveSettings(configuration, on: foundation) { streams?.setPeers($0) }
        names = LiveNameLookup(configuration.nameServers)
        resolver = NextHopResolver(configuration, asking: names, settings: settings, logger: start.logger)
        trust = TrustServices(configuration, state.signers)
        shared = GatewayShared(
            settings: settings.current, branding: state.accounts.usual.current, counters: GatewayCounters(),
            updates: state.ring, probes: TargetProber(seed: UInt64(Moment.now().wallMicroseconds)),
            calls: CallsInProgress(), trust: trust?.shared ?? GatewayTrust(signers: state.signers))
        workers = GatewayWorkers(shared, threads: transport.workers)
        addresses = AddressWatch(
            away: shared.away, bound: transport.bound, isClustered: configuration.cluster != nil,
            logger: start.logger)
        addresses.look()
    }
}
