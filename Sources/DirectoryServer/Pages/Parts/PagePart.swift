// SPDX-License-Identifier: Apache-2.0

/// The content of a page below its title.
///
/// Templates read stored properties by name and look further up when one is nil, so names differ between the types.
struct PageContent: Sendable {
    /// The account of the page; nil for pages of the whole directory.
    var account: String?
    var tabs: [PageLink] = []
    var parts: [PagePart]
    /// The path of the parts that update themselves.
    var live: String?
}

struct PageLink: Sendable {
    let href: String
    let linkText: String
    var isCurrent = false
}

/// One section of a page; its fields appear in the order of the declaration.
struct PagePart: Sendable {
    /// The `id` of an element that updates itself.
    var partID: String?
    var heading: String?
    var texts: [String] = []
    var notices: [PartNotice] = []
    var tileList: TileList?
    var picture: Picture?
    var phone: PhoneCard?
    /// A secret that this page shows once.
    var secret: String?
    var plot: DayPlot?
    var table: PageTable?
    var form: EntryForm?
    var meter: Meter?
    /// The page that a script opens by itself.
    var forward: Forward?
    var linkList: LinkList?

    /// How far a work is.
    struct Meter: Sendable {
        let meterText: String
        /// False while the share is not known.
        var hasShare = false
        /// Percent.
        var meterShare = 0
    }

    struct Forward: Sendable {
        let forwardPath: String
        let forwardText: String
    }

    struct LinkList: Sendable { let links: [PageLink] }
    struct TileList: Sendable { let tiles: [Tile] }

    struct PartNotice: Sendable {
        let noticeClass: String
        let noticeText: String

        static func warning(_ text: String) -> PartNotice { .init(noticeClass: "warning", noticeText: text) }
        static func error(_ text: String) -> PartNotice { .init(noticeClass: "error", noticeText: text) }
        static func done(_ text: String) -> PartNotice { .init(noticeClass: "done", noticeText: text) }
    }

    struct Tile: Sendable {
        let tileLabel: String
        let tileValue: String
        let tileDetail: String?
        /// True for a value that is no figure, in the size of text.
        let isText: Bool

        init(_ label: String, _ value: String, _ detail: String? = nil, isText: Bool = false) {
            (tileLabel, tileValue, tileDetail, self.isText) = (label, value, detail, isText)
        }
    }

    struct Picture: Sendable {
        let source: String
        let pictureText: String
    }

    static func links(_ links: PageLink...) -> PagePart { PagePart(linkList: LinkList(links: links)) }

    static func tiles(_ tiles: [Tile], heading: String? = nil) -> PagePart {
        PagePart(heading: heading, tileList: TileList(tiles: tiles))
    }
}

/// A table with a caption; on narrow screens each row becomes a block with the column's name at each cell.
struct PageTable: Sendable {
    let caption: String
    let columns: [Column]
    /// Narrow cells, so that a table of many columns fits on a screen.
    let isDense: Bool
    private(set) var rows: [Row] = []
    private(set) var hasRows = false
    /// Shown in place of rows.
    let emptyText: String

    struct Column: Sendable {
        let columnText: String
        let isNumeric: Bool
    }

    struct Row: Sendable { let cells: [Cell] }

    /// - Parameter columns: the names; one with a leading `#` has numbers.
    init(_ caption: String, _ columns: [String], empty: String) {
        self.caption = caption
        self.columns = columns.map {
            Column(columnText: $0.hasPrefix("#") ? String($0.dropFirst()) : $0, isNumeric: $0.hasPrefix("#"))
        }
        isDense = columns.count > 6
        emptyText = empty
    }

    mutating func add(_ cells: Cell...) { add(cells) }

    mutating func add(_ cells: [Cell]) {
        rows.append(
            Row(
                cells: zip(columns, cells).map { column, cell in
                    var cell = cell
                    (cell.cellLabel, cell.isNumeric) = (column.columnText, column.isNumeric)
                    return cell
                }))
        hasRows = true
    }

    struct Cell: Sendable {
        fileprivate(set) var cellLabel = ""
        fileprivate(set) var isNumeric = false
        var cellText: String?
        /// A time, which stays on one line.
        var cellTime: String?
        var cellLink: PageLink?
        var cellTag: Tag?
        var cellPicture: PagePart.Picture?
        var cellDetail: String?
        var cellForm: RowForm?
        var cellLinks: [PageLink] = []

        struct Tag: Sendable {
            let tagClass: String
            let tagText: String
        }

        static func text(_ text: String?, detail: String? = nil) -> Cell {
            Cell(cellText: text ?? "–", cellDetail: detail)
        }
        static func count(_ count: Int) -> Cell { Cell(cellText: Amount.count(count)) }
        static func link(_ text: String, _ href: String) -> Cell {
            Cell(cellLink: PageLink(href: href, linkText: text))
        }
        static func links(_ links: PageLink...) -> Cell { Cell(cellLinks: links) }
        static func tag(_ text: String, _ color: String) -> Cell {
            Cell(cellTag: Tag(tagClass: color, tagText: text))
        }
    }

    /// A button of a row.
    struct RowForm: Sendable {
        let rowAction: String
        let rowFields: [RowField]
        let rowButton: String

        struct RowField: Sendable {
            let rowName: String
            let rowValue: String
        }

        init(_ action: String, _ fields: [String: String], button: String) {
            rowAction = action
            rowFields = fields.sorted { $0.key < $1.key }.map { RowField(rowName: $0.key, rowValue: $0.value) }
            rowButton = button
        }
    }
}
