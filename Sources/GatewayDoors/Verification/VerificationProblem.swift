// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import NIOHTTP1

/// Why a request for a verification is none (ATIS-1000082, 3GPP TS 24.229 Annex V.2.4.3.2).
package enum VerificationProblem: Error, Hashable, Sendable {
    case noBody
    /// A member that each request has.
    case missing(String)
    case path
    case mediaType
    /// A member of a wrong type, and what it must be.
    case invalid(String, String)
    /// A body that is no JSON object.
    case unreadable(String)
    case noLength
    case tooLarge
    case method
}

extension VerificationProblem {
    var status: HTTPResponseStatus {
        switch self {
        case .noBody, .missing, .invalid, .unreadable: .badRequest
        case .path: .notFound
        case .mediaType: .unsupportedMediaType
        case .noLength: .lengthRequired
        case .tooLarge: .payloadTooLarge
        case .method: .methodNotAllowed
        }
    }

    /// Identifier and text of ATIS-1000082. The text has places for the variables.
    private var message: (id: String, text: String) {
        switch self {
        case .noBody: ("SVC4000", "Missing request body")
        case .missing: ("SVC4001", "Missing mandatory parameter '%1'")
        case .path: ("SVC4003", "Requested resource was not found")
        case .mediaType: ("SVC4004", "Unsupported request body type, expected '%1'")
        case .invalid: ("SVC4005", "Invalid '%1' parameter value: %2")
        case .unreadable, .tooLarge: ("SVC4006", "Failed to parse received message body: %1")
        case .noLength: ("SVC4007", "Missing mandatory Content-Length header")
        case .method: ("POL4050", "Method not allowed")
        }
    }

    private var variables: [String] {
        switch self {
        case .missing(let name): [name]
        case .mediaType: ["application/json"]
        case .invalid(let name, let rule): [name, rule]
        case .unreadable(let cause): [cause]
        case .tooLarge: ["more than \(VerificationDesk.mostBody) bytes"]
        case .noBody, .path, .noLength, .method: []
        }
    }

    /// The text of 3GPP TS 24.229 Annex V.
    private var error: String {
        switch self {
        case .noBody: "Missing request body"
        case .missing: "Missing Mandatory Parameter"
        case .path: "Requested resource not found"
        case .mediaType: "Unsupported request body type"
        case .invalid: "Invalid Parameter Value"
        case .unreadable, .tooLarge: "Failed To Parse Message Body"
        case .noLength: "Missing mandatory Content-Length headers"
        case .method: "Method not allowed"
        }
    }

    /// The error in both forms, because a broken request does not show which one its client reads.
    var body: [UInt8] {
        var text = JSONText()
        text.object { object in
            object.add("requestError") { text in
                text.object { error in
                    error.add(message.id.hasPrefix("POL") ? "policyException" : "serviceException") { text in
                        text.object { exception in
                            exception.add("messageId", message.id)
                            exception.add("text", message.text)
                            exception.add("variables") { text in text.list(variables) { $1.string($0) } }
                        }
                    }
                }
            }
            object.add("error", error)
        }
        return text.bytes
    }
}
