// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import DirectoryStore
import Foundation

/// `herald-directory import`: brands from a file.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Bring in brands from a CSV file, or from JSON with one object a line.",
        discussion: """
            A CSV header is number,brand_name,logo_url,call_reason,brand_id in any order; number and brand_name must be
            there. Semicolons or tabs may stand in place of commas. A JSON object has the fields of a sync answer's entry. logo_url is a URL, or the plain name of a logo of
            this server. Numbers that are known already are changed, others stay as they are, unless --replace is given. A
            file with a bad row changes nothing, unless --skip-bad is given.

            Example:
              herald-directory import brands.csv --region AU --dry-run
            """)

    @Argument(help: "The file.")
    var file: String

    @OptionGroup var options: AccountOptions

    @Option(help: ArgumentHelp("Region of numbers written nationally, such as AU.", valueName: "region"))
    var region: String?

    @Flag(name: .customLong("skip-bad"), help: "Import the good rows of a file with bad ones.")
    var skipBad = false

    @Flag(name: .customLong("dry-run"), help: "Say what would be done, and do nothing.")
    var dryRun = false

    @Flag(help: "Take numbers that are not in the file out of use.")
    var replace = false

    func run() throws {
        let region = try validRegion()
        let normaliser = NumberNormaliser(region: region)
        let (database, account) = try options.open(creates: true)
        let logos = try options.state.logoPlace()
        var how = BrandImport.Options()
        (how.skipsInvalid, how.isTrial, how.replaces) = (skipBad, dryRun, replace)
        let result = try explained {
            try BrandImport(database, account: account, region: region.map { "\($0)" }, logos: logos) {
                normaliser.normalise(Array($0.utf8))
            }.run(path: file, how, now: secondsNow())
        }
        for problem in result.problems { tell("\(problem)") }
        for warning in result.warnings { tell("warning: \(warning)") }
        guard result.rejected == 0 || skipBad else {
            let count = result.rejected
            throw CommandFailure(
                "\(count == 1 ? "1 line" : "\(count) lines") cannot be used and nothing was imported; mend the file, or give --skip-bad"
            )
        }
        if result.isEmpty { throw CommandFailure("no line of the file can be used, so nothing was imported") }
        Output.write(
            (dryRun ? "nothing was done; it would be: " : "")
                + "\(result.imported) imported, \(result.unchanged) unchanged, \(result.rejected) rejected"
                + (replace ? ", \(result.deactivated) taken out of use\n" : "\n"))
    }

    private func tell(_ text: String) { Output.tell("\(file): \(text)") }

    private func validRegion() throws -> Region? {
        guard let region else { return nil }
        guard let known = Region(region.uppercased()) else {
            throw ValidationError("--region takes two letters, such as AU or DE")
        }
        return known
    }
}
