// SPDX-License-Identifier: Apache-2.0

public import Atomics
public import Branding

/// Records and gates of the branding decision at one instant, with the addresses of public cards; immutable.
public final class BrandingSnapshot: AtomicReference, Sendable {
    public let index: BrandIndex
    public let gates: BrandingGates
    /// The public cards of the account's brands; nil without cards.
    public let cards: CardLinks?

    public init(index: BrandIndex, gates: BrandingGates, cards: CardLinks? = nil) {
        self.index = index
        self.gates = gates
        self.cards = cards
    }
}

/// Holds the current snapshot: readers on the call path never wait, writers replace it as a whole.
public final class CurrentBranding: Sendable {
    private let snapshot: ManagedAtomic<BrandingSnapshot>

    public init(_ initial: BrandingSnapshot) {
        snapshot = ManagedAtomic(initial)
    }

    /// The snapshot for one call; load it once per INVITE.
    ///
    /// Wait-free, any thread.
    public func load() -> BrandingSnapshot { snapshot.load(ordering: .acquiring) }

    /// Replaces the snapshot; calls with the old snapshot finish with it.
    ///
    /// Any thread.
    public func store(_ next: BrandingSnapshot) { snapshot.store(next, ordering: .releasing) }
}
