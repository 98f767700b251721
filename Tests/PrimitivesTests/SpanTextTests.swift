// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Durations in two units")
struct SpanTextTests {
    @Test(
        arguments: [
            (-1, "0 s"), (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"),
            (86_399, "23 h 59 min"), (86_400, "1 d 0 h"), (363_599, "4 d 4 h"),
        ] as [(Int64, String)])
    func `a duration has its two largest units`(seconds: Int64, text: String) {
        #expect(SpanText.of(seconds) == text)
    }
}
