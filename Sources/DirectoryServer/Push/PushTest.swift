// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
package import DirectoryStore
import Foundation
import HTTPTypes
import Hummingbird

/// A test message for one device, which is sent at once and never repeated.
///
/// Source: mobile-api, "Test Push Notification".
package struct PushTest: Sendable {
    private let gateway: PushGateway
    private let publicURL: String?
    private let counters: PushCounters?

    init(gateway: PushGateway, publicURL: String?, counters: PushCounters?) {
        (self.gateway, self.publicURL, self.counters) = (gateway, publicURL, counters)
    }

    /// A test by a command of the operator.
    package init(gateway: PushGateway, publicURL: String?) {
        self.init(gateway: gateway, publicURL: publicURL, counters: nil)
    }

    private struct Sent: Encodable {
        var success = true
        var message = "Test notification sent successfully"
        let notification_id: String
    }

    /// Sends the message.
    ///
    /// - Parameter now: seconds since 1970.
    package func send(to device: PushDevice, now: Int64) async -> (id: String, outcome: PushOutcome) {
        let id = UUID().uuidString.lowercased()
        let notice = PushNotice.test(id, gateway, publicURL: publicURL, now: now)
        let outcome = await gateway.send(notice, device.platform, device.address, "test:\(id):\(device.id)")
        counters?.add(outcome, on: device.platform)
        return (id, outcome)
    }

    /// - Throws: `Refusal` (502) with the error of the push service.
    func response(for device: PushDevice, now: Int64) async throws -> Response {
        let (id, outcome) = await send(to: device, now: now)
        guard case .delivered = outcome else {
            throw Refusal(
                .badGateway, "Failed to send push notification due to external service error",
                code: "PUSH_SERVICE_ERROR",
                details: ["service": .string(device.platform.service), "error_type": .string(outcome.label)],
                guidance: outcome.guidance)
        }
        return try JSONBody.response(Sent(notification_id: id))
    }
}

extension PushOutcome {
    /// The remedy of a failed test.
    fileprivate var guidance: String {
        switch self {
        case .gone: "Register the device again"
        case .later, .delivered: "Try the test again in a moment. Other notifications are retried automatically."
        case .refused, .tooLarge: "Ask the operator, who finds the reason in the log of the directory"
        }
    }
}
