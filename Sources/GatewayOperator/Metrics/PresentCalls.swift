// SPDX-License-Identifier: Apache-2.0

package import CallPath
package import GatewayStore

/// The calls in progress: those whose INVITE came to this process, and those of an earlier run that are open in the ledger.
///
/// A restart empties the table of the call path, while its calls go on. Any thread; never on the call path.
package struct PresentCalls: Sendable {
    private let calls: CallsInProgress
    private let inherited: @Sendable () -> Int

    /// - Parameter inherited: the open calls that `calls` does not know.
    package init(_ calls: CallsInProgress, inherited: @escaping @Sendable () -> Int) {
        (self.calls, self.inherited) = (calls, inherited)
    }

    package init(_ calls: CallsInProgress, _ recorder: OutcomeRecorder) {
        self.init(calls) { recorder.totals.inheritedCalls }
    }

    /// The number of calls.
    package var count: Int { calls.count + inherited() }
}
