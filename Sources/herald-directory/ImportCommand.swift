// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Branding
import DirectoryStore
import Foundation
import Host

/// `herald-directory import`: imports brands from a file.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import brands from a CSV file, or from JSON with one object per line.",
        discussion: """
            A CSV header is number,brand_name,logo_url,call_reason,brand_id in any order; number and brand_name are
            required. Semicolons or tabs may replace the commas. A JSON object has the fields of an entry of a sync
            response. logo_url is a URL, or the plain name of a logo of this server. Known numbers are updated. Numbers
            that are missing from the file stay active, unless --replace is given. A file with an invalid row changes
            nothing, unless --skip-bad is given.

            Example:
              herald-directory import brands.csv --region AU --dry-run
            """)

    @Argument(help: "The file.")
    var file: String

    @OptionGroup var options: AccountOptions

    @Option(help: ArgumentHelp("Region of numbers in national format, such as AU.", valueName: "region"))
    var region: String?

    @Flag(name: .customLong("skip-bad"), help: "Skip invalid rows and import the others.")
    var skipBad = false

    @Flag(name: .customLong("dry-run"), help: "Report the result without writing.")
    var dryRun = false

    @Flag(help: "Remove numbers that are missing from the file.")
    var replace = false

    func run() throws {
        // The server beside this command goes first.
        OwnThread.lower(to: 10)
        let region = try validRegion()
        let normaliser = NumberNormaliser(region: region)
        let (database, account) = try options.open(creates: true)
        let logos = try options.state.logoPlace()
        var how = BrandImport.Options()
        (how.skipsInvalid, how.isTrial, how.replaces) = (skipBad, dryRun, replace)
        let progress = ProgressLine.standard
        defer { progress.end() }
        let result = try reportingRefusals {
            try BrandImport(
                database, account: account, region: region.map { "\($0)" }, logos: logos,
                onProgress: { Self.show($0, on: progress) }
            ) {
                normaliser.normalise(Array($0.utf8))
            }.run(path: file, how, now: secondsNow())
        }
        progress.end()
        for problem in result.problems { warn("\(problem)") }
        for warning in result.warnings { warn("warning: \(warning)") }
        guard result.rejected == 0 || skipBad else {
            let count = result.rejected
            throw CommandFailure(
                "\(count == 1 ? "1 line is" : "\(count) lines are") invalid, so nothing was imported; "
                    + "correct the file, or give --skip-bad"
            )
        }
        if result.isEmpty { throw CommandFailure("all lines of the file are invalid, so nothing was imported") }
        Output.write(
            (dryRun ? "dry run, nothing was written: " : "")
                + "\(result.imported) imported, \(result.unchanged) unchanged, \(result.rejected) rejected"
                + (replace ? ", \(result.deactivated) removed\n" : "\n"))
    }

    private static func show(_ state: BrandImport.Progress, on line: ProgressLine) {
        switch state {
        case .reading(let done, let all): line.show("importing", done: done / 1024, of: all / 1024, unit: "KiB")
        case .merging: line.show("importing: writing the changes")
        }
    }

    private func warn(_ text: String) { Output.warn("\(file): \(text)") }

    private func validRegion() throws -> Region? {
        guard let region else { return nil }
        guard let known = Region(region.uppercased()) else {
            throw ValidationError("--region takes two letters, such as AU or DE")
        }
        return known
    }
}
