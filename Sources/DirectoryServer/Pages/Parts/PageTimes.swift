// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import Primitives

extension LocalZone {
    /// An ISO 8601 time as `2026-11-27 21:40:05 CET (20:40:05 UTC)`; `never` without one.
    func shown(_ time: String?) -> String {
        guard let time else { return "never" }
        guard let seconds = Timestamp.seconds(from: time) else { return String(time.prefix(40)) }
        return withUTC(seconds)
    }

    /// The same in a cell of a table, with UTC below.
    func cell(_ time: String?) -> PageTable.Cell {
        guard let seconds = time.flatMap({ Timestamp.seconds(from: $0) }) else { return .text(shown(time)) }
        return PageTable.Cell(cellTime: text(seconds), cellDetail: utc(beside: seconds))
    }

    /// The time in seconds since 1970 of a text of a browser's field, such as `2026-11-27T09:30`; nil for another text.
    ///
    /// A text without a zone is local. An hour that the clock has twice begins with its first time.
    func seconds(ofField text: String) -> Int64? {
        let whole: String? =
            switch text.utf8.count {
            case 10: text + "T00:00:00Z"
            case 16: text + ":00Z"
            case 19: text + "Z"
            default: nil
            }
        if let local = whole.flatMap({ Timestamp.seconds(from: $0) }) { return first(ofLocal: local) }
        return Timestamp.seconds(from: text)
    }
}
