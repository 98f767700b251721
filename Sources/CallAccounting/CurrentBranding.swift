// SPDX-License-Identifier: Apache-2.0

import Atomics
package import Branding

/// Records and gates of the branding decision at one instant; immutable.
package final class BrandingSnapshot: AtomicReference, Sendable {
    package let index: BrandIndex
    package let gates: BrandingGates

    package init(index: BrandIndex, gates: BrandingGates) {
        self.index = index
        self.gates = gates
    }
}

/// Holds the current snapshot: readers on the call path never wait, writers replace it as a whole.
package final class CurrentBranding: Sendable {
    private let snapshot: ManagedAtomic<BrandingSnapshot>

    package init(_ initial: BrandingSnapshot) {
        snapshot = ManagedAtomic(initial)
    }

    /// The snapshot for one call; load it once per INVITE.
    ///
    /// Wait-free, any thread.
    package func load() -> BrandingSnapshot { snapshot.load(ordering: .acquiring) }

    /// Replaces the snapshot; calls with the old snapshot finish with it.
    ///
    /// Any thread.
    package func store(_ next: BrandingSnapshot) { snapshot.store(next, ordering: .releasing) }
}
