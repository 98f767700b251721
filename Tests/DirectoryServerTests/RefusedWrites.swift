// SPDX-License-Identifier: Apache-2.0

@testable import DirectoryStore

extension DirectoryDatabase {
    /// Lets changes of a table fail, as on a full disk.
    ///
    /// - Parameters:
    ///   - deed: `INSERT` or `UPDATE`.
    ///   - condition: SQL over `NEW`; every row without it.
    func refuse(_ deed: String, on table: String, when condition: String = "TRUE") throws {
        let name = "\(table)_\(deed)"
        let statements =
            switch pool.dialect {
            case .sqlite:
                [
                    """
                    CREATE TRIGGER \(name) BEFORE \(deed) ON \(table) WHEN \(condition)
                    BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """
                ]
            case .postgreSQL:
                [
                    """
                    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger
                    AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$ LANGUAGE plpgsql
                    """,
                    """
                    CREATE TRIGGER \(name) BEFORE \(deed) ON \(table) FOR EACH ROW WHEN (\(condition))
                    EXECUTE FUNCTION refuse()
                    """,
                ]
            }
        try pool.write { database in for statement in statements { try database.execute(statement) } }
    }

    /// Ends `refuse`.
    func allow(_ deed: String, on table: String) throws {
        let ending = pool.dialect == .sqlite ? "" : "ON \(table)"
        try pool.write { try $0.execute("DROP TRIGGER \(table)_\(deed) \(ending)") }
    }
}
