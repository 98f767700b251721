// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether the ends of calls make push messages.
///
/// It is off until a server with `push` in its configuration starts, so that a directory without it pays nothing. Any
/// thread.
package final class PushSwitch: Sendable {
    private let state = Atomic<Bool>(false)

    package var isOn: Bool { state.load(ordering: .relaxed) }

    package func set(_ isOn: Bool) { state.store(isOn, ordering: .relaxed) }
}
