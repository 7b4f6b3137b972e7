/** The name of an engine among the processes on one store, by which others can tell whether it still lives. */
import { hostname } from 'node:os'

const PARTS = /^(?<host>.+)\/(?<pid>\d+)\/[^/]+$/

/** Unique, also among engines of one process. */
export function nameHolder(id: string): string {
  return `${hostname()}/${process.pid}/${id}`
}

/** True only if it ran on this machine and does so no more. Of what ran elsewhere nothing can be said. */
export function isGone(holder: string): boolean {
  const { host, pid } = PARTS.exec(holder)?.groups ?? {}
  return host === hostname() && !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    // Sends nothing.
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It may be another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
