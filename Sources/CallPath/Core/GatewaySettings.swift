// SPDX-License-Identifier: Apache-2.0

public import Atomics
public import Branding
public import SIPCore
import Synchronization

/// The settings of the call path; immutable, replaced as a whole on a reload.
public final class GatewaySettings: AtomicReference, Sendable {
    public let topology: GatewayTopology
    public let secret: Secret
    /// Whether other gateways share the secret, so that any of them may get the responses of this one's requests.
    public let isClustered: Bool
    public let timers: TransactionTimers
    /// Time a target has to respond while another could be tried.
    public let targetPatience: TimerDelay
    /// Time that the last target of a call has to respond; nil for Timer B.
    public let lastPatience: TimerDelay?
    /// How targets of probed groups are probed.
    public let probes: TargetProbes.Rules
    /// Milliseconds after which a call without a BYE counts as ended.
    public let longestCall: UInt64
    public let limits: SIPLimits
    /// Most transactions in memory; further requests get 503.
    public let mostTransactions: Int
    public let strangers: StrangerTreatment
    /// False forwards every call without a brand.
    public let brands: Bool
    /// False writes names alone, without Call-Info.
    public let writesCallInfo: Bool
    /// True adds the address of the brand's public card in a Call-Info of its own; never without Call-Info.
    public let writesCardLink: Bool
    /// The verstat that calls for the PBX get.
    public let verstat: VerstatMark
    /// Whether a carrier's OPTIONS get 503 while no target of its PBX is up.
    public let reportsPBX: Bool
    /// Signs of a voicemail box, a queue or a menu as the callee.
    public let answerers: AnswererRules

    public init(
        topology: GatewayTopology, secret: Secret, isClustered: Bool = false, timers: TransactionTimers,
        targetPatience: Duration = .seconds(4), lastPatience: Duration? = nil, probes: TargetProbes.Rules = .init(),
        longestCall: UInt64 = 14_400_000, limits: SIPLimits, mostTransactions: Int, strangers: StrangerTreatment,
        brands: Bool, writesCallInfo: Bool, writesCardLink: Bool = false, answerers: AnswererRules = AnswererRules(),
        verstat: VerstatMark = .off, reportsPBX: Bool = true
    ) {
        self.topology = topology
        self.secret = secret
        self.isClustered = isClustered
        self.timers = timers
        self.targetPatience = TimerDelay(targetPatience)
        self.lastPatience = lastPatience.map { TimerDelay($0) }
        self.probes = probes
        self.longestCall = longestCall
        self.limits = limits
        self.mostTransactions = mostTransactions
        self.strangers = strangers
        self.brands = brands
        self.writesCallInfo = writesCallInfo
        self.writesCardLink = writesCallInfo && writesCardLink
        self.answerers = answerers
        self.verstat = verstat
        self.reportsPBX = reportsPBX
    }
}

/// The place where settings are replaced: a reload stores new ones, workers renew theirs for each message.
public final class CurrentSettings: Sendable {
    private let settings: ManagedAtomic<GatewaySettings>
    private let version = Atomic<UInt64>(1)

    public init(_ initial: GatewaySettings) { settings = ManagedAtomic(initial) }

    /// The present settings; wait-free, any thread.
    public func load() -> GatewaySettings { settings.load(ordering: .acquiring) }

    /// Replaces the settings; a message in progress finishes with the old ones.
    public func store(_ next: GatewaySettings) {
        settings.store(next, ordering: .releasing)
        // After the settings: a thread that reads the new version reads these settings or newer ones.
        version.add(1, ordering: .releasing)
    }

    /// Updates the settings that one thread holds; usually one read of memory, where `load` takes several atomic writes.
    func renew(_ held: inout HeldSettings) {
        let version = version.load(ordering: .acquiring)
        guard held.version != version else { return }
        held = HeldSettings(settings: load(), version: version)
    }
}

/// The settings that a worker holds, and their version.
struct HeldSettings {
    let settings: GatewaySettings
    /// Grows with each reload; 0 before the first message.
    let version: UInt64

    /// Takes the current settings, to be renewed at the first message.
    init(_ current: CurrentSettings) {
        settings = current.load()
        version = 0
    }

    fileprivate init(settings: GatewaySettings, version: UInt64) {
        self.settings = settings
        self.version = version
    }
}
