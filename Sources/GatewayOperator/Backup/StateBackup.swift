// SPDX-License-Identifier: Apache-2.0

package import ConfigurationFiles
import Foundation
import GatewayConfiguration
import GatewayStore
import Glibc
import Host
import Primitives

/// `herald backup`: copies the state of a gateway into a new folder, beside the running gateway.
///
/// Each database is copied as it is at one moment. The manifest is written last.
package struct StateBackup {
    private let state: String
    private let gateway: String

    /// - Parameter configuration: names the state folder.
    package init(_ configuration: HeraldConfiguration) {
        self.init(state: configuration.state, gateway: configuration.id)
    }

    init(state: String, gateway: String) { (self.state, self.gateway) = (state, gateway) }

    /// Writes the backup, and its folder with size to standard output.
    ///
    /// - Parameter folder: must not exist.
    /// - Throws: `CommandFailure` with the reason; a folder that was begun is removed.
    package func write(to folder: String, asJSON: Bool) throws {
        let manifest = try CommandFailure.reported { try write(to: folder) }
        if asJSON { return try Output.write(json: manifest) }
        let bytes = manifest.files.reduce(0) { $0 + $1.bytes }
        Output.write(
            """
            \(TerminalText.visible(folder)) written: \(manifest.files.count) files, \(Self.size(bytes))
            configuration and keys are not in it: copy /etc/herald too

            """)
    }

    /// Writes the backup.
    ///
    /// - Throws: `BackupProblem`, and the errors of a database.
    func write(to folder: String) throws -> BackupManifest {
        try InterruptedRestore.refuse(in: state)
        let files = StateFile.all(in: state)
        guard files.contains(where: { $0.database == .ledger }) else {
            throw BackupProblem(
                "there is no \(state)/\(StateDatabase.ledger.rawValue) that this user can see; start herald once, or run the "
                    + "command as its user: sudo -u herald")
        }
        guard mkdir(folder, 0o700) == 0 else {
            let code = errno
            let parent = (folder as NSString).deletingLastPathComponent
            let reason =
                code == EEXIST
                ? "it exists already; name a new folder"
                : """
                \(SystemError.text(code)); make the folder around it for the user of the gateway: \
                sudo install -d -m 700 -o herald -g herald \(parent.isEmpty ? "." : parent)
                """
            throw BackupProblem("the backup \(folder) cannot be made: \(reason)")
        }
        do {
            return try fill(folder, files)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    private func fill(_ folder: String, _ files: [StateFile]) throws -> BackupManifest {
        for file in files { try copy(file, to: folder) }
        let entries = try files.map { file throws(BackupProblem) in
            try BackupManifest.entry(file.path, in: folder)
        }
        let manifest = BackupManifest(
            herald: HeraldVersion.number, gateway: gateway, at: Int64(Date().timeIntervalSince1970), files: entries)
        let text = try Output.text(manifest) + "\n"
        do {
            // It syncs the folder too.
            try PrivateFile.write(Array(text.utf8), to: folder + "/" + BackupManifest.name)
        } catch {
            throw BackupProblem("the backup \(error.path) cannot be written: \(SystemError.text(error.code))")
        }
        return manifest
    }

    private func copy(_ file: StateFile, to folder: String) throws {
        let target = folder + "/" + file.path
        let parent = (target as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw BackupProblem("\(parent) cannot be made: \(SystemError.text(error) ?? "\(error)")")
        }
        if let database = file.database {
            let source = ((state + "/" + file.path) as NSString).deletingLastPathComponent
            return try database.copy(from: source, to: target)
        }
        let source = state + "/" + file.path
        guard let data = FileManager.default.contents(atPath: source) else {
            throw BackupProblem(
                "\(source) cannot be read: \(SystemError.ofReading(source)); run the command as the gateway's user: "
                    + "sudo -u herald")
        }
        do {
            try PrivateFile.write(Array(data), to: target)
        } catch {
            throw BackupProblem("the backup \(error.path) cannot be written: \(SystemError.text(error.code))")
        }
    }

    /// A size such as `12.3 MiB`.
    private static func size(_ bytes: Int) -> String {
        let tenths = (bytes * 10) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}
