// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// The descriptions of everything this server answers, which are part of the program.
enum OpenAPIDocument {
    /// `GET /openapi.yaml`: what clients use.
    static var contract: Response { response(PackageResources.openapi_yaml) }

    /// `GET /openapi-admin.yaml`: what the operator uses.
    static var admin: Response { response(PackageResources.openapi_admin_yaml) }

    private static func response(_ document: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/yaml", .cacheControl: "no-cache"],
            body: .init(byteBuffer: ByteBuffer(bytes: document)))
    }
}
