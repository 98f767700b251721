// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import Foundation

/// Turns a stored event into the contract's request. The same event always gives the same request.
struct EventBody {
    let device: DeviceIdentity

    /// - Throws: an encoding error. No event of the outbox causes one.
    func request(for event: OutcomeEvent) throws -> EventRequest {
        let json = try JSONEncoder().encode(event.meta)
        var meta = try JSONValue.object(parsing: json)
        meta["device_id"] = .string(device.id)
        meta["platform"] = .string(device.platform)
        return EventRequest(
            phoneNumber: event.number, outcome: event.outcome, surface: event.surface, deviceID: device.id,
            displayedAt: event.displayedAt, eventKey: event.key, meta: meta)
    }
}
