// SPDX-License-Identifier: Apache-2.0

import GatewayAdmin
import Testing

@Suite("Why there is a logo or none")
struct LogoResponseTests {
    private static let url = "https://logos.example.com/a.png"
    private static let http = "http://192.0.2.80/logos/a.png"
    private static let own = "http://192.0.2.10:9480/logos/0f-128x128.png"

    static func answer(
        _ named: String?, _ shown: String?, info: Bool = true, insecure: Bool = false, copy: LogoResponse.Copy? = nil
    ) -> LogoResponse {
        LogoResponse(
            named: named, shown: shown, writesCallInfo: info, allowsInsecure: insecure, copy: copy)
    }

    @Test(arguments: [
        (answer(url, url), url),
        (answer(nil, nil), "none, the directory names none for this brand"),
        (answer(url, url, info: false), "none, branding.call_info is false"),
        (answer(http, nil), "none, http is refused unless branding.allow_insecure_logos is true: \(http)"),
        (answer(http, http, insecure: true), http),
        (answer("https://u:p@x/{a}", nil), "none, its URL may not stand in a header: https://u:p@x/{a}"),
        (answer(url, own, copy: .init(problem: nil)), "\(own) (copy of \(url))"),
        (
            answer(url, url, copy: .init(problem: "the server returned 404")),
            "\(url) (no copy yet: the server returned 404)"
        ),
        (
            answer(url, nil, copy: .init(problem: nil)),
            "none, no copy yet: the gateway fetches it after a sync; see herald logos, and logos.missing is none: \(url)"
        ),
        (
            answer(http, nil, copy: .init(problem: "it is http; https is asked for unless logos.allow_http")),
            "none, http is refused unless branding.allow_insecure_logos is true: \(http)"
        ),
    ]) func `each kind has its reason and its key`(answer: LogoResponse, text: String) {
        #expect(answer.text == text)
        #expect((answer.obstacle == nil) == !text.hasPrefix("none"))
    }
}
