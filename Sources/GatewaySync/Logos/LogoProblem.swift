// SPDX-License-Identifier: Apache-2.0

/// Why a logo could not be fetched.
///
/// The last good copy stays in use, and calls are not affected. Texts of foreign servers are escaped and truncated
/// before they are stored here.
package enum LogoProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case badURL
    case hostNotAllowed(String)
    case insecure
    case unresolvable(String)
    /// The name resolves to a private network or another forbidden address.
    case forbiddenAddress(String)
    case network(String)
    case timeout(Duration)
    case redirect(Int)
    case status(Int)
    case tooLarge(limit: Int)
    case notAPicture
    case cut
    case tooManyPixels(width: Int, height: Int, limit: Int)
    case scaling(String)
    case disk(String)

    /// Label for metrics and tables.
    package var reason: String {
        switch self {
        case .badURL: "bad_url"
        case .hostNotAllowed: "host_not_allowed"
        case .insecure: "insecure"
        case .unresolvable: "unresolvable"
        case .forbiddenAddress: "forbidden_address"
        case .network: "network"
        case .timeout: "timeout"
        case .redirect: "redirect"
        case .status: "status"
        case .tooLarge: "too_large"
        case .notAPicture: "not_a_picture"
        case .cut: "cut"
        case .tooManyPixels: "too_many_pixels"
        case .scaling: "scaling"
        case .disk: "disk"
        }
    }

    package var description: String {
        switch self {
        case .badURL: "it is no http or https URL with a host and without a user"
        case .hostNotAllowed(let host): "\(host) is not among logos.hosts"
        case .insecure: "it is http; https is asked for unless logos.allow_http"
        case .unresolvable(let host): "\(host) has no address"
        case .forbiddenAddress(let address): "\(address) is no public address; see logos.allow_private"
        case .network(let reason): "the connection failed: \(reason)"
        case .timeout(let patience): "no complete response within \(patience)"
        case .redirect(let status): "it redirects (\(status)), which is not followed; let the directory name the target"
        case .status(let status) where status == 404 || status == 410:
            "the server returned \(status); correct the brand's logo_url, or put the file there"
        case .status(let status): "the server returned \(status)"
        case .tooLarge(let limit): "it is larger than the \(limit) bytes of logos.max_file"
        case .notAPicture: "it is neither PNG nor JPEG, whatever its Content-Type is"
        case .cut: "the picture is cut short"
        case .tooManyPixels(let width, let height, let limit):
            "\(width) by \(height) pixels are more than the \(limit) of logos.max_pixels"
        case .scaling(let reason): "it cannot be made a square: \(reason)"
        case .disk(let reason): reason
        }
    }
}
