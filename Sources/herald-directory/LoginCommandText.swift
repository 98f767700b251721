// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

extension StateOptions {
    /// The command that makes an admin key for the database of these options, as a person copies it.
    var keyCommand: String {
        var (words, user) = (["herald-directory", "admin-keys", "add", "NAME"], String?.none)
        if database != nil {
            // The URL can have a password.
            words += ["--database", "URL"]
        } else if let state {
            words += ["--state", Self.absolute(state)]
        } else if let config, config != Self.defaultFile {
            words += ["--config", Self.absolute(config)]
        } else if file != nil, geteuid() != 0 {
            // The server of the packages, whose user owns the database.
            user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
        }
        let prefix = user.map { ["sudo", "-u", $0] } ?? []
        return (prefix + words).map(Self.quoted).joined(separator: " ")
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

    /// A word for a POSIX shell, quoted if it has other characters than those of names and paths.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy {
                (97...122).contains($0 | 0x20) || (48...57).contains($0) || "-_./:=@%+,".utf8.contains($0)
            }
        return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
