// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

@Suite("Bench")
struct BenchTests {
    @Test func `what the bench works out itself is right`() async throws {
        let test = Repository.root.appendingPathComponent("Deploy/bench.d/test_bench.py").path
        let python = try await ChildProgram.run("python3", [test])
        #expect(python.code == 0, "\(python.errors)")
        #expect(python.errors.contains("\nOK"), "\(python.errors)")
    }
}
