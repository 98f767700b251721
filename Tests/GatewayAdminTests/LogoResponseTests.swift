// SPDX-License-Identifier: Apache-2.0

import GatewayAdmin
import Testing

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
        (response(http, nil), "none, http is refused unless branding.allow_insecure_logos is true: \(http)"),
        (response(http, http, insecure: true), http),
        (response("https://u:p@x/{a}", nil), "none, its URL is not allowed in a header: https://u:p@x/{a}"),
        (response(url, own, copy: .init(problem: nil)), "\(own) (copy of \(url))"),
        (
            response(url, url, copy: .init(problem: "the server returned 404")),
            "\(url) (no copy yet: the server returned 404)"
        ),
        (
            response(url, nil, copy: .init(problem: nil)),
            "none, no copy yet: the gateway fetches it after a sync; see herald logos, and logos.missing is none: \(url)"
        ),
        (
            response(http, nil, copy: .init(problem: "it is http; https is asked for unless logos.allow_http")),
            "none, http is refused unless branding.allow_insecure_logos is true: \(http)"
        ),
    ]) func `each kind has its reason and its key`(response: LogoResponse, text: String) {
        #expect(response.text == text)
        #expect((response.obstacle == nil) == !text.hasPrefix("none"))
    }
}
