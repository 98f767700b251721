// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import Hummingbird
import Logging
import WebPages

/// The operator's pages: the commands and the API, for people.
///
/// Pages call the same functions of the store as the API, so both have the same rules.
struct DirectoryPages: Sendable {
    let database: DirectoryDatabase
    let options: DirectoryServer.Options
    let logos: ServedLogos
    let wrong: WrongKeys
    let logger: Logger

    func site() throws -> PageSite {
        let desk = PageDesk(database: database, now: options.now, zone: options.zone, logger: logger)
        let access = PagesAccess(
            database: database, keys: AdminKeys(database), wrong: wrong, now: options.now, pause: options.pause,
            logger: logger)
        let (folder, publicURL) = (options.logos, options.publicURL)
        let place = LogoCheck.place(logos: folder, publicURL: publicURL)
        // Pictures of the page of logos and of the forms of brands.
        let pictures = PendingFiles<NewPicture>(now: options.now)
        let pages =
            StatusPages(desk: desk, logos: folder, publicURL: publicURL).pages
            + AccountPages(desk: desk).pages
            + BrandPages(desk: desk, place: place, logos: logos, pending: pictures, intake: LogoIntake()).pages
            + NumberPages(desk: desk).pages
            + ImportPages(
                desk: desk, place: place, pending: PendingFiles(now: options.now), patience: options.importPatience
            ).pages
            + KeyPages(desk: desk).pages + DevicePages(desk: desk).pages + EventPages(desk: desk).pages
            + DebugPages(desk: desk).pages
            + LogoPages(desk: desk, logos: logos, folder: folder, pending: pictures, intake: LogoIntake()).pages
            + ReportPages(desk: desk).pages
        return PageSite(
            name: "Herald directory", version: options.version, templates: try PageTemplates(Self.templates),
            access: access.access(isSecure: options.pages == .secure), pages: pages, masksNumbers: true,
            loginNotice: { await access.notice() },
            loginHelp: LoginHelp(
                "Admin keys are made with this command on the machine of the directory. Choose any NAME. The key is shown once.",
                command: options.keyCommand),
            ticket: access.ticket, limitsLogins: false, logger: logger)
    }

    private static let templates: [String: [UInt8]] = [
        "content": PackageResources.content_mustache, "part": PackageResources.part_mustache,
        "partbody": PackageResources.partbody_mustache, "table": PackageResources.table_mustache,
        "cell": PackageResources.cell_mustache, "form": PackageResources.form_mustache,
        "field": PackageResources.field_mustache, "fieldstate": PackageResources.fieldstate_mustache,
        "fieldnotes": PackageResources.fieldnotes_mustache, "plot": PackageResources.plot_mustache,
    ]
}
