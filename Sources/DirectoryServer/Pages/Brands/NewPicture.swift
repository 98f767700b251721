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
    let picture: LogoIntake.Kept

    init(_ picture: LogoIntake.Kept, name: String = "") { (self.picture, self.name) = (picture, name) }

    /// Decodes and converts a file.
    ///
    /// - Throws: `LogoIntakeError`.
    init(_ file: PageFile, name: String = "", _ intake: LogoIntake) async throws {
        self.init(try await intake.kept(Data(file.bytes)), name: name)
    }

    /// A name from the letters of the brand and a hash of the bytes, so that no other logo is replaced.
    func name(for brand: String) -> String {
        let words = brand.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        let letters = words.joined(separator: "-").prefix(40)
        let digits = Hexadecimal.text(SHA256.hash(data: picture.data)).prefix(8)
        return "\(letters.isEmpty ? "logo" : letters)-\(digits).\(picture.type == "image/png" ? "png" : "jpg")"
    }
}
