// SPDX-License-Identifier: Apache-2.0

import Crypto
import DirectoryStore
import Foundation
import Primitives
import WebPages

/// A picture that waits for its confirmation, in memory.
struct NewPicture: Sendable {
    /// The name that the person chose; empty for the logo of a brand.
    let name: String
    let data: Data
    let type: String

    /// Checks a file by the rules of the store.
    ///
    /// - Throws: `LogoStoreError`.
    init(_ file: PageFile, name: String = "") throws {
        data = Data(file.bytes)
        guard data.count <= LogoStore.limit else { throw LogoStoreError.tooLarge }
        guard let type = LogoRules.contentType(data) else { throw LogoStoreError.badType }
        (self.name, self.type) = (name, type)
    }

    /// A name from the letters of the brand and a hash of the bytes, so that no other logo is replaced.
    func name(for brand: String) -> String {
        let words = brand.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        let letters = words.joined(separator: "-").prefix(40)
        let digits = Hexadecimal.text(SHA256.hash(data: data)).prefix(8)
        return "\(letters.isEmpty ? "logo" : letters)-\(digits).\(type == "image/png" ? "png" : "jpg")"
    }
}
