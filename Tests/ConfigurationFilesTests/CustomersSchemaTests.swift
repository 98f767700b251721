// SPDX-License-Identifier: Apache-2.0

import ConfigurationFiles
import TestFixtures
import Testing

@Suite("herald.yaml: customers")
struct CustomersSchemaTests {
    private let folder = TemporaryFolder()
    private let usual = """
        directory: {url: "https://one.example", api_key_file: api-key, sync_interval: 10s, signing: {id: a, secret_env: S}}

        """

    @Test func `a customer has the values of the section directory, but its own key and signing`() throws {
        let configuration = try folder.load(
            smallest + usual + """
                customers:
                  - {name: acme, directory: {api_key_env: ACME}, subscribers: [{name: sales, members: [1001, 1002]}]}
                  - {name: beta, directory: {url: "https://two.example", api_key_file: api-key}}
                  - {name: gamma, directory: {api_key_env: ACME}}
                routes:
                  table: [{numbers: +4930*, pbx: pbx1, customer: beta}]
                """, environment: ["ACME": "key-of-acme", "S": "secret"])
        let customers = configuration.customers
        #expect(customers.map(\.name) == ["acme", "beta", "gamma"])
        #expect(customers[0].directory.url == "https://one.example")
        #expect(customers[0].directory.key.reveal() == "key-of-acme")
        #expect(customers[0].directory.syncInterval == .seconds(10) && customers[0].directory.signing == nil)
        #expect(customers[1].directory.syncInterval == nil)
        #expect(customers[0].subscribers == ["1001": "sales", "1002": "sales"])
        #expect(customers[0].directory == customers[2].directory, "they share one account")
        #expect(configuration.routes.table[0].customer == 1)
        #expect(configuration.remarks.filter { $0.contains("has no route") }.count == 2)
    }

    @Test func `lookups and debug uploads are those of the section directory, or the own ones of the customer`() throws
    {
        let configuration = try folder.load(
            smallest + """
                directory: {url: "https://one.example", api_key_file: api-key, debug_upload: true, lookup: {enabled: true}}
                customers:
                  - {name: acme, directory: {api_key_file: api-key}}
                  - {name: beta, directory: {api_key_file: api-key, debug_upload: false, lookup: {enabled: false}}}
                  - {name: gamma, directory: {url: "https://two.example", api_key_file: api-key}}
                  - {name: delta, directory: {url: "https://two.example", api_key_file: api-key,
                     lookup: {enabled: true, per_minute: 7}}}
                """)
        #expect(configuration.customers.map(\.directory.lookup?.perMinute) == [30, nil, nil, 7])
        #expect(configuration.customers.map(\.directory.allowsDebugUpload) == [true, false, false, false])
    }

    @Test func `a customer has copies of its logos from its own hosts, also without the section directory`() throws {
        let configuration = try folder.load(
            smallest + """
                logos: {listen: 192.0.2.10:9480}
                customers:
                  - {name: acme, directory: {url: "https://one.example", api_key_file: api-key}, logos: {}}
                  - {name: beta, directory: {url: "https://two.example", api_key_file: api-key}, logos: {hosts: [L.example]}}
                  - {name: gamma, directory: {url: "https://two.example", api_key_file: api-key}}
                """)
        #expect(
            configuration.customers.map(\.logoHosts) == [
                ["one.example", "assets.securenode.io"], ["l.example"], nil,
            ])
    }

    @Test func `a customer's key that travels unencrypted is a remark, as that of the gateway is`() throws {
        func remarks(_ text: String) throws -> [String] {
            try folder.load(smallest + text).remarks.filter { $0.contains("travels unencrypted") }
        }
        let customer = "customers: [{name: acme, directory: {url: 'http://two.example', api_key_file: api-key}}]"
        #expect(try remarks(customer) == ["directory.url of customer acme is http: the key travels unencrypted"])
        #expect(try remarks(customer.replacing("http:", with: "https:")).isEmpty)
        let shared =
            "directory: {url: 'http://one.example', api_key_file: api-key}\n"
            + "customers: [{name: acme, directory: {api_key_file: api-key}}]"
        #expect(try remarks(shared) == ["directory.url is http: the key travels unencrypted"])
    }

    @Test(arguments: [
        ("customers: [{directory: {api_key_file: api-key}}]", "name: is missing"),
        ("customers: [{name: a}]", "directory: is missing"),
        ("customers: [{name: a, directory: {api_key_file: absent}}]", "cannot be read"),
        ("customers: [{name: a b, directory: {api_key_file: api-key}}]", "name: must be"),
        // It is a part of the path of its logos (RFC 3986 §5.2.4).
        ("customers: [{name: .., directory: {api_key_file: api-key}}]", "name: must be"),
        ("customers: [{name: a, directory: {api_key_file: api-key}, logos: {}}]", "logos: needs the section logos"),
        ("routes: {table: [{numbers: +4930*, pbx: pbx1, customer: a}]}", "no entry is named \"a\""),
        (
            "customers: [{name: a, directory: {api_key_file: api-key}}]\nroutes: {table: [{numbers: +4930*, customer: a}]}",
            "pbx: is missing"
        ),
    ])
    func `a customer that cannot be right is a problem with its place`(text: String, expected: String) throws {
        let found = try folder.problems(
            in: smallest + usual.replacing("secret_env: S", with: "secret_file: api-key") + text)
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test func `without the section directory a customer needs a URL`() throws {
        let found = try folder.problems(in: smallest + "customers: [{name: a, directory: {api_key_file: api-key}}]")
        #expect(found.first?.contains("url: is missing") == true, "\(found)")
    }
}
