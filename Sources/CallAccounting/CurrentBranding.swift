// SPDX-License-Identifier: Apache-2.0

import Atomics
package import Branding

/// What calls are branded from at this instant: records and gates together, immutable.
package final class BrandingSnapshot: AtomicReference, Sendable {
    package let index: BrandIndex
    package let gates: BrandingGates

    package init(index: BrandIndex, gates: BrandingGates) {
        self.index = index
        self.gates = gates
    }
}

/// The one place where the snapshot is swapped: readers on the call path never wait, writers replace it whole.
package final class CurrentBranding: Sendable {
    private let snapshot: ManagedAtomic<BrandingSnapshot>

    package init(_ initial: BrandingSnapshot) {
        snapshot = ManagedAtomic(initial)
    }

    /// The snapshot to use for one call; take it once per INVITE.
    ///
    /// Wait-free, any thread.
    package func load() -> BrandingSnapshot { snapshot.load(ordering: .acquiring) }

    /// Puts a new snapshot in place; calls that already loaded the old one finish with it.
    ///
    /// Any thread.
    package func store(_ next: BrandingSnapshot) { snapshot.store(next, ordering: .releasing) }
}
