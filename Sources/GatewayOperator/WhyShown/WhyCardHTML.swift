// SPDX-License-Identifier: Apache-2.0

import Foundation
import WebPages

/// A card as one HTML file: no script, nothing from outside, and the logo as a `data:` URL.
///
/// The file has its own Content-Security-Policy, so that a mail program or a ticket system loads nothing either.
struct WhyCardHTML {
    let card: WhyCard

    private static let style = """
        body{font:15px/1.45 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
        h1{font-size:1.3rem}h2{font-size:1rem;margin:1.6rem 0 .3rem}
        table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-top:1px solid #ddd;overflow-wrap:anywhere}
        th{width:11rem;font-weight:600}
        .phone{display:flex;gap:1rem;align-items:center;border:1px solid #999;border-radius:.8rem;padding:1rem;max-width:24rem}
        .phone p{margin:0}.name{font-size:1.2rem;font-weight:600}.soft{color:#555}
        """
    private static let policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
        <meta name="viewport" content="width=device-width">
        <meta name="referrer" content="no-referrer">
        <title>\(safe(card.title))</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>\(safe(card.title))</h1>
        \(phone)\(card.parts.map(table).joined())</body>
        </html>

        """
    }

    private var phone: String {
        guard let phone = card.phone else { return "" }
        let image = card.picture.map { picture in
            "<img src=\"data:\(picture.type);base64,\(Data(picture.bytes).base64EncodedString())\" alt=\"Logo\" "
                + "width=\"64\" height=\"64\">"
        }
        let reason = phone.callReason.map { "<p>\(safe($0))</p>" } ?? ""
        let number = phone.number.map { "<p class=\"soft\">\(safe($0))</p>" } ?? ""
        return """
            <h2>\(safe(phone.title))</h2>
            <div class="phone">\(image ?? "")<div><p class="name">\(safe(phone.name))</p>\(reason)\(number)</div></div>

            """
    }

    private func table(_ part: WhyCard.Part) -> String {
        let rows = part.rows.map { "<tr><th scope=\"row\">\(safe($0.name))</th><td>\(safe($0.value))</td></tr>\n" }
        return "<h2>\(safe(part.title))</h2>\n<table>\n\(rows.joined())</table>\n"
    }

    private func safe(_ text: String) -> String { PageText().escapeText(text) }
}
