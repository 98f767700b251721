// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import DirectoryServer
import Host

extension PushConfiguration {
    /// The push services of the configuration.
    ///
    /// - Throws: `CommandFailure` with key, file and remedy.
    func gateway() throws -> PushGateway {
        do {
            return try PushGateway(self)
        } catch {
            throw CommandFailure("push: \(error)")
        }
    }
}
