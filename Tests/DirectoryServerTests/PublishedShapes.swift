// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Foundation
import TestFixtures

/// The shapes of responses in the published description of the contract; phones depend on them.
///
/// Source: securenode-ios-sdk, docs/openapi.yaml; the words here are our own.
enum PublishedShapes {
    indirect enum Shape: Sendable {
        case text
        /// RFC 3339 with at most nine digits of fraction, as java.time reads it.
        case time
        case truth
        /// A whole number of 0 or more.
        case count
        case oneOf([String])
        case exactly(Bool)
        case list(Shape)
        case nullable(Shape)
        case either(Shape, Shape)
        case anything
        case open(needed: [String: Shape], also: [String: Shape])
        case closed(needed: [String: Shape], also: [String: Shape])
    }

    /// The problem of a response; nil if the description allows it.
    static func problem(of response: ReceivedResponse, to method: String, _ path: String) -> String? {
        let operation = "\(method) \(path)"
        guard let statuses = statuses[operation] else { return nil }
        guard statuses.contains(response.status) else { return "\(operation): status \(response.status)" }
        guard let value = try? JSONValue(parsing: response.body) else { return "\(operation): no JSON" }
        let shape = response.status < 300 ? bodies[operation] ?? success : refusal
        return problem(value, shape, operation)
    }

    private static let refusal = Shape.open(
        needed: ["success": .exactly(false), "error": .text], also: ["code": .nullable(.text)])
    private static let success = Shape.closed(needed: ["success": .exactly(true)], also: [:])

    private static let statuses: [String: Set<Int>] = [
        "GET \(APIPath.sync)": [200, 401, 429], "POST \(APIPath.sync)": [200, 401, 429],
        "GET \(APIPath.lookup)": [200, 401, 429], "POST \(APIPath.event)": [200, 202, 400, 401, 429],
        "POST \(APIPath.register)": [200, 400, 401, 429], "POST \(APIPath.update)": [200, 401, 404, 429],
        "POST \(APIPath.deviceLog)": [200, 401, 429], "POST \(APIPath.debugUpload)": [200, 401, 403, 409, 413, 429],
    ]

    private static let bodies: [String: Shape] = [
        "GET \(APIPath.sync)": .closed(
            needed: ["success": .exactly(true), "branding": .list(item), "synced_at": .time, "config": config],
            also: [:]),
        "POST \(APIPath.sync)": .closed(needed: ["success": .exactly(true), "last_synced_at": .time], also: [:]),
        "GET \(APIPath.lookup)": .either(lookup, publicLookup),
        "POST \(APIPath.event)": .open(
            needed: ["success": .exactly(true), "outcome": .text, "counted": .truth, "displayed_at": .time],
            also: [
                "accepted": .nullable(.truth), "partial": .nullable(.truth), "warning_code": .nullable(.text),
                "event_id": .nullable(.text), "imprint_id": .nullable(.text), "reason": .nullable(.text),
                "config": config,
            ]),
        "POST \(APIPath.register)": .closed(
            needed: ["success": .exactly(true), "device": .open(needed: [:], also: [:])], also: [:]),
        "POST \(APIPath.update)": .closed(needed: ["success": .exactly(true), "updated_at": .time], also: [:]),
        "POST \(APIPath.debugUpload)": .closed(needed: ["success": .exactly(true), "id": .text], also: [:]),
    ]

    private static let item = Shape.closed(
        needed: ["phone_number_e164": .text, "brand_name": .text, "brand_id": .text, "updated_at": .time],
        also: ["logo_url": .nullable(.text), "call_reason": .nullable(.text)])

    private static let config = Shape.open(
        needed: [
            "mode": .oneOf(["testing", "live"]), "branding_enabled": .truth, "voip_dialer_enabled": .truth,
            "account_status": .text, "client_id": .text,
            "debug_ui": .closed(
                needed: [
                    "enabled": .truth, "request_upload": .truth, "expires_at": .nullable(.time), "allow_export": .truth,
                ], also: [:]),
        ],
        also: [
            "used_this_month": .count, "cap_this_month": .nullable(.count), "included_imprints_monthly": .count,
        ])

    private static let lookup = Shape.open(
        needed: ["success": .exactly(true), "e164": .text],
        also: [
            "brand_name": .nullable(.text), "logo_url": .nullable(.text), "call_reason": .nullable(.text),
            "brand_id": .nullable(.text), "config": config,
        ])

    private static let publicLookup = Shape.closed(
        needed: [
            "matched": .truth, "displayed": .truth, "call_reason": .nullable(.text),
            "source": .oneOf(["cache", "live", "none"]),
            "brand": .nullable(.closed(needed: ["name": .text, "logo": .nullable(.text)], also: [:])),
        ], also: [:])

    private static func problem(_ value: JSONValue, _ shape: Shape, _ place: String) -> String? {
        let isRight =
            switch (shape, value) {
            case (.anything, _), (.text, .string), (.truth, .bool), (.nullable, .null): true
            case (.time, .string(let text)): isTime(text)
            case (.count, .int(let number)): number >= 0
            case (.oneOf(let words), .string(let word)): words.contains(word)
            case (.exactly(let flag), .bool(let value)): flag == value
            default: false
            }
        if isRight { return nil }
        switch (shape, value) {
        case (.nullable(let inner), _): return problem(value, inner, place)
        case (.either(let one, let other), _):
            guard problem(value, one, place) != nil else { return nil }
            return problem(value, other, place)
        case (.list(let inner), .array(let values)):
            return values.lazy.compactMap { problem($0, inner, place + "[]") }.first
        case (.open(let needed, let also), .object(let fields)): return problem(fields, needed, also, place)
        case (.closed(let needed, let also), .object(let fields)):
            let unknown = fields.keys.first { needed[$0] == nil && also[$0] == nil }
            return unknown.map { "\(place): unknown field \($0)" } ?? problem(fields, needed, also, place)
        default: return "\(place): \(value)"
        }
    }

    private static func problem(
        _ fields: [String: JSONValue], _ needed: [String: Shape], _ also: [String: Shape], _ place: String
    ) -> String? {
        if let missing = needed.keys.first(where: { fields[$0] == nil }) { return "\(place): no \(missing)" }
        return fields.lazy.compactMap { name, value in
            (needed[name] ?? also[name]).flatMap { problem(value, $0, "\(place).\(name)") }
        }.first
    }

    private static func isTime(_ text: String) -> Bool {
        text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)/) != nil
    }
}
