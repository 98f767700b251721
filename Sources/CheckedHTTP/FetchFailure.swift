// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Primitives

/// Why a file of a foreign host could not be fetched. Texts of the host are escaped and truncated.
package enum FetchFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case unresolvable(String)
    /// The name resolves to a private network or another forbidden address.
    case forbiddenAddress(String)
    case network(String)
    case timeout(Duration)
    case redirect(Int)
    case status(Int)
    case tooLarge(limit: Int)

    /// True if the host has sent no response.
    package var isSilence: Bool {
        switch self {
        case .unresolvable, .network, .timeout: true
        case .forbiddenAddress, .redirect, .status, .tooLarge: false
        }
    }

    /// Label for metrics and tables.
    package var reason: String {
        switch self {
        case .unresolvable: "unresolvable"
        case .forbiddenAddress: "forbidden_address"
        case .network: "network"
        case .timeout: "timeout"
        case .redirect: "redirect"
        case .status: "status"
        case .tooLarge: "too_large"
        }
    }

    package var description: String {
        switch self {
        case .unresolvable(let host): "\(host) has no address"
        case .forbiddenAddress(let address): "\(address) is no public address"
        case .network(let reason): "the connection failed: \(reason)"
        case .timeout(let patience): "no complete response within \(patience)"
        case .redirect(let status): "it redirects (\(status)), which is not followed"
        case .status(let status): "the server returned \(status)"
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        }
    }
}

extension FetchFailure {
    /// Classifies an error of the HTTP client.
    init(_ error: any Error, connect: Duration, total: Duration) {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout:
            self = .timeout(total)
        case let error as HTTPClientError where error == .connectTimeout: self = .timeout(connect)
        default: self = .network(Self.shown("\(error)"))
        }
    }

    /// Text of a foreign host for logs and tables: escaped, at most 200 columns.
    package static func shown(_ text: some StringProtocol) -> String {
        TerminalText.cut(TerminalText.visible(text), to: 200)
    }
}
