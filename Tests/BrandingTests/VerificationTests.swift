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
        ("Passed", .none),
        ("", .none),
        // Twilio, "Trusted calling with SHAKEN/STIR": each level also of diverted and of passed on calls.
        ("TN-Validation-Passed-A-Diverted", .passedA), ("TN-Validation-Passed-B-Diverted", .passedB),
        ("TN-Validation-Passed-C-Diverted", .passedC), ("TN-Validation-Passed-A-Passthrough", .passedA),
        ("TN-Validation-Passed-B-Passthrough", .passedB), ("TN-Validation-Passed-C-Passthrough", .passedC),
        ("TN-Validation-Failed-A-Diverted", .failed), ("TN-Validation-Failed-C-Passthrough", .failed),
        // Twilio: "was unable to verify the contents of the SHAKEN PASSporT".
        ("NULL", .failed), ("null", .failed), ("Nullarbor", .none),
        // Text behind the level, whatever separates it.
        ("tn-validation-passed-c;x", .passedC), ("TN-Validation-Passed_B", .passedB),
        ("TN-Validation-Passed-B ", .passedB),
        ("TN-Validation-Passed ", .passedA), ("TN-Validation-Passed-", .passedC),
        // A level that cannot be read is not taken for a better one.
        ("TN-Validation-Passed-D", .passedC), ("TN-Validation-Passed-AB", .passedC),
        ("TN-Validation-Passed-Diverted", .passedC), ("TN-Validation-PassedA", .passedC),
        (String(repeating: "TN-Validation-Passed", count: 100), .passedC),
    ])
    func `the level of verstat is read, and what follows it is ignored`(
        text: String, expected: Verification
    ) {
        #expect(Verification(verstat: Array(text.utf8)[...]) == expected)
    }
}
