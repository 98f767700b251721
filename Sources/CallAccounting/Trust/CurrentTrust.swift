// SPDX-License-Identifier: Apache-2.0

public import Atomics
public import Trust

/// The signers that are known at one instant; immutable.
public final class KnownSigners: AtomicReference, Sendable {
    public let snapshot: TrustSnapshot

    public init(_ snapshot: TrustSnapshot) { self.snapshot = snapshot }
}

/// Holds the current signers: readers on the call path never wait, writers replace them as a whole.
public final class CurrentTrust: Sendable {
    private let known: ManagedAtomic<KnownSigners>

    /// Begins with these signers; without any until a publisher stores some.
    public init(_ snapshot: TrustSnapshot = TrustSnapshot(generation: 0, regimeSet: 0, [])) {
        known = ManagedAtomic(KnownSigners(snapshot))
    }

    /// The signers for one call; load them once per INVITE.
    ///
    /// Wait-free, any thread.
    public func load() -> KnownSigners { known.load(ordering: .acquiring) }

    /// Replaces the signers; calls with the old ones finish with them.
    ///
    /// Any thread.
    public func store(_ next: TrustSnapshot) { known.store(KnownSigners(next), ordering: .releasing) }
}
