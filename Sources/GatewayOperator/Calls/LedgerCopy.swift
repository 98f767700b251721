// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import GatewayStore
import Host

/// `herald backup`: copies the ledger into one file, beside the running gateway.
package struct LedgerCopy {
    private let folder: String

    /// - Parameter configuration: names the folder of the ledger.
    package init(_ configuration: HeraldConfiguration) { folder = configuration.state }

    /// Writes the copy to a new file, and its name to standard output.
    ///
    /// - Throws: `CommandFailure` with the reason.
    package func write(to path: String) throws {
        try CommandFailure.reported { try LedgerBackup.write(ofLedgerIn: folder, to: path) }
        Output.write("\(path) written\n")
    }
}
