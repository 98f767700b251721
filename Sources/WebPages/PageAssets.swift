// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore

/// The style sheet and the script of every site.
enum PageAssets {
    static func add<Context: RequestContext>(to router: Router<Context>) {
        router.get("/assets/style.css") { _, _ in
            response(PackageResources.style_css, "text/css; charset=utf-8")
        }
        router.get("/assets/live.js") { _, _ in
            response(PackageResources.live_js, "text/javascript; charset=utf-8")
        }
    }

    private static func response(_ bytes: [UInt8], _ type: String) -> Response {
        var headers = PageHeaders.safe
        headers[.contentType] = type
        // Short, so that a page of a new version is not shown with the style of the old one.
        headers[.cacheControl] = "max-age=60"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
