// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes

/// The HTTP status, code and text of refused push registrations.
extension Refusal {
    static func push(_ error: PushError) -> Refusal {
        switch error {
        case .unknownDevice:
            Refusal(
                .notFound, "The device is not registered for push messages", code: "not_registered",
                guidance: "Register it again")
        case .numberIsFull(let number):
            Refusal(
                .tooManyRequests, "\(number) has \(PushLimits.devicesPerNumber) devices, and takes no more",
                code: "TOO_MANY_DEVICES", headers: [.retryAfter: "86400"],
                details: ["limit": .int(PushLimits.devicesPerNumber)],
                guidance: "Ask the operator to remove devices of the number")
        case .tooManyNumbers:
            .badRequest("A device has at most \(PushLimits.numbersPerDevice) numbers")
        case .addressTaken:
            Refusal(
                .conflict, "Another device of this account has this token or subscription", code: "address_taken",
                guidance: "Remove the other device first")
        case .badInvitation:
            Refusal(
                .unauthorized, "The invitation is unknown, used or expired", code: "invitation_invalid",
                headers: [.wwwAuthenticate: "Bearer"], guidance: "Ask for a new link")
        case .tooManyInvitations:
            Refusal(
                .tooManyRequests, "The account has too many open invitations", code: "TOO_MANY_INVITATIONS",
                headers: [.retryAfter: "3600"])
        case .badSecret:
            Refusal(
                .unauthorized, "This browser is not registered for push messages", code: "not_registered",
                headers: [.wwwAuthenticate: "Bearer"], guidance: "Ask for a new link")
        }
    }
}
