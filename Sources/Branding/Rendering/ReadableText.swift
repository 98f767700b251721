// SPDX-License-Identifier: Apache-2.0

/// Text out of a message made fit for a record, a page and a terminal.
package enum ReadableText {
    /// Reads bytes as UTF-8, leaves out control characters, invisible ones and direction marks, makes runs of white space
    /// one blank, and cuts between characters.
    ///
    /// - Parameter maxBytes: the longest result in bytes of UTF-8.
    package static func clean(_ bytes: [UInt8], maxBytes: Int) -> String {
        HeaderText.clean(
            String(decoding: bytes, as: UTF8.self), maxBytes: maxBytes, maxCharacters: maxBytes,
            profile: RenderingProfile(percent: .keep))
    }
}
