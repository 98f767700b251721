// SPDX-License-Identifier: Apache-2.0

import Branding
package import DirectoryStore

/// A brand entry of a number.
package func entry(
    _ number: String, _ name: String = "Acme Bank", logo: String? = nil, reason: String? = nil
) throws -> BrandEntries.Entry {
    guard let number = E164Number(number) else { throw NoNumber(text: number) }
    return BrandEntries.Entry(number: number, name: name, brandID: "acme", logoURL: logo, callReason: reason)
}

/// A test gave a text that is no number.
private struct NoNumber: Error {
    let text: String
}
