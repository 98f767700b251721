// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Primitives

extension BrandList.Brand {
    /// Identifies the present values of a brand: 16 hexadecimal digits, equal for equal values.
    ///
    /// A form carries it, so that the values of another person are not overwritten unseen. The time of a change has whole
    /// seconds, in which two persons can save.
    package var version: String {
        var hash = SHA256()
        for text in [id, name, logo ?? "", reason ?? "", owner.rawValue] {
            // A length before each text keeps two texts from reading as one.
            hash.update(data: Data("\(text.utf8.count):\(text)".utf8))
        }
        return String(Hexadecimal.text(hash.finalize()).prefix(16))
    }
}
