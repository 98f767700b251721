// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
package import SIPCore

extension Secret {
    /// Bytes of a secret in its file.
    package static let size = 16

    /// The secret of a file's bytes, of which there are `size`.
    package init(bytes: [UInt8]) {
        func word(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(key0: word(0..<8), key1: word(8..<16))
    }
}

extension HeraldConfiguration {
    /// The secret of the gateway, for a command that runs beside it; nil if the command may not read it.
    package var storedSecret: Secret? {
        if let secret = cluster?.secret { return secret }
        return [state, runtime].lazy.compactMap { folder in
            FileManager.default.contents(atPath: folder + "/secret").map { [UInt8]($0) }
        }.first { $0.count == Secret.size }.map(Secret.init(bytes:))
    }
}
