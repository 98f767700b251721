// SPDX-License-Identifier: Apache-2.0

/// Makes text from SIP messages safe for records, pages and terminals.
package enum ReadableText {
    /// Decodes UTF-8, removes control characters, invisible characters and direction marks, collapses white space, and
    /// cuts between characters.
    ///
    /// - Parameter maxBytes: the largest result in bytes of UTF-8.
    package static func clean(_ bytes: [UInt8], maxBytes: Int) -> String {
        HeaderText.clean(
            String(decoding: bytes, as: UTF8.self), maxBytes: maxBytes, maxCharacters: maxBytes,
            profile: RenderingProfile(percent: .keep))
    }
}
