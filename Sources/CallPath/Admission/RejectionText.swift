// SPDX-License-Identifier: Apache-2.0

import SIPCore

// Rejected messages in words: the message and its sender, the cause, the remedy.

extension Rejection {
    /// False if another log line covers the message: that of the gateway's stop, or that of scanners.
    var isWorthALine: Bool { sender != .scanner && cause != .draining }

    /// The log line: `INVITE from 198.51.100.9:5060 rejected (403): no trunk or pbx lists this address in sources`.
    func line(_ messages: UInt64) -> String {
        let times = messages > 1 ? ", \(messages) messages" : ""
        return
            "\(methodText) from \(source)\(peer.map { " (\($0))" } ?? "") \(outcome)\(times): \(causeText); \(remedy)"
    }

    /// The method of the request, or the status and method of the response.
    public var methodText: String {
        let method = method.isEmpty ? "message" : method.visible
        return responseStatus == 0 ? method : "response \(responseStatus) to \(method)"
    }

    private var outcome: String { status == 0 ? "dropped" : "rejected (\(status))" }

    /// The configured peer with its kind; nil for an unknown sender.
    public var peer: String? {
        switch sender {
        case .unknown, .scanner: nil
        case .trunk(let name): "trunk \(name)"
        case .pbx(let name): "pbx \(name)"
        }
    }

    /// Why it was rejected, without the remedy.
    public var causeText: String {
        switch cause {
        case _ where sender == .scanner: "its User-Agent names a known scanner"
        case .unlisted: "no trunk or pbx lists this address in sources"
        case .otherPortOrCertificate: "sources list this address with another port, or for another certificate"
        case .brokenRule: "\(phrase)" + (detail.isEmpty ? "" : " \"\(detail.visible)\"")
        case .messageSize: "\(size.measured) bytes\(longestField), above limits.max_message (\(size.limit))"
        case .fieldCount: "\(size.measured) header fields\(longestField), above limits.max_headers (\(size.limit))"
        case .datagramSize: "\(size.measured) bytes\(longestField) as forwarded, above \(size.limit) of a UDP datagram"
        case .tooLate: "the caller had got a failure of Herald, so the callee is hung up"
        case .loop: "the request came back as it had left"
        case .transactions: "limits.max_transactions is reached"
        case .overload: "more comes in than this machine carries"
        case .pause: "herald did not run for two seconds or more, and the sender repeats what it still wants"
        case .rate: "limits.calls_per_second of the trunk or the route is reached"
        case .number: "limits.calls of the trunk or the route is reached"
        case .draining: "the gateway stops"
        case .noTarget: "no target is up, or the last one did not respond"
        case .noRoute: "no route has the called number"
        case .signature: "the signature of the call failed: \(phrase)"
        case .testCall: "a test call is admitted from this address and port, by another Call-ID"
        }
    }

    /// The longest header field, as far as it has a name that can be printed.
    private var longestField: String {
        detail.isEmpty ? "" : ", the longest field is \(detail.visible) with \(size.longestField) bytes"
    }

    private var remedy: String {
        switch cause {
        case .unlisted: "add it to sources if it is yours"
        case .otherPortOrCertificate: "list the address without a port, or compare certificate_names"
        case .brokenRule where status == 483: "look for a loop in the routes"
        case .brokenRule: "the sender must correct its \(responseStatus == 0 ? "requests" : "responses")"
        case .messageSize where size.limit >= 65_535: "the sender must send less, as no datagram holds more"
        case .messageSize, .fieldCount: "raise it, or let the sender send less"
        case .datagramSize: "reach the target by TCP or TLS"
        case .tooLate: "let the target send 100 at once, or raise health.last_patience and timers.timer_c"
        case .loop: "look for a route from the peer back to Herald"
        case .transactions: "give the gateway more memory, or raise limits.max_transactions"
        case .overload: "spread the calls over more workers or gateways"
        case .pause: "find out what stopped the process: a frozen machine, or too few cores"
        case .rate, .number: "raise it if these calls are wanted"
        case .draining: "try again later"
        case .noTarget: "see the targets in /status"
        case .noRoute: "add the number to a route, or set routes.default: trunk"
        case .signature: "herald calls --outcome failed lists these calls, and herald calls show has signer and cause"
        case .testCall: "find the program of this machine that sends from there"
        }
    }
}
