// SPDX-License-Identifier: Apache-2.0

import ChildPrograms
import Foundation
import Testing

@Suite("Test programs in Python")
struct BenchTests {
    @Test(arguments: [
        "Bench.test_bench", "Bench.test_doors", "Bench.test_trust", "heraldtest.test_demo",
        "heraldtest.test_heraldtest", "heraldtest.test_picture", "Package.test_image", "Package.test_package",
        "Package.test_sign",
    ])
    func `the test programs calculate and count correctly`(module: String) async throws {
        let packages = "PYTHONPATH=" + Repository.root.appendingPathComponent("Tests").path
        let python = try await ChildProgram.run("env", [packages, "python3", "-B", "-m", "unittest", module])
        #expect(python.code == 0, "\(python.errors)")
        #expect(python.errors.contains("\nOK"), "\(python.errors)")
    }
}
