// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import CallAccounting
import CallPath
import NIOHTTP1

/// The cause for which a report of a call is not taken.
package enum OutcomeProblem: Error, Hashable, Sendable {
    case path
    case method
    case mediaType
    case tooLarge
    /// The body is neither JSON nor a form, as its media type states.
    case unreadable
    /// A member is absent; its name.
    case missing(String)
    /// A member has a value of no use; its name and the rule.
    case invalid(String, String)
    /// More reports of one client than the door takes in a second.
    case rate
    /// The call is not stored yet, and may be reported again.
    case notStored

    /// The status of the response; a client may repeat a report after 429 and 503 alone.
    var status: HTTPResponseStatus {
        switch self {
        case .path: .notFound
        case .method: .methodNotAllowed
        case .mediaType: .unsupportedMediaType
        case .tooLarge: .payloadTooLarge
        case .unreadable, .missing, .invalid: .badRequest
        case .rate: .tooManyRequests
        case .notStored: .serviceUnavailable
        }
    }

    /// The cause and the rule, without any value of the request.
    var text: String {
        switch self {
        case .path: "the paths are \(OutcomeDesk.paths.joined(separator: " and "))"
        case .method: "the method is POST"
        case .mediaType: "Content-Type must be application/json or application/x-www-form-urlencoded"
        case .tooLarge: "a report has less than \(OutcomeDesk.mostBody) bytes"
        case .unreadable: "the body is no JSON object"
        case .missing(let name): "\(name) is missing"
        case .invalid(let name, let rule): "\(name) \(rule)"
        case .rate: "too many reports a second: send this one again"
        case .notStored: "the call is not stored: send this report again"
        }
    }
}

extension DoorResponse {
    /// The response to a report that is not taken.
    package init(_ problem: OutcomeProblem) {
        var text = JSONText()
        text.object { $0.add("problem", problem.text) }
        self.init(problem.status, text.bytes, "application/json")
        switch problem {
        case .method: fields = [Field("Allow", "POST")]
        case .rate, .notStored: fields = [Field("Retry-After", "1")]
        default: break
        }
    }

    /// The response to a report of a call that is stored.
    package init(_ taken: OutcomeIntake.Taken) {
        var text = JSONText()
        text.object { object in
            switch taken {
            case .ignored: object.add("ignored", true)
            case .known(let call):
                object.add("call_event_id", call.description)
                object.add("known", true)
            case .stored(let report):
                object.add("call_event_id", report.call.description)
                object.add("decision", report.reason?.description ?? "matched")
                object.add("shown", report.isShown)
            }
        }
        self.init(.ok, text.bytes, "application/json")
    }
}
