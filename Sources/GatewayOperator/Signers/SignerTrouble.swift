// SPDX-License-Identifier: Apache-2.0

/// The texts for stored signers that the gateway cannot use, with the effect on its calls.
enum SignerTrouble {
    /// - Parameters:
    ///   - error: path, cause and remedy.
    ///   - hasSigners: whether signers of an earlier time are in memory.
    static func unreadable(_ error: any Error, hasSigners: Bool) -> String {
        "the signers of calls cannot be read, and \(effect(hasSigners)): \(error)"
    }

    static func undecided(_ error: any Error, hasSigners: Bool) -> String {
        "the signers of calls cannot be decided anew, and \(effect(hasSigners)): \(error)"
    }

    private static func effect(_ hasSigners: Bool) -> String {
        hasSigners ? "the former ones stay in use" : "no signed call finds its signer"
    }
}
