// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DirectoryStore
import Foundation
import Host

/// `herald-directory export`: all active and held numbers, as a file for `import`.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all active and held numbers as CSV, or as JSON lines.",
        discussion: """
            In CSV, text that a spreadsheet might evaluate as a formula has an apostrophe in front; import removes it.

            Example:
              herald-directory export > brands.csv
              herald-directory export --format jsonl --account acme > acme.jsonl
            """)

    @Option(help: ArgumentHelp("csv or jsonl.", valueName: "format"))
    var format = BrandExport.Format.csv

    @OptionGroup var options: AccountOptions

    func run() async throws {
        let (database, account) = try options.open()
        var export = try BrandExport(database, account: account, format: format)
        while let piece = try await export.next() { Output.write(piece) }
    }
}

extension BrandExport.Format: ExpressibleByArgument {}
