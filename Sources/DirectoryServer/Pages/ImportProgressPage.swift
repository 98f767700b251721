// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import WebPages

/// The page of an import that is still at work; it updates itself and leads to the result.
struct ImportProgressPage: Sendable {
    let request: OperatorRequest
    let account: OperatorRequest.Account
    let id: String
    let work: ImportWork

    private var path: String { account.path + "/import/" + id }

    func page() -> PageResult {
        var rest = PagePart(texts: ["You may leave this page. The work goes on."])
        if case .reading = work.stage {
            rest.form = EntryForm(path + "/cancel", [], button: "Cancel the import", isQuiet: true)
        }
        return request.result(
            "Import", of: account, tab: "/import", parts: [Self.part(work, path: path), rest], live: path + "/progress")
    }

    /// The part of the page that is sent again.
    static func live(_ work: ImportWork, path: String) -> LiveParts {
        LiveParts(every: .milliseconds(500)) {
            let part = part(work, path: path)
            return [.init(id: part.partID ?? "", template: "partbody", values: part)]
        }
    }

    private static func part(_ work: ImportWork, path: String) -> PagePart {
        var part = PagePart(partID: "progress")
        let stage = work.stage
        guard let progress = stage.progress else {
            part.forward = .init(forwardPath: path, forwardText: "Show the result")
            return part
        }
        part.meter = meter(progress)
        if case .importing = stage { part.heading = "Importing the changes" } else { part.heading = "Reading the file" }
        part.linkList = .init(links: [PageLink(href: path, linkText: "Look again")])
        return part
    }

    private static func meter(_ progress: BrandImport.Progress?) -> PagePart.Meter {
        switch progress {
        case .reading(let read, let size) where size > 0:
            let share = min(100, read * 100 / size)
            return .init(
                meterText: "\(share) %, \(Amount.bytes(Int64(read))) of \(Amount.bytes(Int64(size)))",
                hasShare: true, meterShare: share)
        case .merging: return .init(meterText: "All lines are read. They are being compared with the account.")
        case .reading, nil: return .init(meterText: "The first lines are being read.")
        }
    }
}
