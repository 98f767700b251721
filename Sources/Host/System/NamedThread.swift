// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch

/// The name of a thread, as `top -H` and `ps -L` show it.
public enum NamedThread {
    /// Names the calling thread, which must not go back to a pool.
    ///
    /// - Parameter name: at most 15 bytes.
    public static func begin(_ name: String) { herald_name_thread(name) }

    /// Runs blocking work on a thread of its own, so that it blocks none of the threads of the task pool.
    ///
    /// - Parameters:
    ///   - queue: the name of the Dispatch queue.
    ///   - stop: called when the task is cancelled, to end the work; any thread.
    public static func run(
        _ name: String, queue: String, _ work: @escaping @Sendable () -> Void, onCancel stop: @Sendable () -> Void
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                DispatchQueue(label: queue).async {
                    begin(name)
                    work()
                    done.resume()
                }
            }
        } onCancel: {
            stop()
        }
    }
}
