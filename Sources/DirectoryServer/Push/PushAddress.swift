// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryStore
import HTTPTypes

/// Reads the address of a device in a request: a token of an app, or the subscription of a browser.
struct PushAddress: Sendable {
    let gateway: PushGateway
    /// Seconds since 1970.
    let now: Int64

    /// The address in its stored form.
    ///
    /// - Throws: `Refusal` with the field.
    func read(_ fields: [String: JSONValue], of platform: PushPlatform) throws -> String {
        guard gateway.platforms.contains(platform) else { throw Refusal.platform(platform, offered: gateway.platforms) }
        switch platform {
        case .web: return try Self.subscription(fields["subscription"], gateway, now: now)
        case .ios, .android: return try Self.token(fields, of: platform)
        }
    }

    /// The device that a request names by `device_id`, `token` or `subscription`.
    ///
    /// - Throws: `Refusal` (400) without one of them.
    func name(_ fields: [String: JSONValue]) throws -> PushDeviceName {
        switch (fields["device_id"], fields["token"], fields["subscription"]) {
        case (.string(let id), _, _):
            try FieldCheck.length(id, 1...128, "device_id")
            return .id(id)
        case (_, .string(let token), _):
            try FieldCheck.length(token, 1...PushLimits.address, "token")
            return .address(token)
        case (_, _, let subscription?):
            return .address(try Self.subscription(subscription, gateway, now: 0))
        default: throw Refusal.badRequest("Missing field token, subscription or device_id")
        }
    }

    /// - Parameter now: seconds since 1970; 0 accepts an expired one, for its removal.
    static func subscription(_ value: JSONValue?, _ gateway: PushGateway, now: Int64) throws -> String {
        let subscription: WebSubscription
        do throws(WebSubscription.Problem) {
            subscription = try WebSubscription(value, allowsPlain: gateway.allowsPrivateAddresses, now: now)
        } catch {
            throw refusal(error.text)
        }
        if now > 0, case .object(let object) = value, let problem = gateway.problem(JSONValue.text(object), now) {
            throw refusal(problem)
        }
        return subscription.stored
    }

    private static func refusal(_ problem: String) -> Refusal {
        Refusal(
            .badRequest, problem, code: "INVALID_SUBSCRIPTION",
            guidance: "Subscribe again, and send the new subscription")
    }

    private static func token(_ fields: [String: JSONValue], of platform: PushPlatform) throws -> String {
        guard case .string(let token) = fields["token"] else { throw Refusal.badRequest("Missing field token") }
        let bytes = token.utf8
        let isGood =
            switch platform {
            // The length is not fixed by Apple.
            case .ios: (64...200).contains(bytes.count) && bytes.count % 2 == 0 && bytes.allSatisfy(isHexadecimal)
            case .android, .web: (16...PushLimits.address).contains(bytes.count) && bytes.allSatisfy(isTokenByte)
            }
        guard isGood else {
            throw Refusal(.badRequest, "token is no token of \(platform.service)", code: "INVALID_TOKEN")
        }
        return platform == .ios ? token.lowercased() : token
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...102).contains(byte | 0x20)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 0x20)
            || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: ".")].contains(byte)
    }
}

extension Refusal {
    static func platform(_ provided: PushPlatform, offered: Set<PushPlatform>) -> Refusal {
        var refusal = Refusal(
            .unprocessableContent, "This directory sends nothing by \(provided.service)", code: "UNSUPPORTED_PLATFORM")
        refusal.details = [
            "provided": .string(provided.rawValue),
            "supported": .array(offered.map(\.rawValue).sorted().map { .string($0) }),
        ]
        return refusal
    }

    /// The directory has no push service.
    static let pushIsOff = Refusal(
        .notFound, "This directory sends no push messages", code: "push_off",
        guidance: "Ask the operator to write push: in herald-directory.yaml")
}
