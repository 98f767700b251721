// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import GatewayOperator

@Suite("Why there is a logo or none")
struct LogoResponseTests {
    private static let url = "https://logos.example.com/a.png"
    private static let http = "http://192.0.2.80/logos/a.png"
    private static let own = "http://192.0.2.10:9480/logos/0f-128x128.png"

    static func response(
        _ named: String?, _ shown: String?, info: Bool = true, insecure: Bool = false, copy: LogoResponse.Copy? = nil
    ) -> LogoResponse {
        LogoResponse(
            named: named, shown: shown, writesCallInfo: info, allowsInsecure: insecure, copy: copy)
    }

    @Test(arguments: [
        (response(url, url), url),
        (response(nil, nil), "none, the directory names none for this brand"),
        (response(url, url, info: false), "none, branding.call_info is false"),
        (
            response(http, nil),
            "none, its URL is http: give the brand an https URL, or let section logos of herald.yaml keep copies "
                + "(branding.allow_insecure_logos sends it unprotected): \(http)"
        ),
        (response(http, http, insecure: true), http),
        (response("https://u:p@x/{a}", nil), "none, its URL is not allowed in a header: https://u:p@x/{a}"),
        (response(url, own, copy: .init(problem: nil)), "\(own) (copy of \(url))"),
        (
            response(url, url, copy: .init(problem: "the server returned 404")),
            "\(url) (no copy: the server returned 404)"
        ),
        (
            response(url, nil, copy: .init(problem: nil)),
            "none, no copy yet: the gateway fetches it after a sync; see herald logos, and logos.missing is none: \(url)"
        ),
        (
            response(http, nil, copy: .init(problem: "it is http; https is asked for unless logos.allow_http")),
            "none, no copy: it is http; https is asked for unless logos.allow_http, and calls get no http URL in its "
                + "place: \(http)"
        ),
        // A directory of the README: http on the loopback, and the file of the logo is missing.
        (
            response(http, nil, copy: .init(problem: "the server returned 404")),
            "none, no copy: the server returned 404, and calls get no http URL in its place: \(http)"
        ),
        (
            response(http, nil, copy: .init(problem: nil)),
            "none, no copy yet: the gateway fetches it after a sync; see herald logos, and calls get no http URL in its "
                + "place: \(http)"
        ),
    ]) func `each kind has its reason and its key`(response: LogoResponse, text: String) {
        #expect(response.text == text)
        #expect((response.obstacle == nil) == !text.hasPrefix("none"))
    }
}
