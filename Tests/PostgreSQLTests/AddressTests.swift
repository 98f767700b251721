// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import Testing

/// URLs as in "Connection URIs" of PostgreSQL's manual, chapter 34.1.1.
@Suite("PostgreSQL addresses")
struct AddressTests {
    @Test(arguments: [
        ("postgres://herald@db.example.com/herald", "db.example.com/herald"),
        ("postgresql://db1:5432,db2:5433/herald?target_session_attrs=read-write", "db1:5432,db2:5433/herald"),
        ("postgres://herald@/herald?host=/run/postgresql", "/run/postgresql/herald"),
        ("postgres:///herald", "the local socket/herald"),
        ("postgres://[2001:db8::1]:5432/herald", "[2001:db8::1]:5432/herald"),
    ])
    func `a URL of libpq is read, and shown without user and options`(_ url: String, _ shown: String) throws {
        #expect(try PostgreSQLAddress(url, password: "secret").description == shown)
    }

    @Test(arguments: [
        "postgres://herald:secret@db/herald", "postgres://db/herald?password=secret",
        "postgresql://herald:secret@db1,db2/herald", "postgres://herald:x/secret@db/herald",
        "postgres://herald:x?secret@db/herald",
    ])
    func `a URL with a password is refused, and the error does not repeat it`(_ url: String) throws {
        let problem = #expect(throws: PostgreSQLAddress.Problem.self) { () throws in try PostgreSQLAddress(url) }
        #expect(problem?.description.contains("password file") == true)
        #expect(problem?.description.contains("secret") == false)
    }

    @Test(arguments: [
        ("mysql://db/herald", "begins with postgres://"), ("postgres://db", "names no database"),
        ("postgres://db/herald?sslmod=require", "sslmod"),
    ])
    func `an address that libpq cannot use is refused with the reason`(_ url: String, _ reason: String) throws {
        let problem = #expect(throws: PostgreSQLAddress.Problem.self) { () throws in try PostgreSQLAddress(url) }
        #expect(problem?.description.contains(reason) == true)
    }

    @Test func `a port, an IPv6 host or a parameter with an @ is no password`() throws {
        for url in [
            "postgres://herald@[2001:db8::1]:5432/herald", "postgres://db:5432/herald?application_name=b@c",
        ] {
            #expect(throws: Never.self) { () throws in try PostgreSQLAddress(url) }
        }
    }

    @Test func `an address shows whether it is local and whether it requires TLS`() throws {
        #expect(try PostgreSQLAddress("postgres:///herald").isLocal)
        #expect(try PostgreSQLAddress("postgres://127.0.0.1,localhost/herald").isLocal)
        #expect(try !PostgreSQLAddress("postgres://localhost,db/herald").isLocal)
        #expect(try PostgreSQLAddress("postgres://db/herald?sslmode=verify-full").requiresTLS)
        #expect(try !PostgreSQLAddress("postgres://db/herald?sslmode=prefer").requiresTLS)
    }
}
