// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// The OpenAPI documents of the server, embedded in the program.
enum OpenAPIDocument {
    /// `GET /openapi.yaml`: the routes for clients.
    static var contract: Response { response(PackageResources.openapi_yaml) }

    /// `GET /openapi-admin.yaml`: the routes for the operator.
    static var admin: Response { response(PackageResources.openapi_admin_yaml) }

    private static func response(_ document: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/yaml", .cacheControl: "no-cache"],
            body: .init(byteBuffer: ByteBuffer(bytes: document)))
    }
}
