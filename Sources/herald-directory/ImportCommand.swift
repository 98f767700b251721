// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import Directory
import Foundation

/// `herald-directory import`: brands from a CSV file.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Bring in brands from a CSV file.",
        discussion: """
            The header is number,brand_name,logo_url,call_reason,brand_id in any order; number and brand_name must be there.
            logo_url is a URL, or the plain name of a file in the folder of logos. Numbers that are known already are
            changed, others stay as they are. A file with a bad row changes nothing, unless --skip-invalid is given.

            Example:
              herald-directory import brands.csv --region AU
            """)

    @Argument(help: "The CSV file.")
    var file: String

    @OptionGroup var options: StateOptions

    @Option(help: ArgumentHelp("Region of numbers written nationally, such as AU.", valueName: "region"))
    var region: String?

    @Flag(help: "Import the good rows of a file with bad ones.")
    var skipInvalid = false

    func run() throws {
        let normaliser = NumberNormaliser(region: try validRegion())
        guard let data = FileManager.default.contents(atPath: file) else {
            throw CommandFailure("\(file) cannot be read")
        }
        let database = try options.open(creates: true)
        let result = try BrandImport(database) { normaliser.normalise(Array($0.utf8)) }
            .run([UInt8](data), skipsInvalid: skipInvalid, now: secondsNow())
        for problem in result.problems {
            FileHandle.standardError.write(Data("\(file): \(TerminalText.visible("\(problem)"))\n".utf8))
        }
        guard result.isWritten else {
            let count = result.problems.count
            throw CommandFailure(
                "\(count == 1 ? "1 line" : "\(count) lines") cannot be used and nothing was imported; mend the file, or give --skip-invalid"
            )
        }
        Output.write(
            "\(result.imported) imported, \(result.unchanged) unchanged, \(result.problems.count) rejected\n")
    }

    private func validRegion() throws -> Region? {
        guard let region else { return nil }
        guard let known = Region(region.uppercased()) else {
            throw ValidationError("--region takes two letters, such as AU or DE")
        }
        return known
    }
}
