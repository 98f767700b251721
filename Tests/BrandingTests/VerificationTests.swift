// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Branding

@Suite("Verification, 3GPP TS 24.229 §7.2A.20")
struct VerificationTests {
    @Test(arguments: [
        ("TN-Validation-Passed", Verification.passedA),
        ("TN-Validation-Passed-A", .passedA),
        ("TN-Validation-Passed-B", .passedB),
        ("TN-Validation-Passed-C", .passedC),
        ("tn-validation-passed-c", .passedC),
        ("TN-VALIDATION-PASSED", .passedA),
        ("\"TN-Validation-Passed-B\"", .passedB),
        ("TN-Validation-Failed", .failed),
        ("TN-VALIDATION-FAILED", .failed),
        ("TN-Validation-Failed-A", .failed),
        ("No-TN-Validation", .none),
        ("TN-VALIDATION-NOT-PRESENT", .none),
        ("TN-Validation-Passed-D", .none),
        ("TN-Validation-Passed ", .none),
        ("Passed", .none),
        ("", .none),
        (String(repeating: "TN-Validation-Passed", count: 100), .none),
    ])
    func `verstat ignores case, and an unknown value counts as unchecked`(
        text: String, expected: Verification
    ) {
        #expect(Verification(verstat: Array(text.utf8)[...]) == expected)
    }
}
