// SPDX-License-Identifier: Apache-2.0

/// Comparison of provider codes with those that an operator writes.
///
/// A code of RFC 8226 §9 is any IA5String. The codes in use have digits and capital letters (ATIS-0300251), so no two
/// providers differ in case alone, and `123a` in a configuration means 123A.
public enum ProviderCode {
    /// The form in which two spellings of one code are equal.
    public static func folded(_ code: String) -> String { code.uppercased() }
}

extension AuthorityList {
    /// Whether one of the codes is among codes in folded form.
    public func hasCode(in folded: Set<String>) -> Bool {
        !folded.isEmpty && codes.contains { folded.contains(ProviderCode.folded($0)) }
    }
}
