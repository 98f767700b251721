// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// A received message, the way it came by, and the time of its arrival.
struct Arrival {
    let message: SIPMessage
    let flow: Flow
    let now: Moment
}
