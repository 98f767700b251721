// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Bench")
struct BenchTests {
    @Test func `what the bench works out itself is right`() throws {
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", Repository.root.appendingPathComponent("Deploy/bench.d/test_bench.py").path]
        let output = Pipe()
        python.standardError = output
        try python.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        python.waitUntilExit()
        #expect(python.terminationStatus == 0, "\(text)")
        #expect(text.contains("\nOK"), "\(text)")
    }
}
