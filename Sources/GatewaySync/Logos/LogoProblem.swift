// SPDX-License-Identifier: Apache-2.0

package import CheckedHTTP

/// Why a logo could not be fetched.
///
/// The last good copy stays in use, and calls are not affected. Texts of foreign servers are escaped and truncated
/// before they are stored here.
package enum LogoProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case badURL
    case hostNotAllowed(String)
    case insecure
    case fetch(FetchFailure)
    case notAPicture
    /// A format that phones do not decode, while logos are not scaled.
    case notForPhones(format: String)
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
        case .fetch(let failure): failure.reason
        case .notAPicture: "not_a_picture"
        case .notForPhones: "not_for_phones"
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
        case .fetch(.forbiddenAddress(let address)): "\(address) is no public address; see logos.allow_private"
        case .fetch(.redirect(let status)):
            "it redirects (\(status)), which is not followed; let the directory name the target"
        case .fetch(.status(let status)) where status == 404 || status == 410:
            "the server returned \(status); correct the brand's logo_url, or put the file there"
        case .fetch(.tooLarge(let limit)): "it is larger than the \(limit) bytes of logos.max_file"
        case .fetch(let failure): failure.description
        case .notAPicture: "it is no PNG, JPEG, WebP, GIF, AVIF or HEIC, whatever its Content-Type is"
        case .notForPhones(let format): "phones do not decode \(format); set logos.scale: true, or use a PNG or JPEG"
        case .cut: "the picture is cut short"
        case .tooManyPixels(let width, let height, let limit):
            "\(width) by \(height) pixels are more than the \(limit) of logos.max_pixels"
        case .scaling(let reason): "it cannot be made a square: \(reason)"
        case .disk(let reason): reason
        }
    }
}
