// SPDX-License-Identifier: Apache-2.0

import Atomics
package import SIPCore
import Synchronization

/// Everything the call path is told by the configuration; immutable, replaced whole when it is reloaded.
package final class GatewaySettings: AtomicReference, Sendable {
    /// What happens to requests of senders that are no configured peer.
    package enum StrangerTreatment: Hashable, Sendable {
        /// Answered 403.
        case refuse
        /// Not answered at all.
        case drop
    }

    package let topology: GatewayTopology
    package let secret: Secret
    package let timers: TransactionTimers
    /// How long a target's silence is borne while another could be tried.
    package let targetPatience: TimerDelay
    /// How targets are probed, where their group is.
    package let probes: TargetProbes.Rules
    /// Milliseconds after which a call whose end was not seen counts as ended.
    package let longestCall: UInt64
    package let limits: SIPLimits
    /// Most transactions kept in all; more requests are answered 503.
    package let mostTransactions: Int
    package let strangers: StrangerTreatment
    /// False lets every call pass as it came.
    package let brands: Bool
    /// False leaves Call-Info out and writes only names.
    package let writesCallInfo: Bool
    /// Whether a carrier's OPTIONS get 503 while no target of its PBX is up.
    package let reportsPBX: Bool
    /// How a voicemail box, a queue or a menu is told from a person who answers.
    package let answerers: AnswererRules

    package init(
        topology: GatewayTopology, secret: Secret, timers: TransactionTimers,
        targetPatience: Duration = .seconds(4), probes: TargetProbes.Rules = .init(),
        longestCall: UInt64 = 14_400_000, limits: SIPLimits, mostTransactions: Int, strangers: StrangerTreatment,
        brands: Bool, writesCallInfo: Bool, answerers: AnswererRules = AnswererRules(),
        reportsPBX: Bool = true
    ) {
        self.topology = topology
        self.secret = secret
        self.timers = timers
        self.targetPatience = TimerDelay(targetPatience)
        self.probes = probes
        self.longestCall = longestCall
        self.limits = limits
        self.mostTransactions = mostTransactions
        self.strangers = strangers
        self.brands = brands
        self.writesCallInfo = writesCallInfo
        self.answerers = answerers
        self.reportsPBX = reportsPBX
    }
}

/// The one place where settings are swapped: workers renew theirs for each message, a reload replaces them whole.
package final class CurrentSettings: Sendable {
    private let settings: ManagedAtomic<GatewaySettings>
    private let version = Atomic<UInt64>(1)

    package init(_ initial: GatewaySettings) { settings = ManagedAtomic(initial) }

    /// The present settings; wait-free, any thread.
    package func load() -> GatewaySettings { settings.load(ordering: .acquiring) }

    /// Puts new settings in place; messages being handled finish with the old ones.
    package func store(_ next: GatewaySettings) {
        settings.store(next, ordering: .releasing)
        // Behind the settings: who sees the new version finds them, or still newer ones.
        version.add(1, ordering: .releasing)
    }

    /// Brings what one thread holds up to date; usually one read of memory, where `load` takes a handful of atomic writes.
    func renew(_ held: inout HeldSettings) {
        let version = version.load(ordering: .acquiring)
        guard held.version != version else { return }
        held = HeldSettings(settings: load(), version: version)
    }
}

/// The settings a worker works with, and which version it took them for.
struct HeldSettings {
    let settings: GatewaySettings
    fileprivate let version: UInt64

    /// What is current, to be renewed.
    init(_ current: CurrentSettings) {
        settings = current.load()
        version = 0
    }

    fileprivate init(settings: GatewaySettings, version: UInt64) {
        self.settings = settings
        self.version = version
    }
}
